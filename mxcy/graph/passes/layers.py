"""Fuse convolutions, deconvolutions and dense layers with what follows them.

A convolution or deconvolution takes in, in this order: the batch normalisation after it (folded
into weights and bias), an addition of another array, and an activation; a dense layer the last two.
Only the end of such a chain may have several users. The fused operators are `_sg_onednn_conv`,
`_sg_onednn_deconv` and `_sg_onednn_fully_connected`.
"""

from mxcy.dtypes import CODES
from mxcy.graph.algorithm import TUNE
from mxcy.graph.plan import ONCE
from mxcy.graph.rewrite import Rewrite
from mxcy.ops.fused_layer import ACTIVATIONS

__all__ = ["run", "unfused"]

_FLOAT = CODES["float32"]
_CONV = ("kernel", "stride", "dilate", "pad", "num_filter", "num_group", "no_bias")
#: layer -> (fused operator, attributes that both have)
_LAYERS = {
    "Convolution": ("_sg_onednn_conv", _CONV),
    "Deconvolution": ("_sg_onednn_deconv", (*_CONV, "adj", "target_shape")),
    "FullyConnected": ("_sg_onednn_fully_connected", ("num_hidden", "no_bias", "flatten")),
}
_CONVS = ("Convolution", "Deconvolution")
_SUMS = ("elemwise_add", "broadcast_add", "_grad_add")


class _Chain:
    """A layer and what it takes in: node numbers."""

    def __init__(self, layer):
        self.layer, self.norm, self.sum, self.other, self.act = layer, None, None, None, None
        self.last = layer


def run(graph, target):
    """Fuse what the settings allow."""
    allowed = _allowed(target.settings)
    chains = _find_chains(graph, allowed)
    if not chains:
        return graph
    ends = {chain.last: chain for chain in chains}
    inner = {
        number
        for chain in chains
        for number in (chain.layer, chain.norm, chain.sum, chain.act)
        if number is not None and number != chain.last
    }
    made = Rewrite(graph)
    for number in range(len(graph.nodes)):
        if number in ends:
            made.replace((number, 0), _fuse(made, graph, ends[number]))
        elif number not in inner:
            made.keep(number)
    return made.finish()


def _allowed(settings):
    """Which parts may be fused, as the switches MXNET_DISABLE_ONEDNN_* say."""

    def on(name):
        return not settings[name]

    conv = {
        "layer": on("MXNET_DISABLE_ONEDNN_CONV_OPT"),
        "norm": on("MXNET_DISABLE_ONEDNN_FUSE_CONV_BN"),
        "sum": on("MXNET_DISABLE_ONEDNN_FUSE_CONV_SUM"),
        "act": on("MXNET_DISABLE_ONEDNN_FUSE_CONV_RELU"),
    }
    return {
        **{(kind, part): on for kind in _CONVS for part, on in conv.items()},
        ("FullyConnected", "layer"): on("MXNET_DISABLE_ONEDNN_FC_OPT"),
        ("FullyConnected", "norm"): False,
        ("FullyConnected", "sum"): on("MXNET_DISABLE_ONEDNN_FC_SUM"),
        ("FullyConnected", "act"): on("MXNET_DISABLE_ONEDNN_FUSE_FC_ELTWISE"),
    }


def _find_chains(graph, allowed):
    users = graph.users()
    taken: set = set()
    chains = []

    def only_user(number):
        """The node that alone uses output 0 of a node, and no other output is used; or None."""
        found = users[number]
        if len(found) == 1 and found[0][0] >= 0 and found[0][2] == 0:
            return found[0][0] if found[0][0] not in taken else None
        return None

    for number, node in enumerate(graph.nodes):
        if node.op is None or not _is_layer(graph, number):
            continue
        kind = node.op.name
        if not allowed[kind, "layer"]:
            continue
        chain = _Chain(number)
        after = only_user(number)
        if after is not None and allowed[kind, "norm"] and _is_norm(graph, after, number):
            chain.norm = chain.last = after
            after = only_user(after)
        if after is not None and allowed[kind, "sum"] and _is_sum(graph, after):
            lhs, rhs = graph.nodes[after].inputs
            chain.other = rhs if lhs[0] == chain.last else lhs
            if chain.other[0] != chain.last:
                chain.sum = chain.last = after
                after = only_user(after)
            else:
                after = None
        if after is not None and allowed[kind, "act"] and _epilogue(graph, after) is not None:
            chain.act = chain.last = after
        taken.update(n for n in (chain.norm, chain.sum, chain.act) if n is not None)
        chains.append(chain)
    return chains


def _is_layer(graph, number):
    node = graph.nodes[number]
    if node.op.name not in _LAYERS or graph.specs[number][0].dtype not in (None, _FLOAT):
        return False
    return getattr(node.attrs, "layout", None) in (None, "NCW", "NCHW", "NCDHW")


def _is_norm(graph, number, source):
    """Whether a node is a batch normalisation of the channels of `source` by running statistics."""
    node = graph.nodes[number]
    if node.op.name != "BatchNorm" or node.inputs[0] != (source, 0):
        return False
    a = node.attrs
    return (not a.train or a.use_global_stats) and a.axis == 1 and not a.output_mean_var


def _is_sum(graph, number):
    node = graph.nodes[number]
    if node.op.name not in _SUMS:
        return False
    lhs, rhs = (graph.spec(entry) for entry in node.inputs)
    if lhs.shape is None or rhs.shape is None:  # symbols may be rewritten before shapes are known
        return node.op.name == "elemwise_add"
    return lhs == rhs


def _epilogue(graph, number):
    """(act, alpha, beta) of an activation that kernels can apply on the way out, or None."""
    op = graph.nodes[number].op
    if op.epilogue is not None:
        return op.epilogue(graph.nodes[number].attrs)
    return (op.name, 0.0, 0.0) if op.name in ACTIVATIONS and not op.schema.fields else None


def _fuse(made, graph, chain):
    """Append the fused node of a chain; returns its entry."""
    layer = graph.nodes[chain.layer]
    fused, shared = _LAYERS[layer.op.name]
    attrs = {name: getattr(layer.attrs, name) for name in shared}
    data, *parameters = made.inputs(layer)
    if chain.norm is not None:
        parameters = _fold(made, graph, chain, layer, parameters)
        attrs["no_bias"] = False
    if chain.sum is not None:
        parameters.append(made.entry(chain.other))
        attrs["with_sum"] = True
    if chain.act is not None:
        attrs["act"], attrs["alpha"], attrs["beta"] = _epilogue(graph, chain.act)
    name = graph.nodes[chain.last].name
    tune = getattr(layer.attrs, "cudnn_tune", None)
    return made.add(fused, attrs, [data, *parameters], name, {TUNE: tune} if tune else None)


def _fold(made, graph, chain, layer, parameters):
    """Weight and bias of a layer that does its batch normalisation as well."""
    norm = graph.nodes[chain.norm]
    attrs = {"eps": norm.attrs.eps, "fix_gamma": norm.attrs.fix_gamma}
    attrs["no_bias"] = layer.attrs.no_bias
    if layer.op.name == "Deconvolution":  # its weight is (channels, filters of a group, kernel...)
        attrs.update(axis=1, num_group=layer.attrs.num_group)
    statistics = [made.entry(entry) for entry in norm.inputs[1:]]
    sources = [*layer.inputs[1:], *norm.inputs[1:]]
    constant = all(graph.nodes[number].op is None for number, _ in sources)
    extra = {ONCE: ""} if constant else None
    number, _ = made.add(
        "_fold_batch_norm", attrs, [*parameters, *statistics], f"{layer.name}_folded", extra
    )
    return [(number, 0), (number, 1)]


def unfused(made, node, inputs):
    """Append the operators that a fused one stands for, over new entries; returns the last's entry.

    For layers that no kernel takes as a whole.
    """
    a = node.attrs
    layer, (_, shared) = next(item for item in _LAYERS.items() if item[1][0] == node.op.name)
    count = 2 if a.no_bias else 3
    found = made.add(layer, {name: getattr(a, name) for name in shared}, inputs[:count], node.name)
    if a.with_sum:
        found = made.add("elemwise_add", {}, [found, inputs[count]], f"{node.name}_sum")
    if a.act != "none":
        op, attrs = _separate(a)
        found = made.add(op, attrs, [found], f"{node.name}_{a.act}")
    return found


def _separate(a):
    """The operator and attributes of a fused layer's activation."""
    if a.act == "softrelu":
        return "Activation", {"act_type": "softrelu"}
    if a.act in ("leaky", "elu"):
        return "LeakyReLU", {"act_type": a.act, "slope": a.alpha}
    if a.act == "gelu_erf":
        return "LeakyReLU", {"act_type": "gelu"}
    if a.act == "clip":
        return "clip", {"a_min": a.alpha, "a_max": a.beta}
    return a.act, {}
