"""Prepare the parameters of a float network for 8 bits, by what calibration data do in it."""

import numpy as np

from mxcy.graph.fused.records import BODY
from mxcy.graph.node import output_name, topological
from mxcy.quantization import calibration
from mxcy.quantization.collectors import CalibrationCollector
from mxcy.quantization.equalise import equalise, shared_channels
from mxcy.quantization.layers import layers_of
from mxcy.quantization.rounding import Moments, round_layer

__all__ = ["adjusted"]


class _Largest(CalibrationCollector):
    """Keeps the largest magnitude of each channel, the second axis."""

    def __init__(self, names):
        super().__init__()
        self.include_layers, self.found = names, {}

    def collect(self, name, op_name, arr):
        array = np.abs(arr.asnumpy())
        top = array.max(axis=tuple(i for i in range(array.ndim) if i != 1), initial=0.0)
        self.found[name] = np.maximum(top, self.found.get(name, 0.0))


def adjusted(sym, qsym, values, batches, ctx, *, scales=True):
    """Parameters with which a network computes about the same, and in 8 bits loses less.

    Parameters
    ----------
    sym, qsym : Symbol
        The float network with fused layers, and the quantized one.
    values : dict of str to NDArray
        Parameters and states.
    batches : list of dict of str to NDArray
        Some calibration data.
    ctx : Context
    scales : bool
        Whether the channels of arrays may get factors, by which their ranges change.

    Returns
    -------
    dict of str to NDArray
        Like `values`, which stay as they are.
    """
    values = dict(values)
    prefix = "quantized_"
    narrow = [node for node in topological(qsym._entries) if node.name.startswith(prefix)]
    quantized = {node.name.removeprefix(prefix): node for node in narrow}
    layers = layers_of(sym, set(quantized), values)
    if not layers or not batches:
        return values
    groups = shared_channels(sym, layers) if scales else []
    if groups:
        largest = _Largest(sorted({name for group in groups for name in group.names}))
        calibration.collect(sym, values, batches, largest, ctx)
        equalise(groups, largest.found)
    readers = {}
    for layer in layers.values():
        readers.setdefault(output_name(*layer.source), []).append(layer)
    moments = Moments(readers, len(batches))
    calibration.collect(sym, values, batches, moments, ctx)
    for layer in layers.values():
        whole = layer.is_dense and "min_weight" in _roles(quantized[layer.node.name])
        round_layer(layer, moments, whole)
    return values


def _roles(node):
    return node.op.arguments(node.parsed) if BODY in node.attrs else ()
