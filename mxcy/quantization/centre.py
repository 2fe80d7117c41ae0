"""Put the channels of arrays between quantized layers about zero; networks compute the same.

Numbers of 8 bits with a sign have a range as far below zero as above. A linear layer's channel that
reaches far to one side only wastes half of that, so a constant is taken off each channel: from what
the layer adds to its products, and where the array is read, the layer adds what its weights make of
the constant. Paddings are zeros, not constants: layers that pad keep others from this.
"""

import numpy as np

from mxcy.graph.node import topological

__all__ = ["centre"]


def centre(sym, layers, extremes):
    """Move the middle of each channel's range to zero.

    Parameters
    ----------
    sym : Symbol
        With fused layers.
    layers : dict of int to Layer
        Those that may be changed, by the ids of nodes.
    extremes : dict of str to (numpy.ndarray, numpy.ndarray)
        The least and largest number of each channel, by the names of arrays; replaced for those
        that are moved.
    """
    readers = _readers(sym)
    for number, layer in layers.items():
        users = [layers.get(user) for user in readers.get(number, (None,))]
        if layer.act != "none" or layer.name not in extremes or not layer.shifts():
            continue
        if not all(user is not None and _takes_constants(user, layer) for user in users):
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
    """For the id of each node those of its readers; None for who reads the network's results."""
    readers = {}
    for node in topological(sym._entries):
        for source, _ in node.inputs:
            readers.setdefault(id(source), set()).add(id(node))
    for source, _ in sym._entries:
        readers.setdefault(id(source), set()).add(None)
    return readers


def _takes_constants(user, layer):
    """Whether a layer can add what constants in the channels of another one's result take away."""
    if user.is_dense or not user.shifts():
        return False
    if user.source[0] is not layer.node:
        return True
    return not any(user.attrs.pad or ())
