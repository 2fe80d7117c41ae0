"""Fusion of blocked normalisations with relu of a sum, as at the end of residual blocks.

It runs after `training_layout`. Forward, the normalisation adds the other array and applies relu.
Backward, the normalisation's gradient adds up to two gradients of the output and applies relu's
mask. Controlled by MXNET_USE_FUSION.
"""

from mxcy._base.dtypes import CODES
from mxcy.graph.analysis.users import Users
from mxcy.graph.forms import adds
from mxcy.graph.rewrite import Rewrite
from mxcy.ops.core.record import find

__all__ = ["run"]

_FLOAT = CODES["float32"]
_NORM, _NORM_GRAD = find("_blocked_batch_norm"), find("_blocked_batch_norm_grad")
_FUSED, _FUSED_GRAD = find("_blocked_norm_sum"), find("_blocked_norm_sum_grad")
_RELU_GRAD = find("_activation_grad")
_NAMES = ("eps", "momentum", "fix_gamma")


def run(graph, target):
    """Fuse sums of normalisations and other arrays, and their gradients."""
    if not target.settings.get("MXNET_USE_FUSION", True):
        return graph
    if not target.has_kernel("blocked_norm_sum", _FLOAT):
        return graph
    users = Users(graph)
    forward = _sums(graph, users)
    backward = _masks(graph, users, forward)
    idle = {number for norm, _, total in forward.values() for number in (norm, total)}
    idle.update(backward.values())
    rewrite = Rewrite(graph)
    for number, node in rewrite.visit():
        if number in forward:
            norm, other, _ = forward[number]
            inputs = [*rewrite.inputs(graph.nodes[norm]), rewrite.entry(other)]
            _put(rewrite, node, norm, number, _FUSED, {}, inputs)
        elif number in backward:
            _put_gradient(rewrite, users, number, backward[number])
        elif number not in idle:
            rewrite.keep(number)
    return rewrite.finish()


def _put(rewrite, node, norm, number, op, attrs, inputs):
    """Replace a normalisation, or its gradient, and relu, or its mask, by one operator."""
    own = rewrite.graph.nodes[norm].attrs
    attrs = {**attrs, **{name: getattr(own, name) for name in _NAMES}}
    new = rewrite.add(op, attrs, inputs, node.name, node.extra)
    for index in (1, 2):
        rewrite.replace((norm, index), (new[0], index))
    is_gradient = op is _FUSED_GRAD
    if is_gradient:
        rewrite.replace((norm, 0), new)
    rewrite.replace((number, 0), (new[0], 3) if is_gradient else new)


def _put_gradient(rewrite, users, mask, norm):
    nodes = rewrite.graph.nodes
    (source, index), (total, _) = nodes[mask].inputs
    gradients = [(source, index)]
    if adds(rewrite.graph, source) and users.only(source) == mask:
        gradients = nodes[source].inputs
    first, *second = (rewrite.entry(entry) for entry in gradients)
    others = [rewrite.entry(entry) for entry in nodes[norm].inputs[1:]]
    positive = rewrite.entry((total, 0))[0], 3
    inputs = [first, *others, positive, *second]
    attrs = {"joined": bool(second)}
    _put(rewrite, nodes[mask], norm, mask, _FUSED_GRAD, attrs, inputs)


def _is_relu(node):
    return node.op.epilogue is not None and node.op.epilogue(node.attrs) == ("relu", 0.0, 0.0)


def _sums(graph, users):
    """Make {number of a relu: (number of a normalisation, entry added to it, sum)}."""
    found = {}
    for number, node in enumerate(graph.nodes):
        if not adds(graph, number) or graph.specs[number][0].dtype != _FLOAT:
            continue
        after = users.only(number)
        if after is None or not _is_relu(graph.nodes[after]):
            continue
        if graph.nodes[after].extra != node.extra:  # same placement and mirroring
            continue
        for norm, other in (node.inputs, node.inputs[::-1]):
            if norm[1] == 0 and _can_wait(graph, users, norm[0], number, after):
                found[after] = norm[0], other, number
                break
    return found


def _can_wait(graph, users, number, total, after):
    """Whether a node is a normalisation whose result only the sum reads, the others later ones."""
    node = graph.nodes[number]
    if node.op is not _NORM or node.attrs.act != "none" or node.extra != graph.nodes[total].extra:
        return False
    readers = [reader for reader, _, index in users[number] if index == 0]
    others = [reader for reader, _, index in users[number] if index != 0]
    return readers == [total] and all(reader < 0 or reader > after for reader in others)


def _masks(graph, users, sums):
    """Make {number of a fused relu's gradient: that of the normalisation's gradient it goes to}."""
    found = {}
    for number, node in enumerate(graph.nodes):
        if node.op is not _RELU_GRAD or node.attrs.act_type != "relu":
            continue
        if node.inputs[1][0] not in sums:
            continue
        for reader, position, _ in users[number]:
            after = graph.nodes[reader]
            if reader < 0 or after.op is not _NORM_GRAD or after.attrs.act != "none":
                continue
            if position == 0 and all(source < number for source, _ in after.inputs[1:]):
                found[number] = reader
                break
    return found
