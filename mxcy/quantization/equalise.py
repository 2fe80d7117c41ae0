"""Make the channels of arrays between quantized layers alike; networks compute the same.

Numbers of 8 bits have one range for all channels of an array, so channels that stay far below it
lose most. Where only layers make and read an array, each channel can be multiplied by a factor in
the layers before and divided by it in those after: through sums, pooling and activations such as
relu, and through one that cuts at a limit as far as the channel stays below that.
"""

import numpy as np

from mxcy.graph.node import output_name, topological
from mxcy.ops.core.record import find

__all__ = ["equalise", "shared_channels"]

#: the largest factor: weights of the next layer get so much smaller
_LARGEST = 8.0
#: how much further than in the calibration data a channel may reach before a limit cuts it
_MARGIN = 1.35
_POOLING, _ACTIVATION, _FLATTEN = find("Pooling"), find("Activation"), find("Flatten")
_SUMS = find("elemwise_add"), find("_npi_add")


class Channels:
    """Arrays whose channels have to have the same factors.

    Attributes
    ----------
    writers, readers : list of Layer
    names : list of str
        Of the arrays that are compared.
    limit : float
        Where activations cut them; 0 where none does.
    fixed : bool
        Whether something else reads or makes one of them.
    """

    def __init__(self):
        self.writers, self.readers, self.names = [], [], []
        self.limit, self.fixed = 0.0, False

    def join(self, other):
        """Take over all of another one."""
        self.writers += other.writers
        self.readers += other.readers
        self.names += other.names
        limits = [limit for limit in (self.limit, other.limit) if limit]
        self.limit, self.fixed = min(limits, default=0.0), self.fixed or other.fixed


def shared_channels(sym, layers):
    """Find the arrays of a symbol whose channels may get factors.

    Parameters
    ----------
    sym : Symbol
    layers : dict of int to Layer
        Those that may be changed, by the ids of nodes.

    Returns
    -------
    list of Channels
    """
    groups = {}  # entry -> its Channels, which several share

    def of(entry):
        key = id(entry[0]), entry[1]
        if key not in groups:
            groups[key] = Channels()
            groups[key].fixed = True  # nothing known makes it
        return groups[key]

    def tie(one, two):
        if one is not two:
            one.join(two)
            for key in [key for key, group in groups.items() if group is two]:
                groups[key] = one

    for node in topological(sym._entries):
        if node.op is None:
            continue
        channels = groups[id(node), 0] = Channels()
        layer = layers.get(id(node))
        if layer is not None:
            channels.writers.append(layer)
            channels.names.append(layer.name)
            channels.limit = layer.limit
            channels.fixed = layer.act == "other" or not layer.scalable() or _keeps_rows(layer)
            of(layer.source).readers.append(layer)
            of(layer.source).fixed |= _keeps_rows(layer)
            if layer.other is not None:
                tie(channels, of(layer.other))
        elif _passes(node):
            if len(node.inputs) > 1:
                channels.names.append(output_name(node, 0))
            for entry in node.inputs:
                tie(groups[id(node), 0], of(entry))
        else:
            channels.fixed = True
            for entry in node.inputs:
                of(entry).fixed = True
    for entry in sym._entries:
        of(entry).fixed = True
    unlike = {id(group): group for group in groups.values() if _is_free(group)}
    return list(unlike.values())


def _passes(node):
    """Whether an operator does the same to each channel, whatever factor it has."""
    if node.op is _ACTIVATION:
        return node.parsed.act_type == "relu"
    if node.op is _POOLING:
        return node.parsed.pool_type in ("max", "avg") and (node.parsed.layout or "NC")[1] == "C"
    return node.op is _FLATTEN or node.op in _SUMS


def _keeps_rows(layer):
    """Whether a dense layer's channels are the last axis of arrays with more than two."""
    return layer.is_dense and not layer.attrs.flatten


def _is_free(group):
    """Whether the channels of arrays can get factors at all."""
    if group.fixed or not group.writers or not group.readers:
        return False
    counts = {len(layer.read("weight")) for layer in group.writers}
    if len(counts) > 1:
        return False
    (count,) = counts
    return all(layer.channels() % count == 0 for layer in group.readers)


def equalise(groups, largest):
    """Give channels factors that make them alike.

    Parameters
    ----------
    groups : list of Channels
        Their layers are changed.
    largest : dict of str to numpy.ndarray
        The largest magnitude of each channel, by the names of arrays.
    """
    for group in groups:
        reached = np.max([largest[name] for name in group.names], axis=0)
        top = group.limit / _MARGIN if group.limit else reached.max(initial=0.0)
        factors = np.full_like(reached, top)
        np.divide(top, reached, out=factors, where=reached > 0)
        factors = np.clip(factors, 1.0, _LARGEST)
        factors[reached <= 0] = 1.0
        for layer in group.writers:
            layer.scale_outputs(factors)
        for layer in group.readers:
            layer.divide_inputs(factors)
