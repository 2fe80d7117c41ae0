"""The input of all contenders: a row's graph, weights and samples, as files in a folder.

The files of `benchmarks.train.material`, ``network.onnx``, and ``images.npy``, the samples.
"""

import numpy as np

import mxcy as mx
from benchmarks.infer.networks import make
from benchmarks.infer.rows import ROWS, inputs
from benchmarks.train import material
from benchmarks.train.material import multiplications, write_network

__all__ = ["Material"]


class Material(material.Material):
    """A row's files; see the base class."""

    rows = ROWS

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

    def write(self, folder):
        """Write all files but the version's."""
        row, samples = self.row, inputs(self.row)
        states = [np.zeros((layers, 1, units), "float32") for layers, units in row.states]
        names = ["data", *(f"state{number}" for number in range(len(states)))]
        arrays = [mx.nd.array(array) for array in (samples[:1], *states)]
        symbol, weights = write_network(make(row), arrays, names, folder)
        np.save(folder / "images.npy", samples)
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
