"""The input of all contenders: a row's graph, weights and samples, as files in a folder.

``symbol.json``, ``network.onnx``, ``weights.npz`` (parameters by their names in the graph),
``names.json`` (names of blocks' parameters to those of the graph) and ``images.npy`` (samples).
"""

import json
import shutil
import tempfile
from pathlib import Path

import numpy as np

import mxcy as mx
from benchmarks.infer.networks import make
from benchmarks.infer.rows import ROWS, inputs
from benchmarks.train.material import multiplications

__all__ = ["Material"]

VERSION = "1"


class Material:
    """A row's files.

    Parameters
    ----------
    name : str
        Name of the row.
    folder : str or Path
        Parent of the row's folder, which is created if missing or out of date.
    """

    def __init__(self, name, folder):
        self.name, self.row = name, ROWS[name]
        self.folder = Path(folder, name)
        stamp = self.folder / "version"
        if not stamp.exists() or stamp.read_text() != VERSION + repr(self.row):
            self._make()

    @property
    def images(self):
        """Path of the samples."""
        return self.folder / "images.npy"

    def gflop(self):
        """GFLOP of a sample's dense, recurrent and convolution layers, computed directly."""
        shapes = {"data": (1, *self.row.shape)}
        for number, (layers, units) in enumerate(self.row.states):
            shapes[f"state{number}"] = (layers, 1, units)
        return 2 * multiplications(self.folder, shapes) / 1e9

    def _make(self):
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=self.folder.parent))
        _write(self.row, draft)
        (draft / "version").write_text(VERSION + repr(self.row))
        shutil.rmtree(self.folder, ignore_errors=True)
        draft.rename(self.folder)


def _write(row, folder):
    mx.random.seed(1)
    net, samples = make(row), inputs(row)
    net.initialize(mx.init.Xavier(magnitude=2))
    states = [np.zeros((layers, 1, units), "float32") for layers, units in row.states]
    names = ["data", *(f"state{number}" for number in range(len(states)))]
    arrays = [mx.nd.array(array) for array in (samples[:1], *states)]
    net(*arrays)  # infer the layers' shapes
    symbol = net(*map(mx.sym.var, names))
    if states:
        symbol = mx.sym.Group(list(symbol))
    symbol.save(str(folder / "symbol.json"))
    np.save(folder / "images.npy", samples)
    parameters = net._collect_params_with_prefix()
    (folder / "names.json").write_text(
        json.dumps({name: parameter.name for name, parameter in parameters.items()})
    )
    weights = {parameter.name: parameter.data() for parameter in parameters.values()}
    np.savez(folder / "weights.npz", **{name: w.asnumpy() for name, w in weights.items()})
    mx.onnx.export_model(
        symbol,
        weights,
        [array.shape for array in arrays],
        [np.float32] * len(arrays),
        str(folder / "network.onnx"),
        dynamic=True,
        dynamic_input_shapes=[("N", *row.shape)]
        + [(layers, "N", units) for layers, units in row.states],
    )
