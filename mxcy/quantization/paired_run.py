"""Run a float network and its quantized version in parallel, node by node."""

import math
from collections import Counter
from dataclasses import dataclass

from mxcy import ndarray as nd
from mxcy.graph.node import SymbolNode, output_name, topological
from mxcy.symbol import Symbol

__all__ = ["QuantizedNodes", "run_both"]

#: elements of the largest array that is kept in memory, over all batches
_ELEMENTS = 1 << 26


@dataclass(frozen=True)
class QuantizedNodes:
    """Which nodes of a float network are quantized, and the ranges of their data.

    Attributes
    ----------
    names : set of str
        Names of the nodes.
    ranges : dict of str to (float, float)
        Calibrated ranges by array name. An array without one keeps the range of each batch, or, if
        a quantized node made it, its values: those that only move 8-bit data do not round.
    dtype : {'int8', 'uint8', 'auto'}
        The dtype of quantized data.
    """

    names: set
    ranges: dict
    dtype: str

    def fake_quantize(self, entry, array):
        """Return an entry's array quantized and dequantized."""
        limits = self.ranges.get(output_name(*entry))
        if limits is None and entry[0].name in self.names:
            return array
        if limits is None:
            limits = array.min().asscalar(), array.max().asscalar()
        low, high = (float(limit) for limit in limits)
        dtype = "int8" if self.dtype == "int8" or low < 0 else "uint8"
        attrs = {"out_type": dtype, "min_calib_range": low, "max_calib_range": high}
        return nd.contrib.dequantize(*nd.contrib.quantize_v2(array.as_nd_ndarray(), **attrs))


def run_both(sym, quantized, float_values, int8_values, batches, ctx):
    """Yield the inputs of each quantized node, in the float and in the quantized network.

    Parameters
    ----------
    sym : Symbol
        The float network.
    quantized : QuantizedNodes
    float_values, int8_values : dict of str to NDArray
        Parameters and auxiliary states of the two networks. The consumer may replace those of a
        node in `int8_values` when it gets the node.
    batches : list of dict of str to NDArray
    ctx : Context

    Yields
    ------
    (SymbolNode, list of list of NDArray, list of list of NDArray)
        A quantized node before it runs, and for each of its inputs the arrays of all batches: as in
        the float network, and quantized and dequantized.
    """
    order = topological(sym._entries)
    batches = _fitting(sym, batches)
    reads = Counter(_key(entry) for node in order for entry in node.inputs)  # still to come
    float_arrays, int8_arrays = {}, {}  # entry -> array of each batch; the same list while equal
    for node in order:
        if node.op is None:
            if node.name in batches[0]:
                arrays = [batch[node.name] for batch in batches]
                float_arrays[id(node), 0] = int8_arrays[id(node), 0] = arrays
            continue
        entries = [entry for entry in node.inputs if _key(entry) in float_arrays]
        float_inputs = [float_arrays[_key(entry)] for entry in entries]
        int8_inputs = [int8_arrays[_key(entry)] for entry in entries]
        if node.name in quantized.names:
            int8_inputs = [
                [quantized.fake_quantize(entry, array) for array in arrays]
                for entry, arrays in zip(entries, int8_inputs, strict=True)
            ]
            yield node, float_inputs, int8_inputs
        run = _Node(node, entries, ctx)
        outputs = int8_outputs = run.outputs(float_inputs, float_values, len(batches))
        if any(x is not y for x, y in zip(float_inputs, int8_inputs, strict=True)):
            int8_outputs = run.outputs(int8_inputs, int8_values, len(batches))
        for index, pair in enumerate(zip(outputs, int8_outputs, strict=True)):
            float_arrays[id(node), index], int8_arrays[id(node), index] = pair
        for entry in node.inputs:
            reads[_key(entry)] -= 1
            if not reads[_key(entry)]:
                float_arrays.pop(_key(entry), None)
                int8_arrays.pop(_key(entry), None)


def _key(entry):
    return id(entry[0]), entry[1]


def _fitting(sym, batches):
    """Return as many batches as keep the largest array within `_ELEMENTS`."""
    shapes = {name: array.shape for name, array in batches[0].items()}
    inner = sym.get_internals()
    shapes = {name: shape for name, shape in shapes.items() if name in inner.list_inputs()}
    sizes = [math.prod(shape) for shape in inner.infer_shape_partial(**shapes)[1] if shape]
    return batches[: max(1, _ELEMENTS // max([1, *sizes]))]


class _Node:
    """A single node as a network."""

    def __init__(self, node, entries, ctx):
        self._ctx, self._bound, places = ctx, None, {}
        for entry in entries:
            places.setdefault(_key(entry), SymbolNode(None, f"data of {node.name} {len(places)}"))
        inputs = [(places.get(_key(entry), entry[0]), entry[1]) for entry in node.inputs]
        inputs = [(source, 0 if source.op is None else index) for source, index in inputs]
        copied = SymbolNode(node.op, node.name, node.attrs, inputs)
        self._names = [places[_key(entry)].name for entry in entries]
        self._symbol = Symbol([(copied, i) for i in range(node.op.visible(node.parsed))])

    def outputs(self, data, values, count):
        """Return, for each output, its arrays of all batches.

        Parameters
        ----------
        data : list of list of NDArray
            For each input the arrays of all batches.
        values : dict of str to NDArray
            Parameters and auxiliary states.
        count : int
            Number of batches.
        """
        wanted = self._symbol.list_inputs()
        known = {name: a.as_nd_ndarray() for name, a in values.items() if name in wanted}
        results, last = [], None
        for number in range(count):
            arrays = {n: a[number].as_nd_ndarray() for n, a in zip(self._names, data, strict=True)}
            executor = self._bound_for({**known, **arrays})
            if executor is not last:
                executor.copy_params_from(known, known, allow_extra_params=True)
            outputs = executor.forward(is_train=False, **arrays)
            results.append([output.copy() for output in outputs])
            last = executor
        return [list(arrays) for arrays in zip(*results, strict=True)]

    def _bound_for(self, arrays):
        """Return the executor for the shapes of `arrays`, which are by name."""
        shapes = {name: array.shape for name, array in arrays.items()}
        if self._bound is None or self._bound[0] != shapes:
            types = {name: array.dtype for name, array in arrays.items()}
            executor = self._symbol.simple_bind(
                self._ctx, grad_req="null", type_dict=types, **shapes
            )
            self._bound = shapes, executor
        return self._bound[1]
