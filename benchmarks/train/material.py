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

__all__ = ["Material", "multiplications", "write_network"]

VERSION = "1"


class Material:
    """A row's files; a subclass has other `rows` and writes other files.

    Parameters
    ----------
    name : str
        Name of the row.
    folder : str or Path
        Parent of the row's folder, which is created if missing or out of date.
    """

    rows = ROWS

    def __init__(self, name, folder):
        self.name, self.row = name, self.rows[name]
        self.folder = Path(folder, name)
        stamp = self.folder / "version"
        if not stamp.exists() or stamp.read_text() != VERSION + repr(self.row):
            self._make()

    def _make(self):
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=self.folder.parent))
        self.write(draft)
        (draft / "version").write_text(VERSION + repr(self.row))
        shutil.rmtree(self.folder, ignore_errors=True)
        draft.rename(self.folder)

    def write(self, folder):
        """Write all files but the version's."""
        net = make(mx, self.row)
        if net is not None:
            net.cast(self.row.dtype)
            data, _ = next(iter(self.row.batches()))
            write_network(net, [mx.nd.array(data[:2], dtype=self.row.dtype)], ["data"], folder)

    def gflop(self):
        """GFLOP of a step's dense, recurrent and convolution layers.

        A step computes each of them three times: forward, and both gradients.
        """
        if self.row.network == "chain":
            return 0.0
        shapes = {"data": (self.row.batch, *self.row.shape)}
        return 3 * 2 * multiplications(self.folder, shapes) / 1e9


def write_network(net, arrays, names, folder):
    """Initialize a network and write its symbol, weights and names.

    Parameters
    ----------
    net : HybridBlock
    arrays : list of NDArray
        Inputs.
    names : list of str
        The inputs' names in the graph.
    folder : Path

    Returns
    -------
    symbol : Symbol
    weights : dict of str to NDArray
        Parameters by their names in the graph.
    """
    mx.random.seed(1)
    net.initialize(mx.init.Xavier(magnitude=2))
    net(*arrays)  # infer the layers' shapes
    outputs = net(*map(mx.sym.var, names))
    symbol = outputs if isinstance(outputs, mx.sym.Symbol) else mx.sym.Group(list(outputs))
    symbol.save(str(folder / "symbol.json"))
    parameters = net._collect_params_with_prefix()
    names = {name: parameter.name for name, parameter in parameters.items()}
    (folder / "names.json").write_text(json.dumps(names))
    weights = {parameter.name: parameter.data() for parameter in parameters.values()}
    np.savez(folder / "weights.npz", **{name: w.asnumpy() for name, w in weights.items()})
    return symbol, weights


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
