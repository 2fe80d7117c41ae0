"""Squeeze-and-excitation of blocked arrays (Hu et al., 2018) becomes one operator.

Its parts, a global average, two convolutions of single pixels, a gate and the product with the
data, wait longer for each other than they compute.
"""

from mxcy._base.dtypes import CODES
from mxcy.graph.analysis.users import Users
from mxcy.graph.planning.plan import ONCE
from mxcy.graph.rewrite import Rewrite
from mxcy.ops.core.record import find

__all__ = ["run"]

_FLOAT = CODES["float32"]
_PRODUCT, _CONV, _POOLING = find("broadcast_mul"), find("_sg_onednn_conv"), find("_blocked_pooling")
_PACK, _HARD_SIGMOID = find("_pack_conv_weight"), find("hard_sigmoid")
_MOVES = (find("Reshape"), find("_to_blocked"), find("_from_blocked"))


def run(graph, target):
    """Replace the blocks on arrays in the target's layout."""
    if not target.block or not target.has_kernel("blocked_excitation", _FLOAT):
        return graph
    walk = _Walk(graph, target.block)
    blocks = {number: walk.around(node) for number, node in enumerate(graph.nodes)}
    if not any(blocks.values()):
        return graph
    rewrite, moved = Rewrite(graph), _Weights(graph, target.block)
    for number, node in rewrite.visit():
        block = blocks[number]
        if block is not None:
            rewrite.replace((number, 0), _emit(rewrite, moved, node.name, *block))
        else:
            rewrite.keep(number)
    return rewrite.finish()


class _Walk:
    """Steps from a product back to the array that its gates are computed from."""

    def __init__(self, graph, block):
        self._graph, self._block, self._users = graph, block, Users(graph)

    def around(self, product):
        """Return (data, squeezing convolution, exciting one, hard sigmoid or None), or None.

        `product` is any node, as are the results except `data`.
        """
        if product.op is not _PRODUCT:
            return None
        left, right = product.inputs
        return self._before(left, right) or self._before(right, left)

    def _before(self, data, gates):
        spec, nodes = self._graph.spec(data), self._graph.nodes
        if not spec.known or spec.dtype != _FLOAT or not spec.size:
            return None
        if spec.ndim < 4 or spec.shape[-1] != self._block:
            return None
        last = self._inner(gates)
        hard = last if last is not None and last.op is _HARD_SIGMOID else None
        excite = last if hard is None else self._inner(hard.inputs[0])
        act = "sigmoid" if hard is None else "none"
        if not self._is_layer(excite) or excite.attrs.act != act:
            return None
        squeeze = self._unmoved(excite.inputs[0])
        if not self._is_layer(squeeze):
            return None
        pooling = self._unmoved(squeeze.inputs[0])
        if pooling is None or pooling.inputs[0] != data or not _is_mean(pooling, spec.shape[2:-1]):
            return None
        channels = spec.shape[1] * self._block
        weights = (nodes[layer.inputs[1][0]].inputs[0] for layer in (squeeze, excite))
        reduced, expanded = (self._graph.spec(weight).shape for weight in weights)
        # With these numbers of channels, the layers' data have a single pixel.
        if reduced[1] != channels or expanded[:2] != (channels, reduced[0]):
            return None
        return data, squeeze, excite, hard

    def _inner(self, entry):
        """The node that computes an entry, if it has no other reader."""
        node = self._graph.nodes[entry[0]]
        return None if node.op is None or self._users.only(entry[0]) is None else node

    def _unmoved(self, entry):
        """The same, or the node before those that only change the shape of single pixels."""
        node = self._inner(entry)
        while node is not None and node.op in _MOVES:
            if self._graph.spec(node.inputs[0]).shape[0] != self._graph.spec(entry).shape[0]:
                return None
            entry = node.inputs[0]
            node = self._inner(entry)
        return node

    def _is_layer(self, node):
        """Whether a node is a dense layer of single pixels with constant weights and a bias."""
        if node is None or node.op is not _CONV:
            return False
        a, pack = node.attrs, self._graph.nodes[node.inputs[1][0]]
        plain = a.num_group == 1 and a.before == "none" and not (a.no_bias or a.with_sum)
        pixels = {1}.issuperset(a.kernel) and not any(a.pad)
        return plain and pixels and pack.op is _PACK and ONCE in pack.extra


def _is_mean(node, extents):
    """Whether a node averages whole images."""
    a = node.attrs
    whole = a.global_pool or (a.kernel == extents and not any(a.pad))
    return node.op is _POOLING and a.pool_type == "avg" and whole


class _Weights:
    """The weights of the layers as the operator takes them; portions of a batch share them."""

    def __init__(self, graph, block):
        self._graph, self._block, self._moved = graph, block, {}

    def squeeze(self, rewrite, layer):
        """The weights of the first layer, one row for each channel."""
        return self._once(rewrite, layer, self._transposed)

    def excite(self, rewrite, layer):
        """The weights of the second layer, blocked."""
        return self._once(rewrite, layer, self._blocked)

    def _once(self, rewrite, layer, move):
        weight = self._graph.nodes[layer.inputs[1][0]].inputs[0]
        if weight not in self._moved:
            shape = self._graph.spec(weight).shape[:2]
            self._moved[weight] = move(rewrite, rewrite.entry(weight), *shape)
        return self._moved[weight]

    def _transposed(self, rewrite, weight, hidden, channels):
        matrix = _add(rewrite, "Reshape", weight, shape=(hidden, channels))
        return _add(rewrite, "transpose", matrix, axes=(1, 0))

    def _blocked(self, rewrite, weight, channels, hidden):
        matrix = _add(rewrite, "Reshape", weight, shape=(1, channels, hidden))
        rows = _add(rewrite, "_to_blocked", matrix, block=self._block)
        shape = (channels // self._block, hidden, self._block)
        return _add(rewrite, "Reshape", rows, shape=shape)


def _add(rewrite, op, entry, **attrs):
    return rewrite.add(op, attrs, [entry], None, {ONCE: ""})


def _emit(rewrite, moved, name, data, squeeze, excite, hard):
    """Append the operator; return its entry."""
    a = squeeze.attrs
    attrs = {"act": a.act, "alpha": a.alpha, "beta": a.beta, "hard": hard is not None}
    if hard is not None:
        attrs |= {"gate_alpha": hard.attrs.alpha, "gate_beta": hard.attrs.beta}
    inputs = [
        rewrite.entry(data),
        moved.squeeze(rewrite, squeeze),
        rewrite.entry(squeeze.inputs[2]),
        moved.excite(rewrite, excite),
        rewrite.entry(excite.inputs[2]),
    ]
    return rewrite.add("_blocked_excitation", attrs, inputs, name)
