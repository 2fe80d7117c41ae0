"""Fusion of convolutions, deconvolutions and dense layers with subsequent operators.

A (de)convolution absorbs, in this order: a batch normalisation (folded into weights and bias), an
addition of another array, and an activation; a dense layer the last two. Activations may be
products of their argument and a sigmoid of it. Only the end of such a chain may have several users.
The fused operators are `_sg_onednn_conv`, `_sg_onednn_deconv` and `_sg_onednn_fully_connected`.
"""

from functools import cache

from mxcy._base.dtypes import CODES
from mxcy.graph.algorithm import TUNE
from mxcy.graph.analysis.casts import CASTS
from mxcy.graph.analysis.users import Users
from mxcy.graph.planning.plan import ONCE
from mxcy.graph.rewrite import Rewrite
from mxcy.ops.core.record import REGISTRY, find

__all__ = ["run", "unfused"]

_FLOAT, _BFLOAT = CODES["float32"], CODES["bfloat16"]
_BATCH_NORM = find("BatchNorm")
#: kind of layer -> part -> setting that disables its fusion; other parts are never fused
_SWITCHES = {
    "conv": {
        "layer": "MXNET_DISABLE_ONEDNN_CONV_OPT",
        "norm": "MXNET_DISABLE_ONEDNN_FUSE_CONV_BN",
        "sum": "MXNET_DISABLE_ONEDNN_FUSE_CONV_SUM",
        "act": "MXNET_DISABLE_ONEDNN_FUSE_CONV_RELU",
    },
    "dense": {
        "layer": "MXNET_DISABLE_ONEDNN_FC_OPT",
        "sum": "MXNET_DISABLE_ONEDNN_FC_SUM",
        "act": "MXNET_DISABLE_ONEDNN_FUSE_FC_ELTWISE",
    },
}
_SUM, _BROADCAST_SUM = find("elemwise_add"), find("broadcast_add")
_HARD_SIGMOID = find("hard_sigmoid")


@cache
def _products():
    """The multiplication operators that a layer may absorb."""
    return find("elemwise_mul"), find("broadcast_mul"), find("_npi_multiply")


class _Chain:
    """A layer and the operators it absorbs, as node numbers."""

    def __init__(self, layer):
        self.layer, self.norm, self.sum, self.other = layer, None, None, None
        self.act, self.gate, self.epilogue = None, None, ("none", 0.0, 0.0)
        self.last, self.casts = layer, []

    def after(self):
        """The operators after the layer, some of them None."""
        return self.norm, self.sum, self.gate, self.act


def run(graph, target):
    """Fuse as far as the settings allow."""
    chains = _find_chains(graph, target.settings)
    if not chains:
        return graph
    ends = {chain.last: chain for chain in chains}
    inner = {
        number
        for chain in chains
        for number in (chain.layer, *chain.after())
        if number is not None and number != chain.last
    }
    widened = {cast: chain.last for chain in chains for cast in chain.casts}
    rewrite = Rewrite(graph)
    for number, _ in rewrite.visit():
        if number in ends:
            rewrite.replace((number, 0), _fuse(rewrite, graph, ends[number]))
        elif number in widened:
            rewrite.replace((number, 0), rewrite.entry((widened[number], 0)))
        elif number not in inner:
            rewrite.keep(number)
    return rewrite.finish()


def _find_chains(graph, settings):
    users = Users(graph)
    taken: set = set()
    chains = []

    def next_of(number):
        """The only reader of a node's result, unless another layer absorbed it."""
        after = users.only(number)
        return None if after in taken else after

    for number, node in enumerate(graph.nodes):
        if not _is_layer(graph, number):
            continue
        switches = _SWITCHES[node.op.layer.kind]
        allowed = {part for part, name in switches.items() if not settings[name]}
        if "layer" not in allowed:
            continue
        chain = _Chain(number)
        after = next_of(number)
        if after is not None and "norm" in allowed and _is_norm(graph, after, number):
            chain.norm = chain.last = after
            after = next_of(after)
        if after is not None and "sum" in allowed and _is_sum(graph, after):
            lhs, rhs = graph.nodes[after].inputs
            chain.other = rhs if lhs[0] == chain.last else lhs
            if chain.other[0] != chain.last:
                chain.sum = chain.last = after
                after = next_of(after)
            else:
                after = None
        if "act" in allowed:
            gate, act, epilogue = _activation(graph, users, chain.last, after)
            if act is not None and not {gate, act} & taken:
                chain.gate, chain.act, chain.last, chain.epilogue = gate, act, act, epilogue
        if chain.sum is None and node.op.layer.kind == "dense":
            chain.casts = _widening_casts(graph, users, chain.last)
        taken.update(n for n in chain.after() if n is not None)
        chains.append(chain)
    return chains


def _widening_casts(graph, users, number):
    """The casts to float32, if they are the only readers of a bfloat16 result; else none."""
    if graph.specs[number][0].dtype != _BFLOAT:
        return []
    readers = [user for user, _, _ in users[number]]
    widening = all(
        user >= 0 and graph.nodes[user].op in CASTS and graph.specs[user][0].dtype == _FLOAT
        for user in readers
    )
    return readers if widening else []


def _is_layer(graph, number):
    node = graph.nodes[number]
    if node.op is None or node.op.layer is None:
        return False
    kinds = (None, _FLOAT, _BFLOAT) if node.op.layer.bfloat16 else (None, _FLOAT)
    if graph.specs[number][0].dtype not in kinds:
        return False
    return getattr(node.attrs, "layout", None) in (None, "NCW", "NCHW", "NCDHW")


def _is_norm(graph, number, source):
    """Whether a node is a channelwise batch normalisation of `source` by running statistics."""
    node = graph.nodes[number]
    if node.op is not _BATCH_NORM or node.inputs[0] != (source, 0):
        return False
    a = node.attrs
    return (not a.train or a.use_global_stats) and a.axis == 1 and not a.output_mean_var


def _is_sum(graph, number):
    node = graph.nodes[number]
    if node.op not in (_SUM, _BROADCAST_SUM):
        return False
    lhs, rhs = (graph.spec(entry) for entry in node.inputs)
    if lhs.shape is None or rhs.shape is None:  # symbols may be rewritten before shape inference
        return node.op is _SUM
    return lhs == rhs


def _epilogue(node):
    """Return (act, alpha, beta) of an activation supported as an epilogue, or None."""
    return None if node.op.epilogue is None else node.op.epilogue(node.attrs)


def _activation(graph, users, number, after):
    """Return (gate, activation, epilogue) after a node, or three times None.

    `after` is the node's only reader or None; a gate is a sigmoid multiplied by its argument, which
    has no other reader.
    """
    if after is not None:
        epilogue = _epilogue(graph.nodes[after])
        return (None, None, None) if epilogue is None else (None, after, epilogue)
    readers = sorted({user for user, _, _ in users[number]})
    if len(readers) != 2 or readers[0] < 0 or graph.specs[number][0].dtype != _FLOAT:
        return None, None, None
    gate, product = readers
    operands = sorted(graph.nodes[product].inputs)
    gated = users.only(gate) == product and operands == [(number, 0), (gate, 0)]
    same = graph.specs[number][0] == graph.specs[product][0]
    epilogue = _gated(graph.nodes[gate])
    if graph.nodes[product].op not in _products() or not gated or not same or epilogue is None:
        return None, None, None
    return gate, product, epilogue


def _gated(node):
    """The epilogue for the product of a sigmoid and its argument, or None."""
    if node.op is _HARD_SIGMOID:
        return "hard_swish", node.attrs.alpha, node.attrs.beta
    return ("swish", 0.0, 0.0) if _epilogue(node) == ("sigmoid", 0.0, 0.0) else None


def _fuse(rewrite, graph, chain):
    """Append the fused node of a chain; return its entry."""
    layer = graph.nodes[chain.layer]
    attrs = {name: getattr(layer.attrs, name) for name in layer.op.layer.shared}
    data, *parameters = rewrite.inputs(layer)
    parameters = [_wide(rewrite, entry) for entry in parameters]
    if chain.norm is not None:
        parameters = _fold(rewrite, graph, chain, layer, parameters)
        attrs["no_bias"] = False
    if chain.sum is not None:
        parameters.append(rewrite.entry(chain.other))
        attrs["with_sum"] = True
    if chain.act is not None:
        attrs["act"], attrs["alpha"], attrs["beta"] = chain.epilogue
    if chain.casts:
        attrs["wide"] = True
    name = graph.nodes[chain.last].name
    tune = getattr(layer.attrs, "cudnn_tune", None)
    return rewrite.add(
        layer.op.layer.fused, attrs, [data, *parameters], name, {TUNE: tune} if tune else None
    )


def _fold(rewrite, graph, chain, layer, parameters):
    """Fold the batch normalisation into a layer's weight and bias."""
    norm = graph.nodes[chain.norm]
    attrs = {"eps": norm.attrs.eps, "fix_gamma": norm.attrs.fix_gamma}
    attrs["no_bias"] = layer.attrs.no_bias
    attrs.update(layer.op.layer.filters(layer.attrs))
    statistics = [rewrite.entry(entry) for entry in norm.inputs[1:]]
    nodes = [rewrite.node(entry) for entry in (*parameters, *statistics)]
    constant = all(node.op is None or ONCE in node.extra for node in nodes)
    extra = {ONCE: ""} if constant else None
    number, _ = rewrite.add(
        "_fold_batch_norm", attrs, [*parameters, *statistics], f"{layer.name}_folded", extra
    )
    return [(number, 0), (number, 1)]


def _wide(rewrite, entry):
    """Cast a parameter to float32, which fused layers require with bfloat16 data."""
    if rewrite.spec(entry).dtype != _BFLOAT:
        return entry
    node = rewrite.node(entry)
    if node.op in CASTS and rewrite.spec(node.inputs[0]).dtype == _FLOAT:
        return node.inputs[0]  # packing rounds it anyway
    extra = {ONCE: ""} if node.op is None else None
    return rewrite.add("Cast", {"dtype": "float32"}, [entry], None, extra)


def _narrow(rewrite, entry):
    """Undo `_wide`: a parameter for the unfused layer."""
    node = rewrite.node(entry)
    extra = {ONCE: ""} if node.op is None or ONCE in node.extra else None
    return rewrite.add("Cast", {"dtype": "bfloat16"}, [entry], None, extra)


def unfused(rewrite, node, inputs):
    """Append the operators that a fused one represents; return the last one's entry.

    For layers that no kernel supports as a whole.
    """
    a, layer = node.attrs, _layers()[node.op.name]
    count = 2 if a.no_bias else 3
    attrs = {name: getattr(a, name) for name in layer.layer.shared}
    own = inputs[:count]
    if rewrite.spec(inputs[0]).dtype == _BFLOAT:
        own[1:] = [_narrow(rewrite, entry) for entry in own[1:]]
    last = rewrite.add(layer, attrs, own, node.name)
    if a.with_sum:
        last = rewrite.add(_SUM, {}, [last, inputs[count]], f"{node.name}_sum")
    if a.act in ("swish", "hard_swish"):
        hard = a.act == "hard_swish"
        op, attrs = (_HARD_SIGMOID, {"alpha": a.alpha, "beta": a.beta}) if hard else ("sigmoid", {})
        gate = rewrite.add(op, attrs, [last], f"{node.name}_gate")
        last = rewrite.add("elemwise_mul", {}, [last, gate], f"{node.name}_{a.act}")
    elif a.act != "none":
        op, attrs = _separate(a)
        last = rewrite.add(op, attrs, [last], f"{node.name}_{a.act}")
    if getattr(a, "wide", False):
        last = rewrite.add("Cast", {"dtype": "float32"}, [last], f"{node.name}_wide")
    return last


@cache
def _layers():
    """Make {name of a fused operator: record of its layer}."""
    return {op.layer.fused: op for op in REGISTRY.values() if op.layer is not None}


def _separate(a):
    """Return the operator and attributes of a fused layer's activation."""
    if a.act == "softrelu":
        return "Activation", {"act_type": "softrelu"}
    if a.act in ("leaky", "elu"):
        return "LeakyReLU", {"act_type": a.act, "slope": a.alpha}
    if a.act in ("gelu_erf", "gelu_tanh"):
        return "LeakyReLU", {"act_type": a.act.removesuffix("_erf")}
    if a.act == "clip":
        return "clip", {"a_min": a.alpha, "a_max": a.beta}
    return a.act, {}
