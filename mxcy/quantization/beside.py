"""Run a float network node after node, and its 8-bit one beside it, as far as that is known yet."""

import math
from collections import Counter
from dataclasses import dataclass

from mxcy import ndarray as nd
from mxcy.graph.node import SymbolNode, output_name, topological
from mxcy.symbol import Symbol

__all__ = ["Narrow", "beside"]

#: numbers of the largest array that are kept at once, for all examples
_NUMBERS = 1 << 26


@dataclass(frozen=True)
class Narrow:
    """Which nodes become such of 8 bits, and how they read their data.

    Attributes
    ----------
    names : set of str
    ranges : dict of str to (float, float)
        Of arrays, by their names. Of the others those that such nodes make stay as they are, as
        moving numbers of 8 bits does not round them; the rest has the range of each batch.
    dtype : {'int8', 'uint8', 'auto'}
        What data become.
    """

    names: set
    ranges: dict
    dtype: str

    def rounded(self, entry, array):
        """The numbers of an entry's array as 8 bits keep them."""
        limits = self.ranges.get(output_name(*entry))
        if limits is None and entry[0].name in self.names:
            return array
        if limits is None:
            limits = array.min().asscalar(), array.max().asscalar()
        low, high = (float(limit) for limit in limits)
        kind = "int8" if self.dtype == "int8" or low < 0 else "uint8"
        wish = {"out_type": kind, "min_calib_range": low, "max_calib_range": high}
        return nd.contrib.dequantize(*nd.contrib.quantize_v2(array.as_nd_ndarray(), **wish))


def beside(sym, narrow, floats, values, batches, ctx):
    """Show each node's data, those of the float network and what 8 bits make of them.

    Parameters
    ----------
    sym : Symbol
        The float network.
    narrow : Narrow
    floats, values : dict of str to NDArray
        Parameters and states of either network; who is shown a node may change its `values`.
    batches : list of dict of str to NDArray
    ctx : Context

    Yields
    ------
    (SymbolNode, list of list of NDArray, list of list of NDArray)
        A narrow node, with its data for each batch in floats and rounded, before it runs.
    """
    order = topological(sym._entries)
    batches = _few(sym, batches)
    left = Counter(_key(entry) for node in order for entry in node.inputs)  # readers to come
    exact, rough = {}, {}  # arrays of each batch by entry; the same where they are alike
    for node in order:
        if node.op is None:
            if node.name in batches[0]:
                exact[id(node), 0] = rough[id(node), 0] = [batch[node.name] for batch in batches]
            continue
        entries = [entry for entry in node.inputs if _key(entry) in exact]
        wide = [exact[_key(entry)] for entry in entries]
        short = [rough[_key(entry)] for entry in entries]
        if node.name in narrow.names:
            short = [
                [narrow.rounded(entry, array) for array in arrays]
                for entry, arrays in zip(entries, short, strict=True)
            ]
            yield node, wide, short
        run = _Node(node, entries, ctx)
        results = run.outputs(wide, floats, len(batches))
        alike = all(one is other for one, other in zip(wide, short, strict=True))
        others = results if alike else run.outputs(short, values, len(batches))
        for index, pair in enumerate(zip(results, others, strict=True)):
            exact[id(node), index], rough[id(node), index] = pair
        for entry in node.inputs:
            left[_key(entry)] -= 1
            if not left[_key(entry)]:
                exact.pop(_key(entry), None)
                rough.pop(_key(entry), None)


def _key(entry):
    return id(entry[0]), entry[1]


def _few(sym, batches):
    """So many of the batches that no array gets too large."""
    shapes = {name: array.shape for name, array in batches[0].items()}
    inner = sym.get_internals()
    shapes = {name: shape for name, shape in shapes.items() if name in inner.list_inputs()}
    sizes = [math.prod(shape) for shape in inner.infer_shape_partial(**shapes)[1] if shape]
    return batches[: max(1, _NUMBERS // max([1, *sizes]))]


class _Node:
    """One node of a network as a network of its own."""

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
        """For each output its arrays for the batches.

        Parameters
        ----------
        data : list of list of NDArray
            For each input the arrays of the batches.
        values : dict of str to NDArray
            Parameters and states.
        count : int
            The number of batches.
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
        """The executor for arrays of such shapes, by name."""
        shapes = {name: array.shape for name, array in arrays.items()}
        if self._bound is None or self._bound[0] != shapes:
            types = {name: array.dtype for name, array in arrays.items()}
            executor = self._symbol.simple_bind(
                self._ctx, grad_req="null", type_dict=types, **shapes
            )
            self._bound = shapes, executor
        return self._bound[1]
