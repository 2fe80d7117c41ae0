"""Cross-layer equalization: scale channels of arrays between quantized layers to equal ranges.

All channels of an 8-bit array share one range, so channels with small values lose most precision.
If only layers write and read an array, a channel can be multiplied by a factor in the layers before
it and divided by the factor in those after it: the float network computes the same. Factors pass
through sums, pooling and ReLU, and through a clipping activation as long as the channel stays below
its limit.
"""

import numpy as np

from mxcy.graph.node import output_name, topological
from mxcy.ops.core.record import find
from mxcy.quantization.noise import expected_noise

__all__ = ["equalise", "shared_channels"]

#: bounds of factors to choose from: weights of the next layer are divided by the factors
_BOUNDS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0)
#: headroom of a channel below an activation's limit, relative to its calibrated maximum
_MARGIN = 1.35
_POOLING, _ACTIVATION, _FLATTEN = find("Pooling"), find("Activation"), find("Flatten")
_SUMS = find("elemwise_add"), find("_npi_add")


class ChannelGroup:
    """Arrays whose channels must have the same factors.

    Attributes
    ----------
    writers, readers : list of Layer
    names : list of str
        Names of the arrays whose ranges count.
    limit : float
        Upper limit of clipping activations; 0 if there is none.
    fixed : bool
        Whether anything but layers writes or reads one of the arrays.
    linear : bool
        Whether nothing but sums and layers without groups and activation lies between the layers.
    """

    def __init__(self):
        self.writers, self.readers, self.names = [], [], []
        self.limit, self.fixed, self.linear = 0.0, False, True

    def join(self, other):
        """Merge another group into this one."""
        self.writers += other.writers
        self.readers += other.readers
        self.names += other.names
        limits = [limit for limit in (self.limit, other.limit) if limit]
        self.limit, self.fixed = min(limits, default=0.0), self.fixed or other.fixed
        self.linear = self.linear and other.linear


def shared_channels(sym, layers):
    """Find the groups of arrays whose channels may be scaled.

    Parameters
    ----------
    sym : Symbol
    layers : dict of int to Layer
        Layers that may be modified, by node id.

    Returns
    -------
    list of ChannelGroup
    """
    groups = {}  # entry -> its ChannelGroup, which other entries may share

    def group_of(entry):
        key = id(entry[0]), entry[1]
        if key not in groups:
            groups[key] = ChannelGroup()
            groups[key].fixed = True  # its writer is unknown
        return groups[key]

    def merge(group, merged):
        if group is not merged:
            group.join(merged)
            for key in [key for key, value in groups.items() if value is merged]:
                groups[key] = group

    for node in topological(sym._entries):
        if node.op is None:
            continue
        group = groups[id(node), 0] = ChannelGroup()
        layer = layers.get(id(node))
        if layer is not None:
            group.writers.append(layer)
            group.names.append(layer.name)
            group.limit = layer.limit
            group.linear = layer.act == "none" and layer.groups == 1
            group.fixed = layer.act == "other" or not layer.scalable() or _keeps_rows(layer)
            group_of(layer.source).readers.append(layer)
            group_of(layer.source).fixed |= _keeps_rows(layer)
            group_of(layer.source).linear &= layer.groups == 1
            if layer.other is not None:
                merge(group, group_of(layer.other))
        elif _commutes_with_scaling(node):
            group.linear = node.op in _SUMS
            if len(node.inputs) > 1:
                group.names.append(output_name(node, 0))
            for entry in node.inputs:
                merge(groups[id(node), 0], group_of(entry))
        else:
            group.fixed = True
            for entry in node.inputs:
                group_of(entry).fixed = True
    for entry in sym._entries:
        group_of(entry).fixed = True
    return list({id(group): group for group in groups.values() if _is_free(group)}.values())


def _commutes_with_scaling(node):
    """Return whether an operator commutes with positive factors of channels."""
    if node.op is _ACTIVATION:
        return node.parsed.act_type == "relu"
    if node.op is _POOLING:
        return node.parsed.pool_type in ("max", "avg") and (node.parsed.layout or "NC")[1] == "C"
    return node.op is _FLATTEN or node.op in _SUMS


def _keeps_rows(layer):
    """Return whether a dense layer has channels in the last axis of arrays with more than two."""
    return layer.is_dense and not layer.attrs.flatten


def _is_free(group):
    """Return whether the channels of a group can be scaled."""
    if group.fixed or not group.writers or not group.readers:
        return False
    counts = {len(layer.read("weight")) for layer in group.writers}
    if len(counts) > 1:
        return False
    (count,) = counts
    return all(layer.channels() % count == 0 for layer in group.readers)


def equalise(groups, extremes, squares):
    """Scale the channels of each group to similar ranges.

    Parameters
    ----------
    groups : list of ChannelGroup
        Their layers are modified.
    extremes : dict of str to (numpy.ndarray, numpy.ndarray)
        Minimum and maximum of each channel, by array name.
    squares : dict of str to numpy.ndarray
        Mean square of each channel.
    """
    for group in groups:
        factors = _best_factors(group, extremes, squares)
        for layer in group.writers:
            layer.scale_outputs(factors)
        for layer in group.readers:
            layer.divide_inputs(factors)


def _best_factors(group, extremes, squares):
    """Return the factors of a group's channels, with the bound that leaves the least noise."""
    ends = [extremes[name] for name in group.names]
    magnitudes = np.max([np.maximum(-low, high) for low, high in ends], axis=0)
    unsigned = min(low.min(initial=0.0) for low, _ in ends) >= 0
    power = np.mean([squares[name] for name in group.names], axis=0)
    top = group.limit / _MARGIN if group.limit else magnitudes.max(initial=0.0)
    whole = np.full_like(magnitudes, top)
    np.divide(top, magnitudes, out=whole, where=magnitudes > 0)
    whole[magnitudes <= 0] = 1.0

    def noise(factors):
        largest = (factors * magnitudes).max(initial=0.0)
        largest = min(largest, group.limit) if group.limit else largest
        return expected_noise(group.readers, factors, largest, power, unsigned)

    return min((np.clip(whole, 1.0, bound) for bound in _BOUNDS), key=noise)
