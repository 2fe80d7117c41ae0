"""Replacement of operator chains by a backend's fused nodes.

A 2-d or 3-d convolution absorbs a following batch normalisation, then the sum with another array,
then an activation; a dense layer absorbs elementwise operators. Only the end of a chain may have
several users. See `records` for the nodes.
"""

from functools import cache

from mxcy.graph.fused.records import BODY, LAYERS
from mxcy.graph.json import dumps
from mxcy.graph.node import SymbolNode, output_name, topological
from mxcy.ops.core.record import find

__all__ = ["fuse", "users_of"]

_BATCH_NORM, _ACTIVATION = find("BatchNorm"), find("Activation")
#: activations fused into int8 layers, and further ones fused into float layers
_AMONG_8_BITS = {
    "conv": ("relu", "leaky", "gelu_erf", "gelu_tanh", "clip"),
    "dense": ("relu", "leaky", "elu", "gelu_erf", "gelu_tanh", "clip", "abs"),
}
_AMONG_FLOATS = {
    "conv": ("sigmoid", "tanh", "softrelu"),
    "dense": ("sigmoid", "tanh", "softrelu", "square", "sqrt", "exp"),
}
_ATTRIBUTES = {"bn": "with_bn", "add": "with_sum", "act": "with_act", "eltwise": "with_eltwise"}


@cache
def _sums():
    """The addition operators that a layer may absorb."""
    return find("elemwise_add"), find("_npi_add")


def users_of(order, entries):
    """Make {id of a node: [(user, position, output)]}; the user of graph outputs is None."""
    users = {id(node): [] for node in order}
    for node in order:
        for position, (source, index) in enumerate(node.inputs):
            users[id(source)].append((node, position, index))
    for source, index in entries:
        users[id(source)].append((None, 0, index))
    return users


def fuse(entries, backend, among_8_bits):
    """Replace chains by fused nodes, modifying nodes in place.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
        Entries of nodes that are not shared.
    backend : str
        Prefix of node names, a key of `LAYERS`.
    among_8_bits : bool
        Whether the layers will be quantized, which allows fewer activations.

    Returns
    -------
    list of (SymbolNode, int)
    """
    order = topological(entries)
    users = users_of(order, entries)
    counts = dict.fromkeys(LAYERS[backend], 0)
    replaced, taken = {}, set()  # id of a chain's last node -> the fused one
    for node in order:
        kind = _kind_of(node)
        if kind is None or id(node) in taken:
            continue
        chain, parts = _chain(node, kind, users, among_8_bits, taken)
        taken.update(map(id, chain))
        fused = _fused(LAYERS[backend][kind], chain, [*parts, counts[kind]])
        counts[kind] += 1
        replaced[id(chain[-1])] = fused
    for node in (*order, *replaced.values()):
        node.inputs = [(replaced.get(id(source), source), index) for source, index in node.inputs]
    return [(replaced.get(id(node), node), index) for node, index in entries]


def _kind_of(node):
    """The kind of layer with which a node can start a chain, or None."""
    layer = None if node.op is None else node.op.layer
    if layer is None or layer.filters(node.parsed):  # MXNet has no fused deconvolution
        return None
    if layer.kind == "conv" and len(node.parsed.kernel) not in (2, 3):
        return None
    return layer.kind


def _chain(layer, kind, users, among_8_bits, taken):
    """Return (nodes, roles of all but the first) of the longest chain from a layer."""
    chain, parts = [layer], []
    allowed = _AMONG_8_BITS[kind] + (() if among_8_bits else _AMONG_FLOATS[kind])

    def next_of():
        readers = users[id(chain[-1])]
        if (
            len(readers) != 1
            or readers[0][0] is None
            or readers[0][2] != 0
            or id(readers[0][0]) in taken
        ):
            return None, 0
        return readers[0][:2]

    def take(part):
        chain.append(after)
        parts.append(part)

    after, position = next_of()
    if kind == "conv":
        if after is not None and after.op is _BATCH_NORM and position == 0:
            take("bn")
            after, position = next_of()
        if after is not None and after.op in _sums():
            take("add")
            after, position = next_of()
    if after is not None and _may_follow(after, allowed, among_8_bits):
        take("act" if kind == "conv" else "eltwise")
    return chain, parts


def _may_follow(node, allowed, among_8_bits):
    """Whether a node is an activation that a layer can absorb."""
    if not among_8_bits and node.op in (find("log_sigmoid"), find("mish")):
        return True
    if node.op.epilogue is None or len(node.inputs) != 1:
        return False
    form = node.op.epilogue(node.parsed)
    if form is None:  # not an epilogue of any kernel
        kind = node.parsed.act_type if node.op is _ACTIVATION else None
        return not among_8_bits and kind in ("log_sigmoid", "mish")
    act, low, _ = form
    return act in allowed and (act != "clip" or low == 0)


def _fused(op, chain, parts):
    """Make the fused node of a chain; `parts` become part of its name."""
    copies, outer = {}, []
    for node in chain:
        inputs = list(node.inputs)
        if copies and id(inputs[0][0]) not in copies:
            inputs.reverse()  # in sums the layer's result comes first
        for place, (source, index) in enumerate(inputs):
            if id(source) in copies:
                inputs[place] = (copies[id(source)], index)
            else:
                name = f"{output_name(source, index)}{len(outer)}"
                inputs[place] = (SymbolNode(None, name), 0)
                outer.append((source, index))
        copies[id(node)] = SymbolNode(node.op, node.name, node.attrs, inputs)
    attrs = {BODY: dumps([(copies[id(chain[-1])], 0)], remove_amp_cast=False)}
    for part, before in zip(parts[:-1], (None, *parts), strict=False):
        postponed = part == "act" and before == "add"
        attrs["with_postsum_act" if postponed else _ATTRIBUTES[part]] = (
            "True" if part == "eltwise" else "true"
        )
    end = "".join(f"_{part}" for part in parts)
    return SymbolNode(op, f"{op.name[1:]}{end}", attrs, outer)
