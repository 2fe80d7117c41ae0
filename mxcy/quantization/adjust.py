"""Adjust the parameters of a float network to calibration data before quantization."""

import numpy as np

from mxcy.graph.fused.records import BODY
from mxcy.graph.node import topological
from mxcy.quantization import calibration
from mxcy.quantization.centre import centre
from mxcy.quantization.collectors import CalibrationCollector
from mxcy.quantization.equalise import equalise, shared_channels
from mxcy.quantization.layers import layers_of
from mxcy.quantization.mix import Samples, mix
from mxcy.quantization.paired_run import QuantizedNodes, run_both
from mxcy.quantization.rounding import round_layer

__all__ = ["Preparation"]

#: factor of the ranges of mixed channels: all are as wide, so larger values exceed many of them
_HEADROOM = 1.15


class _Channels(CalibrationCollector):
    """Collect the minimum, maximum and sum of squares of each channel (axis 1)."""

    def __init__(self, names):
        super().__init__()
        self.include_layers, self.extremes, self.squares = names, {}, {}

    def collect(self, name, op_name, arr):
        array = arr.asnumpy()
        if not array.size:
            return
        axes = tuple(i for i in range(array.ndim) if i != 1)
        low, high = array.min(axis=axes), array.max(axis=axes)
        squares = np.square(array, dtype=np.float64).mean(axis=axes) * len(array)
        if name in self.extremes:
            known = self.extremes[name]
            low, high = np.minimum(low, known[0]), np.maximum(high, known[1])
            squares += self.squares[name]
        self.extremes[name], self.squares[name] = (low, high), squares


class Preparation:
    """Parameters that compute the same in float and lose less accuracy in 8 bits.

    Parameters
    ----------
    sym, qsym : Symbol
        The float network with fused layers, and the quantized one.
    values : dict of str to NDArray
        Parameters and auxiliary states; not modified.
    batches : list of dict of str to NDArray
        Calibration data.
    ctx : Context
    scales : bool
        Whether channels may be scaled and shifted, which changes the ranges of arrays.

    Attributes
    ----------
    floats : dict of str to NDArray
        `values` after scaling and shifting of channels, not rounded.
    """

    def __init__(self, sym, qsym, values, batches, ctx, *, scales=True):
        self.floats = dict(values)
        prefix = "quantized_"
        nodes = [node for node in topological(qsym._entries) if node.name.startswith(prefix)]
        self._quantized = {node.name.removeprefix(prefix): node for node in nodes}
        self._sym, self._batches, self._ctx = sym, batches, ctx
        self._rounded, self._mixed = self.floats.copy(), set()
        values = self._rounded
        self._layers = layers = layers_of(sym, set(self._quantized), values)
        if layers and batches and scales:
            groups = shared_channels(sym, layers)
            self._mixed = _mix_channels(sym, groups, values, batches, ctx)
            _balance_channels(sym, layers, groups, values, batches, ctx)
        self.floats = values.copy()

    def widened(self, ranges):
        """Return calibrated ranges, with headroom for arrays of mixed channels.

        Parameters
        ----------
        ranges : dict of str to (float, float)

        Returns
        -------
        dict of str to (float, float)
        """
        wide = {name: ranges[name] for name in self._mixed & ranges.keys()}
        return ranges | {n: (low * _HEADROOM, high * _HEADROOM) for n, (low, high) in wide.items()}

    def round(self, ranges, dtype):
        """Round the weights of all layers, in topological order.

        Parameters
        ----------
        ranges : dict of str to (float, float)
            Calibrated ranges by array name.
        dtype : {'int8', 'uint8', 'auto'}
            The dtype of quantized data.
        """
        if not self._layers or not self._batches:
            return
        quantized = QuantizedNodes(set(self._quantized), ranges, dtype)
        run = run_both(self._sym, quantized, self.floats, self._rounded, self._batches, self._ctx)
        for node, float_inputs, int8_inputs in run:
            layer = self._layers.get(id(node))
            if layer is not None:
                per_tensor = layer.is_dense and "min_weight" in _roles(self._quantized[node.name])
                round_layer(layer, float_inputs[0], int8_inputs[0], per_tensor)
        self._ctx.empty_cache()

    def rounded(self, kept=frozenset()):
        """Return the parameters, rounded for quantized layers.

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


def _mix_channels(sym, groups, values, batches, ctx):
    """Mix the channels of linear arrays; return the names of these arrays."""
    groups = [group for group in groups if group.linear]
    if not groups:
        return set()
    names = {name for group in groups for name in group.names}
    samples = Samples(sorted(names), len(batches))
    calibration.collect(sym, values, batches, samples, ctx)
    examples = sum(len(next(iter(batch.values()))) for batch in batches)
    mixed = set()
    for group in groups:
        arrays = [np.concatenate(samples.rows[name]) for name in group.names]
        if mix(group, arrays, examples):
            mixed.update(group.names)
    return mixed


def _balance_channels(sym, layers, groups, values, batches, ctx):
    """Shift and scale channels so that they use the range of their array."""
    names = {name for group in groups for name in group.names}
    names |= {layer.name for layer in layers.values() if layer.act == "none"}
    if not names:
        return
    channels = _Channels(sorted(names))
    calibration.collect(sym, values, batches, channels, ctx)
    if not names <= channels.extremes.keys():
        return  # there are no calibration data
    centre(sym, layers, channels.extremes)
    examples = sum(len(next(iter(batch.values()))) for batch in batches)
    equalise(
        groups, channels.extremes, {n: total / examples for n, total in channels.squares.items()}
    )


def _roles(node):
    return node.op.arguments(node.parsed) if BODY in node.attrs else ()
