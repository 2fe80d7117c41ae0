"""Blocked layouts in training graphs, between convolutions and their gradients.

Convolutions and their gradients read and write blocked arrays if the number of channels allows;
weights stay plain. Operators between them stay blocked as far as possible; conversions are inserted
only where necessary, once per array.
"""

from mxcy._base.dtypes import CODES
from mxcy.graph.forms import Forms, elementwise, on_blocked, refuses
from mxcy.ops.convolution.conv import conv_attrs
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import find

__all__ = ["run"]

_FLOAT, _BFLOAT = CODES["float32"], CODES["bfloat16"]
_TILES = "conv_onednn_tiles"  # its bfloat16 arrays are channels-last; oneDNN reorders plain ones
_NEEDED = "conv_train_onednn"  # the kernel that makes blocking worthwhile
_WEIGHTS_PER_MAP = 4  # elements; above it, reordering weights costs more than blocked maps save

#: operator name -> function(forms, number) that returns whether it handled the node
_PLACES: dict = {}


def _place(*names):
    def enter(function):
        _PLACES.update(dict.fromkeys(names, function))
        return function

    return enter


def run(graph, target):
    """Choose the layout of every node, if blocking may pay off."""
    if not _may_pay(graph, target):
        return graph
    forms = Forms(graph, target)
    for number, node in forms.visit():
        place = None
        if node.op is not None:
            place = _PLACES.get(node.op.name)
            if place is None and node.op.pointwise(node.attrs):
                place = elementwise
        if place is None or not place(forms, number):
            forms.keep(number)
    if not forms.passed_on:
        return graph
    return forms.rewrite.finish()


def _may_pay(graph, target):
    """Whether blocking may pay off: ungrouped convolution gradients dominated by maps.

    Depthwise convolutions pass over memory once, and conversions would double that. Weights stay
    plain and are reordered in each step, which is too expensive for tiny maps.
    """
    settings = target.settings
    if settings["MXNET_SUBGRAPH_BACKEND"] == "NONE" or settings["MXNET_ENFORCE_DETERMINISM"]:
        return False
    if not target.block or not target.has_kernel(_NEEDED, _FLOAT):
        return False
    if any(getattr(node.attrs, "num_group", 1) != 1 for node in graph.nodes):
        return False
    gradients = [
        (graph.spec(node.inputs[1]).size, graph.specs[number][0].size)
        for number, node in enumerate(graph.nodes)
        if node.op is not None and node.op.name == "_conv_weight"
    ]
    if not gradients:
        return False
    maps, weights = zip(*gradients, strict=True)
    return sum(maps) * _WEIGHTS_PER_MAP >= sum(weights)


def _has_blocks(target, dtype):
    """Whether kernels for training are fastest on blocked arrays of a dtype."""
    return dtype == _FLOAT or (dtype == _BFLOAT and not target.has_kernel(_TILES, _BFLOAT))


def _attrs(node):
    """The attributes of a node as a dict."""
    return {name: getattr(node.attrs, name) for name in node.op.schema.names}


# --- convolutions ---------------------------------------------------------------------------------


def _put_conv(forms, number, op, attrs, blocked_ins, blocked_out):
    """Replace a node by a blocked operator, if a kernel accepts it.

    `blocked_ins` and `blocked_out` are flags of blocked inputs and output.
    """
    node, block = forms.graph.nodes[number], forms.target.block
    specs, dtype = [], forms.graph.spec(node.inputs[0]).dtype
    for entry, is_blocked in zip(node.inputs, blocked_ins, strict=True):
        spec = forms.graph.spec(entry)
        if not _has_blocks(forms.target, dtype) or spec.dtype != dtype:
            return False
        if is_blocked and not forms.can_block(entry):
            return False
        shape = spec.shape
        if is_blocked:
            shape = (shape[0], shape[1] // block, *shape[2:], block)
        specs.append(Spec(shape, spec.dtype))
    if blocked_out and not forms.can_block((number, 0)):
        return False
    if refuses(forms.target, find(op), attrs, specs):
        return False
    inputs = [
        forms.blocked(entry) if is_blocked else forms.plain(entry)
        for entry, is_blocked in zip(node.inputs, blocked_ins, strict=True)
    ]
    new = forms.rewrite.add(op, attrs, inputs, node.name, node.extra)
    forms.put(number, new, blocked_out)
    return True


def _conv_attrs(forms, node, data):
    """The attributes for a blocked map of a convolution with plain data (an entry)."""
    block = forms.target.block
    in_block = block if forms.can_block(data) else 0
    return {**conv_attrs(node.attrs), "in_block": in_block, "out_block": block}


def _is_image(forms, entry):
    return len(forms.graph.spec(entry).shape) == 4


@_place("Convolution")
def _conv(forms, number):
    node = forms.graph.nodes[number]
    data, _, *bias = node.inputs
    if not _is_image(forms, data) or node.attrs.layout not in (None, "NCHW"):
        return False
    attrs = _conv_attrs(forms, node, data)
    attrs["no_bias"] = not bias
    ins = [bool(attrs["in_block"]), False, *(False for _ in bias)]
    return _put_conv(forms, number, "_blocked_conv", attrs, ins, True)


@_place("_conv_data")
def _conv_data(forms, number):
    node = forms.graph.nodes[number]
    if not _is_image(forms, (number, 0)):
        return False
    attrs = _conv_attrs(forms, node, (number, 0))
    attrs["spatial"] = node.attrs.spatial
    return _put_conv(forms, number, "_blocked_conv_data", attrs, [True, False], True)


@_place("_conv_weight")
def _conv_weight(forms, number):
    node = forms.graph.nodes[number]
    data = node.inputs[0]
    if not _is_image(forms, data):
        return False
    attrs = _conv_attrs(forms, node, data)
    ins = [bool(attrs["in_block"]), True]
    return _put_conv(forms, number, "_blocked_conv_weight", attrs, ins, False)


# --- normalisation --------------------------------------------------------------------------------


@_place("BatchNorm", "_batch_norm_relu", "_batch_norm_grad", "_batch_norm_relu_grad")
def _norm(forms, number):
    node = forms.graph.nodes[number]
    a, is_gradient = node.attrs, node.op.name.endswith("_grad")
    data = node.inputs[1 if is_gradient else 0]
    if not forms.is_blocked(data) or a.axis != 1:
        return False
    if not _has_blocks(forms.target, forms.graph.spec(data).dtype):
        return False
    if node.op.uses_mode and (not a.train or a.use_global_stats):
        return False
    if getattr(a, "output_mean_var", False):
        return False
    names = ("eps", "momentum", "fix_gamma")
    attrs = {name: getattr(a, name) for name in names}
    attrs["act"] = getattr(a, "act", "none")
    images = 2 if is_gradient else 1
    inputs = [forms.blocked(entry) for entry in node.inputs[:images]]
    inputs += [forms.plain(entry) for entry in node.inputs[images:]]
    name = "_blocked_batch_norm_grad" if is_gradient else "_blocked_batch_norm"
    new = forms.rewrite.add(name, attrs, inputs, node.name, node.extra)
    forms.put(number, new, True)
    for index in (1, 2):
        forms.put(number, (new[0], index), False, index)
    return True


# --- pooling --------------------------------------------------------------------------------------


@_place("Pooling")
def _pooling(forms, number):
    node = forms.graph.nodes[number]
    source = node.inputs[0]
    if not forms.is_blocked(source) or node.attrs.layout not in (None, "NCW", "NCHW", "NCDHW"):
        return False
    if forms.graph.spec(source).dtype != _FLOAT:
        return False
    attrs = {name: value for name, value in _attrs(node).items() if name != "layout"}
    new = forms.rewrite.add(
        "_blocked_pooling", attrs, [forms.blocked(source)], node.name, node.extra
    )
    forms.put(number, new, True)
    return True


@_place("_pooling_grad")
def _pooling_grad(forms, number):
    """Treat planes of blocks as channels-last images."""
    node, rewrite = forms.graph.nodes[number], forms.rewrite
    data = node.inputs[1]
    if not forms.is_blocked(data) or node.attrs.layout not in (None, "NCHW"):
        return False
    if not _is_image(forms, data) or forms.graph.spec(data).dtype != _FLOAT:
        return False
    inputs = []
    for entry in node.inputs:
        new = forms.blocked(entry)
        batch, blocks, *rest = rewrite.spec(new).shape
        inputs.append(rewrite.add("Reshape", {"shape": (batch * blocks, *rest)}, [new]))
    new = rewrite.add(node.op, {**_attrs(node), "layout": "NHWC"}, inputs, node.name, node.extra)
    shape = rewrite.spec(forms.blocked(data)).shape
    forms.put(number, rewrite.add("Reshape", {"shape": shape}, [new]), True)
    return True


# --- layout-agnostic ------------------------------------------------------------------------------


@_place("Concat")
def _concat(forms, number):
    node = forms.graph.nodes[number]
    if node.attrs.dim != 1 or not all(forms.can_block(entry) for entry in node.inputs):
        return False
    return on_blocked(forms, number)


@_place("_split_v2")
def _split(forms, number):
    """The gradient of a concatenation."""
    graph, block = forms.graph, forms.target.block
    node = graph.nodes[number]
    a = node.attrs
    if a.axis != 1 or a.squeeze_axis or a.sections or not a.indices:
        return False
    if not all(forms.can_block((number, i)) for i in range(len(graph.specs[number]))):
        return False
    return on_blocked(forms, number, {"indices": tuple(i // block for i in a.indices), "axis": 1})


@_place("sum")
def _sum(forms, number):
    """The gradient of a convolution's bias."""
    node, rewrite = forms.graph.nodes[number], forms.rewrite
    a, source = node.attrs, node.inputs[0]
    if not forms.is_blocked(source) or a.keepdims or not a.exclude or tuple(a.axis or ()) != (1,):
        return False
    last = len(forms.graph.spec(source).shape)
    axes = (0, *range(2, last))
    total = rewrite.add("sum", {"axis": axes}, [forms.blocked(source)], node.name, node.extra)
    shape = forms.graph.specs[number][0].shape
    forms.put(number, rewrite.add("Reshape", {"shape": shape}, [total]), False)
    return True
