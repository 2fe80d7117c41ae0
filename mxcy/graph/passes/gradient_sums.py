"""Sums of gradients in blocked training graphs: a convolution adds its data gradient to the other.

It runs after `training_layout`. The convolution reads the other array while it computes, instead
of another operator that would wait for memory. Controlled by MXNET_USE_FUSION.
"""

from mxcy.graph.analysis.users import Users
from mxcy.graph.forms import adds, refuses
from mxcy.graph.rewrite import Rewrite
from mxcy.ops.core.record import find

__all__ = ["run"]

_DATA = find("_blocked_conv_data")


def run(graph, target):
    """Fuse sums of a convolution's data gradient and another array that nothing reads later."""
    if not target.settings.get("MXNET_USE_FUSION", True):
        return graph
    users, rewrite = Users(graph), Rewrite(graph)
    fused = {}  # number of a sum -> number of the convolution's gradient, entry added to it
    for number in range(len(graph.nodes)):
        if adds(graph, number):
            pair = _pair(graph, users, target, number, {conv for conv, _ in fused.values()})
            if pair is not None:
                fused[number] = pair
    idle = {conv for conv, _ in fused.values()}
    for number, node in rewrite.visit():
        if number in fused:
            conv, other = fused[number]
            conv = graph.nodes[conv]
            inputs = [*rewrite.inputs(conv), rewrite.entry(other)]
            entry = rewrite.add(_DATA, _attrs(conv), inputs, node.name, node.extra)
            rewrite.replace((number, 0), entry)
        elif number not in idle:
            rewrite.keep(number)
    return rewrite.finish()


def _attrs(node):
    attrs = {name: getattr(node.attrs, name) for name in node.op.schema.names}
    return {**attrs, "with_sum": True}


def _pair(graph, users, target, number, taken):
    """Find a convolution's gradient among the summands; return its number and the other entry."""
    node = graph.nodes[number]
    for own, other in (node.inputs, node.inputs[::-1]):
        conv = graph.nodes[own[0]]
        if conv.op is not _DATA or users.only(own[0]) != number or conv.extra != node.extra:
            continue
        if conv.attrs.with_sum or own[0] in taken or other[0] in taken:
            continue
        readers = [reader for reader, _, index in users[other[0]] if index == other[1]]
        if not all(0 <= reader <= number for reader in readers):
            continue  # its memory cannot be reused
        ins = [graph.spec(entry) for entry in (*conv.inputs, other)]
        if not refuses(target, _DATA, _attrs(conv), ins):
            return own[0], other
    return None
