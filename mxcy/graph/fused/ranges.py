"""Folding of requantize and dequantize into the fused nodes of a quantized graph.

A calibrated requantize becomes the output range of the preceding node; if that is only dequantized,
a dense layer or product returns floats. Concatenated arrays get a common range, so that
concatenation only copies bytes.
"""

import itertools

from mxcy.graph.fused.chains import users_of
from mxcy.graph.fused.records import LAYERS
from mxcy.graph.node import SymbolNode, topological
from mxcy.ops.core.record import find

__all__ = ["give_floats", "settle"]

_CONVOLUTIONS = tuple(layers["conv"] for layers in LAYERS.values())
_CALIBRATION = ("min_calib_range", "max_calib_range")


def settle(entries, settings):
    """Fold requantize and dequantize into preceding nodes, in place.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
        Entries of nodes that are not shared.
    settings : dict
        Environment variables, two of which disable this.

    Returns
    -------
    list of (SymbolNode, int)
    """
    for switch, narrow in _SWITCHED.items():
        if not settings.get(switch, True):
            continue
        entries = _narrowed(entries, narrow)
    _share_ranges(topological(entries))
    return entries


def _narrowed(entries, narrow):
    """Apply a function to each node, which records replacements of entries."""
    order = topological(entries)
    users = users_of(order, entries)
    replaced = {}  # (id, index) -> the entry in its place
    for node in order:
        narrow(node, users, replaced)
    for node in order:
        node.inputs = [replaced.get((id(n), i), (n, i)) for n, i in node.inputs]
    return [replaced.get((id(node), index), (node, index)) for node, index in entries]


def _take_range(node, users, replaced):
    """Make a requantize's range the output range of the preceding node."""
    if node.op is not find("_contrib_requantize") or not set(_CALIBRATION) <= node.attrs.keys():
        return
    source = node.inputs[0][0]
    if not _has_range(source) or {id(user) for user, *_ in users[id(source)]} != {id(node)}:
        return
    source.attrs |= {key: node.attrs[key] for key in _CALIBRATION}
    source.changed()
    replaced.update(((id(node), index), (source, index)) for index in range(3))


def _has_range(node):
    """Whether a node's attributes specify its output range."""
    return node.op is not None and set(_CALIBRATION) <= node.op.schema.by_name.keys()


def give_floats(entries):
    """Let layers that are only dequantized return floats, in place.

    MXNet leaves convolutions unchanged, and layers whose results are reshaped or transposed before.
    Convolutions cannot return floats after a sum.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
        Entries of nodes that are not shared.

    Returns
    -------
    list of (SymbolNode, int)
    """
    return _narrowed(entries, _give_floats_before_moves)


def _give_floats_before_moves(node, users, replaced):
    """Remove the dequantize after a layer, or after moves of its elements."""
    if node.op is not find("_contrib_dequantize"):
        return
    moves, source = [], node.inputs[0][0]
    while source.op is not None and source.op.moves_like:
        moves.insert(0, source)
        source = source.inputs[0][0]
    path = [source, *moves, node]
    alone = all(_only_reader(user, read, users) for read, user in itertools.pairwise(path))
    if not (alone and _can_return_floats(source)):
        return
    # MXNet rounds the results that are moved: programs read their ranges from the symbol
    _return_floats(source, keep_range=bool(moves))
    moved = source
    for move in moves:
        name = move.name.removeprefix("quantized_")
        moved = SymbolNode(move.op.moves_like, name, move.attrs, [(moved, 0)])
    replaced[id(node), 0] = (moved, 0)


def _can_return_floats(node):
    """Whether a node is a layer that can return floats."""
    if node.op in _CONVOLUTIONS:
        return "other" not in node.op.arguments(node.parsed)
    return node.op is not None and "enable_float_output" in node.op.schema.by_name


def _only_reader(node, source, users):
    """Whether `node` is the only reader of `source`."""
    return {id(user) for user, *_ in users[id(source)]} == {id(node)}


def _return_floats(layer, keep_range=False):
    """Let a layer return floats."""
    if not keep_range:
        for key in _CALIBRATION:
            layer.attrs.pop(key, None)
    layer.attrs["enable_float_output"] = "True"
    layer.changed()


def _give_floats(node, users, replaced):
    """Remove the dequantize after a layer other than a convolution."""
    if node.op is not find("_contrib_dequantize"):
        return
    source = node.inputs[0][0]
    if source.op in _CONVOLUTIONS or not _can_return_floats(source):
        return
    if _only_reader(node, source, users):
        _return_floats(source)
        replaced[id(node), 0] = (source, 0)


_SWITCHED = {
    "MXNET_ONEDNN_FUSE_REQUANTIZE": _take_range,
    "MXNET_ONEDNN_FUSE_DEQUANTIZE": _give_floats,
}


def _share_ranges(order):
    """Give fused nodes whose results are concatenated their common range."""
    for node in order:
        if node.op is not find("_contrib_quantized_concat"):
            continue
        count = node.parsed.num_args
        sources = [_origin(source) for source, _ in node.inputs[:count]]
        if not all(set(_CALIBRATION) <= source.attrs.keys() for source in sources):
            continue
        ranges = [[float(source.attrs[key]) for key in _CALIBRATION] for source in sources]
        shared = min(low for low, _ in ranges), max(high for _, high in ranges)
        for source in sources:
            if source.op.in_symbols.subgraphs:
                source.attrs |= dict(zip(_CALIBRATION, map(repr, shared), strict=True))
                source.changed()


def _origin(node):
    """The node that computed an array's values and range, skipping mere moves."""
    while node.op is not None and not set(_CALIBRATION) & node.attrs.keys():
        if len(node.inputs) != 3:
            break
        node = node.inputs[0][0]
    return node
