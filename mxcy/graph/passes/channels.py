"""Channel padding around depthwise and 1x1 convolutions, so that their arrays can be blocked.

Blocked arrays have whole blocks of channels. For 72 channels the plain kernel is about twenty times
slower than the blocked one for 80, and other layers need an eighth more time for 80. The added
channels have zero weights, and their readers multiply them by 0; layers know their number, and
kernels may leave out such products.

Images between 1x1 convolutions, such as the narrow ones of mobile networks, are padded for the sake
of the wider ones that these read and write: those would be converted. Other readers of single
pixels, such as the output of a network that ends with the means of its classes' images, get them
without the added channels.
"""

import math

import numpy as np

from mxcy._base.dtypes import CODES
from mxcy.graph.analysis.users import Users
from mxcy.graph.planning.plan import ONCE
from mxcy.graph.rewrite import Rewrite
from mxcy.ops.core.record import find
from mxcy.ops.fused.layer import activate

__all__ = ["run"]

_FLOAT = CODES["float32"]
_CONV, _POOLING, _SLICE = find("_sg_onednn_conv"), find("Pooling"), find("slice_axis")
_BROADCASTS = (find("broadcast_mul"), find("broadcast_add"))
_MOST, _MOST_POINTWISE = 1.25, 4 / 3  # maximum growth of the number of channels


def run(graph, target):
    """Pad channels where all producers and readers support additional ones."""
    block = target.block
    if not block:
        return graph
    users, regions, cut = Users(graph), {}, set()
    for number in range(len(graph.nodes)):
        if (number, 0) not in regions and _is_seed(graph, number, block):
            region = _Region(graph, users, number)
            if region.grow():
                regions.update(region.entries)
                cut |= region.cut
    return _filled(graph, regions, cut, block) if regions else graph


def _is_seed(graph, number, block):
    if not _is_conv(graph, number):
        return False
    if _is_depthwise(graph, number):
        most = _MOST
    elif _is_pointwise(graph.nodes[number]) and math.prod(graph.specs[number][0].shape[2:]) > 1:
        most = _MOST_POINTWISE
    else:
        return False
    channels = graph.specs[number][0].shape[1]
    return channels % block > 0 and _wide(channels, block) <= most * channels


def _wide(channels, block):
    return -(-channels // block) * block


def _is_conv(graph, number):
    node = graph.nodes[number]
    return node.op is _CONV and not node.attrs.algo and len(graph.specs[number][0].shape) == 4


def _is_depthwise(graph, number):
    node = graph.nodes[number]
    channels = graph.spec(node.inputs[0]).shape[1]
    return 1 < node.attrs.num_group == node.attrs.num_filter == channels


def _is_pointwise(node):
    return node.attrs.num_group == 1 and math.prod(node.attrs.kernel) == 1


class _Region:
    """The entries that share their channels with a node, through producers and readers.

    `entries` maps each one to the value of its padding; readers outside get those in `cut`, single
    pixels, without it.
    """

    def __init__(self, graph, users, seed):
        self._graph, self._users, self._seed = graph, users, seed
        self._channels = graph.specs[seed][0].shape[1]
        self._narrow = not _is_depthwise(graph, seed)  # other convolutions must be 1x1
        self.entries, self.cut = {}, set()

    def grow(self):
        """Find all entries; return False if one cannot be padded."""
        entries, waiting = {(self._seed, 0)}, [(self._seed, 0)]
        while waiting:
            number, index = entry = waiting.pop()
            spec = self._graph.spec(entry)
            fits = len(spec.shape) == 4 and spec.shape[1] == self._channels
            if index or not fits or spec.dtype != _FLOAT:
                return False
            sources = self._sources(number)
            if sources is None:
                return False
            more = list(sources)
            for user, position, _ in self._users[number]:
                if self._ends(user, position):
                    continue
                if user >= 0 and self._sources(user) is not None:
                    more.append((user, 0))
                elif math.prod(spec.shape[2:]) == 1:
                    self.cut.add(entry)
                else:
                    return False
            waiting += [other for other in dict.fromkeys(more) if other not in entries]
            entries.update(more)
        return self._evaluate(sorted(entries))

    def _sources(self, number):
        """A node's inputs with the channels of its output; None if it cannot be padded."""
        node = self._graph.nodes[number]
        if node.op is None or len(self._graph.specs[number]) != 1:
            return None
        if node.op is _CONV:
            if not _is_conv(self._graph, number) or node.attrs.before != "none":
                return None
            if node.attrs.num_group > 1 and not _is_depthwise(self._graph, number):
                return None
            if self._narrow and not _is_pointwise(node):
                return None
            own = node.inputs[:1] if node.attrs.num_group > 1 else []
            return [*own, *(node.inputs[-1:] if node.attrs.with_sum else [])]
        if node.op is _POOLING:
            return node.inputs if node.attrs.layout in (None, "NCHW") else None
        if node.op in _BROADCASTS or node.op.pointwise(node.attrs):
            return node.inputs
        return None

    def _ends(self, user, position):
        """Whether the reader sums over channels."""
        if user < 0:
            return False
        node = self._graph.nodes[user]
        if position or not _is_conv(self._graph, user) or node.attrs.num_group != 1:
            return False
        return _is_pointwise(node) or not self._narrow

    def _evaluate(self, entries):
        """Compute the padding values; return False if zero weights could not cancel them."""
        for entry in entries:
            node = self._graph.nodes[entry[0]]
            values = [self.entries[source] for source in self._sources(entry[0])]
            if node.op is _CONV:
                other = values[-1] if node.attrs.with_sum else np.zeros(1, "float32")
                value = activate(node.attrs, np, other)
            elif node.op is _POOLING:
                value = values[0]
                if value[0] != 0:
                    return False
            else:
                with np.errstate(all="ignore"):
                    value = node.op.ref(node.attrs, np, *values)
            if not np.isfinite(value).all():
                return False
            self.entries[entry] = value
        return True


def _filled(graph, regions, cut, block):
    """Pad the channels of the entries of `regions`, those of `cut` for readers there only."""
    rewrite, wide = Rewrite(graph), {}
    for number, node in rewrite.visit():
        wide_out = (number, 0) in regions
        if not wide_out and not (_is_reader(graph, number) and node.inputs[0] in regions):
            rewrite.keep(number)
            continue
        inputs = [wide.get(entry) or rewrite.entry(entry) for entry in node.inputs]
        attrs = node.attrs
        if node.op is _CONV:
            attrs = {name: getattr(attrs, name) for name in node.op.schema.names}
            _fill_conv(rewrite, node, attrs, inputs, block, wide_out, node.inputs[0] in regions)
        entry = rewrite.add(node.op, attrs, inputs, node.name, node.extra)
        if (number, 0) in cut:
            wide[number, 0] = entry
            channels = graph.specs[number][0].shape[1]
            entry = rewrite.add(_SLICE, {"axis": 1, "begin": 0, "end": channels}, [entry])
        rewrite.replace((number, 0), entry)
    return rewrite.finish()


def _is_reader(graph, number):
    return graph.nodes[number].op is _CONV and bool(graph.nodes[number].inputs)


def _fill_conv(rewrite, node, attrs, inputs, block, wide_out, wide_in):
    """Pad weight and bias (new entries in `inputs`) and update `attrs`."""
    depthwise = attrs["num_group"] > 1
    filters, channels = rewrite.spec(inputs[1]).shape[:2]
    more = [0, 0]
    if wide_out:
        attrs["num_filter"] = _wide(filters, block)
        more[0] = attrs["num_filter"] - filters
    if depthwise:
        attrs["num_group"] = attrs["num_filter"]
    else:
        more[1] = _wide(channels, block) - channels if wide_in else 0
        attrs["spare_filters"], attrs["spare_channels"] = more
    inputs[1] = _padded(rewrite, inputs[1], [*more, 0, 0])
    if not attrs["no_bias"]:
        inputs[2] = _padded(rewrite, inputs[2], more[:1])


def _padded(rewrite, entry, more):
    """Pad the axes of a parameter with zeros."""
    if not any(more):
        return entry
    node = rewrite.node(entry)
    extra = {ONCE: ""} if node.op is None or ONCE in node.extra else None
    attrs = {"pad_width": tuple((0, count) for count in more)}
    return rewrite.add(find("_npi_pad"), attrs, [entry], None, extra)
