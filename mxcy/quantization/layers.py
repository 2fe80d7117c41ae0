"""The quantizable layers of a fused symbol and their float parameters."""

import math

import numpy as np

from mxcy.graph.control import body_graph
from mxcy.graph.fused.records import BODY, roles_of
from mxcy.graph.node import output_name, topological

__all__ = ["Layer", "layers_of"]


class Layer:
    """A fused layer whose parameters may be modified because nothing else reads them.

    Attributes
    ----------
    node : SymbolNode
    source : (SymbolNode, int)
        The entry of its data.
    other : (SymbolNode, int) or None
        The entry that is added to its result.
    attrs : Attrs
        Attributes of the convolution or dense layer.
    norm : Attrs or None
        Attributes of the batch normalization after it.
    act, limit : str, float
        The activation at the end, and its upper limit (0: none).
    """

    def __init__(self, node, values):
        graph = body_graph(getattr(node.parsed, BODY))
        roles = roles_of(getattr(node.parsed, BODY))
        inputs = dict(zip(roles, node.inputs, strict=False))
        operators = [inner for inner in graph.nodes if inner.op is not None]
        self.node, self._values = node, values
        self.source, self.other = inputs["data"], inputs.get("other")
        self.names = {role: entry[0].name for role, entry in inputs.items() if role in _PARAMETERS}
        self.attrs = operators[0].attrs
        self.is_dense = operators[0].op.layer.kind == "dense"
        self.norm = next((inner.attrs for inner in operators if inner.op.aux), None)
        self.act, self.limit = _activation(operators[-1])

    @property
    def name(self):
        """str: The name of its output."""
        return output_name(self.node, 0)

    @property
    def groups(self):
        """int: Number of groups of a grouped convolution."""
        return 1 if self.is_dense else self.attrs.num_group

    def read(self, role):
        """Return a parameter as float32."""
        return self._values[self.names[role]].asnumpy().astype(np.float32)

    def write(self, role, values):
        """Replace a parameter by a new array."""
        name = self.names[role]
        array = self._values[name].copy()
        array[:] = values
        self._values[name] = array

    def rows(self):
        """Return the weight as (groups, filters of a group, depth)."""
        weight = self.read("weight")
        return weight.reshape(self.groups, len(weight) // self.groups, -1)

    def write_rows(self, rows):
        """Replace the weight; `rows` has the shape of `rows()`."""
        self.write("weight", rows.reshape(self._values[self.names["weight"]].shape))

    def scalable(self):
        """Return whether its output channels can be scaled."""
        return self.norm is None or not self.norm.fix_gamma

    def scale_outputs(self, factors):
        """Multiply the output channels."""
        if self.norm is not None:
            roles = ("gamma", "beta")
        else:
            roles = tuple(role for role in ("weight", "bias") if role in self.names)
        for role in roles:
            values = self.read(role)
            self.write(role, values * factors.reshape(-1, *[1] * (values.ndim - 1)))

    def divide_inputs(self, factors):
        """Divide the weights by factors of the data's channels."""
        self.write_rows(self.rows() / self.spread(factors))

    def taps(self, count):
        """Return an ungrouped layer's weight for `count` channels: (filters, channels, taps)."""
        weight = self.read("weight").astype(np.float64)
        return weight.reshape(len(weight), count, -1)

    def mix_outputs(self, matrix):
        """Multiply the output channels of an ungrouped layer by a matrix."""
        inner = matrix
        if self.norm is not None:
            deviation = np.sqrt(self.read("moving_var").astype(np.float64) + self.norm.eps)
            inner = matrix * (self.read("gamma") / deviation)
            self.write("beta", matrix @ self.read("beta"))
            self.write("moving_mean", inner @ self.read("moving_mean"))
            self.write("gamma", deviation)
        self.write("weight", np.tensordot(inner, self.read("weight"), 1))
        if "bias" in self.names:
            self.write("bias", inner @ self.read("bias"))

    def unmix_inputs(self, inverse):
        """Multiply the channels of an ungrouped layer's data by a matrix, before the weights."""
        taps = self.taps(len(inverse)).transpose(0, 2, 1) @ inverse
        self.write_rows(taps.transpose(0, 2, 1))

    def products_of(self, constants):
        """Return the result of each filter for data that are constant in each channel."""
        return (self.rows() * self.spread(constants)).sum(axis=-1).reshape(-1)

    def spread(self, values):
        """Repeat values of the data's channels for each weight, to the shape (groups, 1, depth)."""
        groups, _, depth = self.rows().shape
        return np.repeat(values, groups * depth // len(values)).reshape(groups, 1, depth)

    def channels(self):
        """Return the number of input channels, of a dense layer all its input values."""
        groups, _, depth = self.rows().shape
        return groups * depth // (1 if self.is_dense else math.prod(self.attrs.kernel))

    def shifts(self):
        """Return whether it has a bias or normalization that can absorb constants."""
        return self.norm is not None or "bias" in self.names

    def shift_outputs(self, amounts):
        """Add constants to the output channels before the activation."""
        role = "beta" if self.norm is not None else "bias"
        self.write(role, self.read(role) + amounts)

    def shift(self, amounts):
        """Add constants to the results of the filters, before normalization."""
        if "bias" in self.names:
            self.write("bias", self.read("bias") + amounts)
        else:
            self.write("moving_mean", self.read("moving_mean") - amounts)


_PARAMETERS = ("weight", "bias", "gamma", "beta", "moving_mean", "moving_var")


def _activation(last):
    """Return (activation, limit) of a layer's last operator."""
    if last.op.epilogue is None:  # the layer, its normalisation or a sum
        return "none", 0.0
    form = last.op.epilogue(last.attrs)
    if form is None:
        return "other", 0.0
    act, low, high = form
    if act == "clip":
        return (act, high) if low == 0 < high else ("other", 0.0)
    return (act, 0.0) if act in ("none", "relu") else ("other", 0.0)


def layers_of(sym, quantized, values):
    """Find the quantized layers whose parameters may be modified.

    Parameters
    ----------
    sym : Symbol
        With fused nodes.
    quantized : set of str
        Names of the nodes that are quantized.
    values : dict of str to NDArray
        Parameters by name; methods of the layers replace them.

    Returns
    -------
    dict of int to Layer
        Layers by node id.
    """
    order = topological(sym._entries)
    readers = {}
    for node in order:
        for source, _ in node.inputs:
            readers[id(source)] = readers.get(id(source), 0) + 1
    layers = {}
    for node in order:
        if node.op is None or node.name not in quantized or BODY not in node.attrs:
            continue
        layer = Layer(node, values)
        own = [source for source, _ in node.inputs if source.name in layer.names.values()]
        alone = all(readers[id(source)] == 1 and source.name in values for source in own)
        if alone and all(values[n].dtype == np.float32 for n in layer.names.values()):
            layers[id(node)] = layer
    return layers
