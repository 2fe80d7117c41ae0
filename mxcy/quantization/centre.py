"""Centre the channels of arrays between quantized layers around zero.

The range of int8 is symmetric, so a channel with values mostly on one side of zero wastes half of
it. A constant is subtracted from each channel through the bias of the layer that writes it, and the
product of that constant and the weights is added to the bias of the layers that read it: the float
network computes the same. Layers that pad are left out, since padding inserts zeros.
"""

import numpy as np

from mxcy.graph.node import topological

__all__ = ["centre"]


def centre(sym, layers, extremes):
    """Shift the midpoint of each channel's range to zero.

    Parameters
    ----------
    sym : Symbol
        With fused layers.
    layers : dict of int to Layer
        Layers that may be modified, by node id.
    extremes : dict of str to (numpy.ndarray, numpy.ndarray)
        Minimum and maximum of each channel, by array name; updated for shifted arrays.
    """
    readers = _readers(sym)
    for number, layer in layers.items():
        users = [layers.get(user) for user in readers.get(number, (None,))]
        if layer.act != "none" or layer.name not in extremes or not layer.shifts():
            continue
        if not all(user is not None and _can_compensate(user, layer) for user in users):
            continue
        low, high = extremes[layer.name]
        middle = ((low + high) / 2).astype(np.float32)
        layer.shift_outputs(-middle)
        for user in users:
            if user.source[0] is layer.node:
                user.shift(user.products_of(middle))
            if user.other is not None and user.other[0] is layer.node:
                user.shift_outputs(middle)
        extremes[layer.name] = low - middle, high - middle


def _readers(sym):
    """Return the ids of the readers of each node, by node id; None marks a network output."""
    readers = {}
    for node in topological(sym._entries):
        for source, _ in node.inputs:
            readers.setdefault(id(source), set()).add(id(node))
    for source, _ in sym._entries:
        readers.setdefault(id(source), set()).add(None)
    return readers


def _can_compensate(user, layer):
    """Return whether `user` can undo a shift of the channels of `layer`."""
    if user.is_dense or not user.shifts():
        return False
    if user.source[0] is not layer.node:
        return True
    return not any(user.attrs.pad or ())
