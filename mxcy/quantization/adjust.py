"""Prepare the parameters of a float network for 8 bits, by what calibration data do in it."""

import numpy as np

from mxcy.graph.fused.records import BODY
from mxcy.graph.node import topological
from mxcy.quantization import calibration
from mxcy.quantization.beside import Narrow, beside
from mxcy.quantization.centre import centre
from mxcy.quantization.collectors import CalibrationCollector
from mxcy.quantization.equalise import equalise, shared_channels
from mxcy.quantization.layers import layers_of
from mxcy.quantization.rounding import round_layer

__all__ = ["Preparation"]


class _Extremes(CalibrationCollector):
    """Keeps the least and largest number of each channel, the second axis."""

    def __init__(self, names):
        super().__init__()
        self.include_layers, self.by_name = names, {}

    def collect(self, name, op_name, arr):
        array = arr.asnumpy()
        if not array.size:
            return
        axes = tuple(i for i in range(array.ndim) if i != 1)
        low, high = array.min(axis=axes), array.max(axis=axes)
        known = self.by_name.get(name)
        if known is not None:
            low, high = np.minimum(low, known[0]), np.maximum(high, known[1])
        self.by_name[name] = low, high


class Preparation:
    """Parameters with which a network computes about the same, and in 8 bits loses less.

    Parameters
    ----------
    sym, qsym : Symbol
        The float network with fused layers, and the quantized one.
    values : dict of str to NDArray
        Parameters and states, which stay as they are.
    batches : list of dict of str to NDArray
        Some calibration data.
    ctx : Context
    scales : bool
        Whether the channels of arrays may get factors and offsets, by which their ranges change.

    Attributes
    ----------
    floats : dict of str to NDArray
        Like `values`, with channels made alike; nothing is rounded.
    """

    def __init__(self, sym, qsym, values, batches, ctx, *, scales=True):
        self.floats = dict(values)
        prefix = "quantized_"
        narrow = [node for node in topological(qsym._entries) if node.name.startswith(prefix)]
        self._narrow = {node.name.removeprefix(prefix): node for node in narrow}
        self._sym, self._batches, self._ctx = sym, batches, ctx
        self._rounded = values = self.floats.copy()
        self._layers = layers = layers_of(sym, set(self._narrow), values)
        if layers and batches and scales:
            _make_alike(sym, layers, values, batches, ctx)
        self.floats = values.copy()

    def round(self, ranges, dtype):
        """Round the parameters of layers.

        Parameters
        ----------
        ranges : dict of str to (float, float)
            What calibration found, by the names of arrays.
        dtype : {'int8', 'uint8', 'auto'}
            What data become.
        """
        if not self._layers or not self._batches:
            return
        both = (self.floats, self._rounded)
        narrow = Narrow(set(self._narrow), ranges, dtype)
        for node, exact, rough in beside(self._sym, narrow, *both, self._batches, self._ctx):
            layer = self._layers.get(id(node))
            if layer is not None:
                whole = layer.is_dense and "min_weight" in _roles(self._narrow[node.name])
                round_layer(layer, exact[0], rough[0], whole)

    def rounded(self, kept=frozenset()):
        """The parameters, those of layers rounded.

        Parameters
        ----------
        kept : set of str
            Names of layers that stay float.

        Returns
        -------
        dict of str to NDArray
        """
        values = self.floats.copy()
        for layer in self._layers.values():
            if layer.node.name not in kept:
                values.update((name, self._rounded[name]) for name in layer.names.values())
        return values


def _make_alike(sym, layers, values, batches, ctx):
    """Give channels offsets and factors."""
    groups = shared_channels(sym, layers)
    names = {name for group in groups for name in group.names}
    names |= {layer.name for layer in layers.values() if layer.act == "none"}
    if not names:
        return
    extremes = _Extremes(sorted(names))
    calibration.collect(sym, values, batches, extremes, ctx)
    if not names <= extremes.by_name.keys():
        return  # the data are empty
    centre(sym, layers, extremes.by_name)
    largest = {n: np.maximum(-low, high) for n, (low, high) in extremes.by_name.items()}
    equalise(groups, largest)


def _roles(node):
    return node.op.arguments(node.parsed) if BODY in node.attrs else ()
