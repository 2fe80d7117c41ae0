"""The input of all contenders: a row's graph and initial weights, as files in a folder.

``symbol.json`` ends with the scores, ``weights.npz`` has parameters by their names in the graph,
and ``names.json`` maps parameter names of blocks to those of the graph.
"""

import json
import math
import shutil
import tempfile
from pathlib import Path

import numpy as np

import mxcy as mx
from benchmarks.score.graph import read_graph
from benchmarks.train.networks import make
from benchmarks.train.rows import ROWS

__all__ = ["Material", "multiplications"]

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

    def _make(self):
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=self.folder.parent))
        net = make(mx, self.row)
        if net is not None:
            _write(net, self.row, draft)
        (draft / "version").write_text(VERSION + repr(self.row))
        shutil.rmtree(self.folder, ignore_errors=True)
        draft.rename(self.folder)

    def gflop(self):
        """GFLOP of a step's dense, recurrent and convolution layers.

        A step computes each of them three times: forward, and both gradients.
        """
        if self.row.network == "chain":
            return 0.0
        shapes = {"data": (self.row.batch, *self.row.shape)}
        return 3 * 2 * multiplications(self.folder, shapes) / 1e9


def _write(net, row, folder):
    mx.random.seed(1)
    net.initialize(mx.init.Xavier(magnitude=2))
    data, _ = next(iter(row.batches()))
    net(mx.nd.array(data[:2]))  # infer the layers' shapes
    symbol = net(mx.sym.var("data"))
    symbol.save(str(folder / "symbol.json"))
    parameters = net._collect_params_with_prefix()
    names = {name: parameter.name for name, parameter in parameters.items()}
    (folder / "names.json").write_text(json.dumps(names))
    values = {parameter.name: parameter.data().asnumpy() for parameter in parameters.values()}
    np.savez(folder / "weights.npz", **values)


def multiplications(folder, shapes):
    """Count the multiplications of a forward pass in dense, recurrent and convolution layers.

    Parameters
    ----------
    folder : str or Path
        Holds ``symbol.json``.
    shapes : dict of str to tuple
        Shapes of the inputs.

    Returns
    -------
    int
    """
    internals = mx.sym.load(str(Path(folder, "symbol.json"))).get_internals()
    _, outputs, _ = internals.infer_shape(**shapes)
    outputs = dict(zip(internals.list_outputs(), outputs, strict=True))
    nodes = read_graph(folder)
    return sum(_products(node, nodes, outputs) for node in nodes)


def _products(node, nodes, shapes):
    """Count a node's multiplications in the forward pass."""
    inputs = [_shape(nodes[position], shapes) for position in node.inputs]
    if node.op in ("Convolution", "FullyConnected"):
        return math.prod(inputs[1][1:]) * math.prod(_shape(node, shapes))
    if node.op == "RNN":
        return math.prod(inputs[1]) * math.prod(inputs[0][:2])
    if node.op == "_contrib_interleaved_matmul_selfatt_qk":
        scores, (*_, width) = _shape(node, shapes), inputs[0]
        return (
            2 * math.prod(scores) * width // 3 // node.get("heads")
        )  # and the product with the values
    return 0


def _shape(node, shapes):
    """Return the shape of a node's first output."""
    names = (node.name, f"{node.name}_output", f"{node.name}_output0")
    return next(shapes[name] for name in names if name in shapes)
