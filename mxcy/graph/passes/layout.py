"""Blocked layouts, kernel selection and weight packing for fused layers.

(De)convolutions read and write blocked arrays if the number of channels allows. Operators between
them stay blocked as far as possible; conversions are inserted only where necessary, once per array.
If a graph has bfloat16 convolutions and the CPU has AMX, a block is all channels of an array, which
makes it channels-last.
"""

import math

from mxcy._base.dtypes import CODES
from mxcy.graph.algorithm import TILES, TUNE, choose_conv, choose_deconv, choose_dense
from mxcy.graph.forms import Forms, elementwise, on_blocked
from mxcy.graph.passes.layers import unfused
from mxcy.graph.planning.plan import ONCE

__all__ = ["run"]

_FLOAT, _BFLOAT = CODES["float32"], CODES["bfloat16"]

#: operator name -> function(layout, number) that returns whether it handled the node
_BLOCKED: dict = {}


def _blocked(name):
    def enter(function):
        _BLOCKED[name] = function
        return function

    return enter


def run(graph, target):
    """Choose the layout of every node."""
    layout = _Layout(graph, target)
    for number, node in layout.visit():
        if layout.is_blocked((number, 0)):
            continue  # fused into its input
        place = None
        if node.op is not None:
            place = _BLOCKED.get(node.op.name)
            if place is None and node.op.pointwise(node.attrs):
                place = elementwise
        if place is None or not place(layout, number):
            layout.keep(number)
    return layout.rewrite.finish()


class _Layout(Forms):
    """Forms of an inference graph's entries, with weight packing."""

    def __init__(self, graph, target):
        last = bool(target.block) and _is_narrow(graph) and target.has_kernel(TILES, _BFLOAT)
        super().__init__(graph, target, last)
        self._packed = {}  # portions of a batch share their weights

    def once(self, sources, choice=None, *more):
        """The `extra` of a node that depends on old entries, if it should run once.

        Nodes that pack the same weights in the layout of the same `choice` are equal.
        """
        nodes = self.graph.nodes
        if not all(nodes[n].op is None or ONCE in nodes[n].extra for n, _ in sources):
            return None
        if choice is None:
            return {ONCE: ""}
        return {ONCE: f"{choice.algo} {choice.format} {choice.packed} {more}"}

    def pack(self, op, form, weight, name, choice):
        """The weights of a convolution, an old entry, packed for a form and a kernel."""
        key = op, weight, tuple(form.items())
        if key not in self._packed:
            extra = self.once([weight], choice, form["in_block"])
            self._packed[key] = self.rewrite.add(op, form, [self.plain(weight)], name, extra)
        return self._packed[key]


def _is_narrow(graph):
    """Whether there are fused bfloat16 convolutions."""
    return any(
        node.op is not None
        and node.op.name == "_sg_onednn_conv"
        and graph.spec(node.inputs[0]).dtype == _BFLOAT
        for node in graph.nodes
    )


def _attrs(node):
    """The attributes of a node as a dict."""
    return {name: getattr(node.attrs, name) for name in node.op.schema.names}


#: fused operator -> (kernel selection, operator that packs its weights)
_CONVS = {
    "_sg_onednn_conv": (choose_conv, "_pack_conv_weight"),
    "_sg_onednn_deconv": (choose_deconv, "_pack_deconv_weight"),
}


@_blocked("_sg_onednn_conv")
def _conv(layout, number):
    graph = layout.graph
    data = graph.nodes[number].inputs[0]
    wide_in, wide_out = layout.can_block(data), layout.can_block((number, 0))
    if layout.last and not layout.is_blocked(data):  # the kernel handles few channels itself
        wide_in = wide_in and graph.spec(data).shape[1] % layout.target.block == 0
    block_in, block_out = layout.block(data), layout.block((number, 0))
    forms = [(block_in, block_out, "none")] if wide_in and wide_out else []
    forms += [(0, block_out, "none")] if wide_out else []
    bfloat16 = graph.spec(data).dtype == _BFLOAT  # bfloat16 kernels reorder other forms themselves
    forms += [(block_in, 0, "none")] if wide_in and bfloat16 else []
    forms += [(0, 0, "none")]
    norm = _norm_before(layout, data) if wide_in and wide_out else None
    if norm is not None:
        forms.insert(0, (block_in, block_out, "scale_relu" if norm.attrs.relu else "scale"))
    keys = ("in_block", "out_block", "before")
    return _place_conv(layout, number, [dict(zip(keys, form, strict=True)) for form in forms], norm)


@_blocked("_sg_onednn_deconv")
def _deconv(layout, number):
    """Kernels accept any form: keep that of the data, return what readers prefer."""
    nodes, data = layout.graph.nodes, layout.graph.nodes[number].inputs[0]
    liked = layout.can_block((number, 0)) and any(
        user >= 0 and nodes[user].op.name in _BLOCKED for user, _, _ in layout.users[number]
    )
    form = {
        "in_block": layout.block(data) if layout.is_blocked(data) else 0,
        "out_block": layout.block((number, 0)) if liked else 0,
    }
    return _place_conv(layout, number, [form])


def _place_conv(layout, number, forms, norm=None):
    """Place a fused layer in the first form a kernel supports, or its original operators.

    A form is a set of attributes; `norm` is the normalisation absorbed by those with `before`.
    """
    graph, rewrite = layout.graph, layout.rewrite
    node = graph.nodes[number]
    if node.attrs.in_block or node.attrs.out_block or node.attrs.algo:
        return False  # its form is already fixed
    choose, pack = _CONVS[node.op.name]
    data, weight, *extras = node.inputs
    shape = graph.spec(data).shape
    for form in forms:
        attrs = {**_attrs(node), "channels": shape[1], **form}
        specs = _specs(layout, node, attrs)
        choice = choose(layout.target, attrs, specs, node.extra.get(TUNE), layout.last)
        if choice is not None:
            break
    else:
        rewrite.replace((number, 0), unfused(rewrite, node, [layout.plain(e) for e in node.inputs]))
        layout.put(number, rewrite.entry((number, 0)), False)
        return True
    attrs.update(algo=choice.algo, tile=choice.tile, packed=choice.packed)
    form = {**attrs, "batch": shape[0], "source": shape[2:]}
    packed = layout.pack(pack, form, weight, f"{node.name}_packed", choice)
    if attrs.get("before", "none") != "none":
        source, *vectors = norm.inputs
    else:
        source, vectors = layout.blocked(data) if attrs["in_block"] else layout.plain(data), []
    inputs = [source, packed]
    if not attrs["no_bias"]:
        inputs.append(layout.plain(extras[0]))
    inputs += vectors
    if attrs["with_sum"]:
        other = extras[-1]
        inputs.append(layout.blocked(other) if attrs["out_block"] else layout.plain(other))
    layout.put(number, rewrite.add(node.op, attrs, inputs, node.name), bool(attrs["out_block"]))
    return True


def _specs(layout, node, attrs):
    """The input specs of a fused layer in the forms specified by its attributes."""
    specs = [layout.graph.spec(entry) for entry in node.inputs]
    if attrs["in_block"]:
        specs[0] = _blocked_spec(specs[0], attrs["in_block"])
    if attrs["with_sum"] and attrs["out_block"]:
        specs[-1] = _blocked_spec(specs[-1], attrs["out_block"])
    if attrs.get("before", "none") != "none":
        vector = type(specs[0])((attrs["channels"],), specs[0].dtype)
        place = len(specs) - attrs["with_sum"]
        specs[place:place] = [vector, vector]
    return specs


def _norm_before(layout, entry):
    """The `_blocked_scale_shift` that computes an old entry, if all readers can absorb it.

    These are 1x1 convolutions: others gain more from algorithms without this option.
    """
    if not layout.is_blocked(entry):
        return None
    node = layout.rewrite.node(layout.blocked(entry))
    if node.op.name != "_blocked_scale_shift":
        return None
    nodes = layout.graph.nodes
    for user, position, _ in layout.users[entry[0]]:
        if user < 0 or position != 0 or nodes[user].op.name != "_sg_onednn_conv":
            return None
        a = nodes[user].attrs
        if math.prod(a.kernel) != 1 or a.num_group != 1 or not layout.can_block((user, 0)):
            return None
    return node


def _blocked_spec(spec, block):
    batch, channels, *spatial = spec.shape
    return type(spec)((batch, channels // block, *spatial, block), spec.dtype)


@_blocked("_sg_onednn_fully_connected")
def _dense(layout, number):
    graph, rewrite = layout.graph, layout.rewrite
    node = graph.nodes[number]
    attrs = _attrs(node)
    specs = [graph.spec(entry) for entry in node.inputs]
    inputs = [layout.plain(entry) for entry in node.inputs]
    choice = choose_dense(layout.target, attrs, specs)
    if choice is None:
        layout.put(number, unfused(rewrite, node, inputs), False)
        return True
    attrs.update(algo=choice.algo, tile=choice.tile, packed=choice.packed)
    rows = graph.spec((number, 0)).size // attrs["num_hidden"]
    inputs[1] = rewrite.add(
        "_pack_fc_weight",
        {**attrs, "batch": rows},
        [inputs[1]],
        f"{node.name}_packed",
        layout.once([node.inputs[1]], choice),
    )
    layout.put(number, rewrite.add("_sg_onednn_fully_connected", attrs, inputs, node.name), False)
    return True


@_blocked("Concat")
def _concat(layout, number):
    node = layout.graph.nodes[number]
    if node.attrs.dim not in (0, 1) or not all(layout.can_block(entry) for entry in node.inputs):
        return False
    if layout.last:
        if not any(layout.is_blocked(entry) for entry in node.inputs):
            return False
        inputs = [layout.blocked(entry) for entry in node.inputs]
        attrs = {**_attrs(node), "dim": -1 if node.attrs.dim else 0}
        layout.put(number, layout.rewrite.add(node.op, attrs, inputs, node.name, node.extra), True)
        return True
    return on_blocked(layout, number)


@_blocked("broadcast_mul")
@_blocked("broadcast_add")
def _broadcast(layout, number):
    """Broadcast between arrays with equal channels, one of which may be a single pixel."""
    graph = layout.graph
    channels = {graph.spec(entry).shape[1:2] for entry in graph.nodes[number].inputs}
    ranks = {len(graph.spec(entry).shape) for entry in graph.nodes[number].inputs}
    if len(channels) > 1 or len(ranks) > 1:
        return False
    if not all(layout.can_block(entry) for entry in graph.nodes[number].inputs):
        return False
    return on_blocked(layout, number)


@_blocked("Pooling")
def _pooling(layout, number):
    node = layout.graph.nodes[number]
    source = node.inputs[0]
    if not layout.is_blocked(source) or node.attrs.layout not in (None, "NCW", "NCHW", "NCDHW"):
        return False
    simple = node.attrs.pool_type in ("max", "avg") and node.attrs.pooling_convention == "valid"
    if layout.graph.spec(source).dtype != _FLOAT and not simple:
        return False
    attrs = {name: value for name, value in _attrs(node).items() if name != "layout"}
    new = layout.rewrite.add("_blocked_pooling", attrs, [layout.blocked(source)], node.name)
    layout.put(number, new, True)
    return True


@_blocked("Flatten")
def _flatten(layout, number):
    graph = layout.graph
    source = graph.nodes[number].inputs[0]
    shape = graph.spec(source).shape
    if not layout.is_blocked(source) or any(extent != 1 for extent in shape[2:]):
        return False
    attrs = {"shape": graph.specs[number][0].shape}
    layout.put(number, layout.rewrite.add("Reshape", attrs, [layout.blocked(source)]), False)
    return True


@_blocked("BatchNorm")
def _batch_norm(layout, number):
    graph, rewrite = layout.graph, layout.rewrite
    node = graph.nodes[number]
    a, source = node.attrs, node.inputs[0]
    if not layout.is_blocked(source) or a.axis != 1 or a.output_mean_var:
        return False
    if graph.spec(source).dtype not in (_FLOAT, _BFLOAT):
        return False
    if any(graph.spec(entry).dtype != _FLOAT for entry in node.inputs[1:]):
        return False
    if a.train and not a.use_global_stats:
        return False
    statistics = [layout.plain(entry) for entry in node.inputs[1:]]
    attrs = {"eps": a.eps, "fix_gamma": a.fix_gamma}
    extra = layout.once(node.inputs[1:])
    folded, _ = rewrite.add("_batch_norm_scale", attrs, statistics, None, extra)
    inputs = [layout.blocked(source), (folded, 0), (folded, 1)]
    settings = layout.target.settings
    disabled = (
        settings["MXNET_DISABLE_ONEDNN_FUSE_BN_RELU"]
        or settings["MXNET_DISABLE_ONEDNN_BN_RELU_OPT"]
    )
    relu = None if disabled else layout.users.chain(number, _is_relu)
    new = rewrite.add("_blocked_scale_shift", {"relu": relu is not None}, inputs, node.name)
    layout.put(number, new, True)
    if relu is not None:
        layout.put(relu[0], new, True)
    return True


def _is_relu(node):
    return node.op.epilogue is not None and node.op.epilogue(node.attrs) == ("relu", 0.0, 0.0)


@_blocked("LRN")
def _lrn(layout, number):
    node = layout.graph.nodes[number]
    source = node.inputs[0]
    if not layout.is_blocked(source) or layout.graph.spec(source).dtype != _FLOAT:
        return False
    inputs = [layout.blocked(source)]
    layout.put(number, layout.rewrite.add("_blocked_lrn", _attrs(node), inputs, node.name), True)
    return True
