"""Int8 sums, pooling, concatenation and moves between int8 layers, channels-last.

Each function takes the state of the pass and a node's number, and returns whether it handled the
node.
"""

import math

from mxcy._base import dtypes
from mxcy.ops.core.record import find

__all__ = ["PLACES"]

#: operator -> function(state, number)
PLACES: dict = {}
_FLOAT = dtypes.CODES["float32"]
_DEQUANTIZE = find("_contrib_dequantize")
_RELU = find("_contrib_quantized_act")
_SUMS = find("broadcast_add"), find("elemwise_add")
_POOLING, _QUANTIZED_POOLING = find("Pooling"), find("_contrib_quantized_pooling")
_CONCAT = find("Concat")
_CHANNELS_FIRST = (None, "NCW", "NCHW", "NCDHW")


def _place(name):
    def enter(function):
        PLACES[find(name)] = function
        return function

    return enter


@_place("_quantize_linear")
def _between_steps(state, number):
    """A sum, concatenation or pooling between a dequantize and a quantize."""
    node = state.graph.nodes[number]
    out, source = state.steps.of_result(number), node.inputs[0][0]
    inner = state.graph.nodes[source]
    if state.users.only(source) != number:
        return False
    if inner.op in _SUMS:
        return _sum(state, number, out, *map(state.steps.of_floats, inner.inputs))
    if inner.op is _POOLING:
        data = state.steps.of_floats(inner.inputs[0])
        if data is None or inner.attrs.layout not in _CHANNELS_FIRST:
            return False
        return _pool(state, number, out, data, inner) or _mean(state, number, out, data, inner)
    if inner.op is _CONCAT and inner.attrs.dim == 1:
        return _join(state, number, out, list(map(state.steps.of_floats, inner.inputs)))
    return False


def _alike(left, right):
    """Whether two Steps have the same scale and zero point."""
    return (left.kind, left.step, left.zero) == (right.kind, right.step, right.zero)


def _join(state, number, out, parts):
    if None in parts or not any(state.is_last(part.entry) for part in parts):
        return False
    inputs = []
    for part in parts:
        inputs.append(state.last(part.entry))
        if not _alike(part, out):
            factor = part.step / out.step
            attrs = {"factor": factor, "offset": out.zero - part.zero * factor}
            attrs["out_type"] = out.kind
            inputs[-1] = state.rewrite.add("_linear_map", attrs, [inputs[-1]])
    attrs = {"num_args": len(inputs), "dim": len(state.graph.spec(out.entry).shape) - 1}
    name = state.graph.nodes[number].name
    state.put((number, 0), state.rewrite.add(_CONCAT, attrs, inputs, name), True)
    return True


def _mean(state, number, out, data, pooling):
    """Global average pooling."""
    a = pooling.attrs
    if a.pool_type != "avg" or not a.global_pool or not state.is_last(data.entry):
        return False
    factor = data.step / out.step
    attrs = {"factor": factor, "offset": out.zero - data.zero * factor, "out_type": out.kind}
    inputs, name = [state.last(data.entry)], state.graph.nodes[number].name
    state.put((number, 0), state.rewrite.add("_linear_mean", attrs, inputs, name), True)
    return True


def _sum(state, number, out, left, right):
    if left is None or right is None:
        return False
    shapes = [state.graph.spec(steps.entry).shape for steps in (left, right)]
    if shapes[0] != shapes[1]:
        return False
    scales = left.step / out.step, right.step / out.step
    offset = out.zero - left.zero * scales[0] - right.zero * scales[1]
    attrs = {"lhs_scale": scales[0], "rhs_scale": scales[1], "offset": offset}
    last = state.is_last(left.entry) or state.is_last(right.entry)
    form = state.last if last else state.plain
    inputs = [form(left.entry), form(right.entry)]
    attrs["out_type"] = out.kind
    name = state.graph.nodes[number].name
    state.put((number, 0), state.rewrite.add("_linear_sum", attrs, inputs, name), last)
    return True


def _pool(state, number, out, data, pooling):
    """Max or average pooling with the scale of its input."""
    a = pooling.attrs
    if not _alike(data, out) or a.pool_type not in ("max", "avg"):
        return False
    if a.pool_type == "avg" and out.zero and a.count_include_pad is not False and any(a.pad or ()):
        return False  # padding would not be 0
    names = _QUANTIZED_POOLING.schema.names
    attrs = {name: getattr(a, name) for name in names if hasattr(a, name)}
    # The kernel is a hundred times as fast for channels-last arrays.
    attrs["layout"] = _last_layout(state, data.entry)
    # The range is that of the data.
    ends = [
        state.rewrite.add("_full", {"shape": (1,), "value": value, "dtype": "float32"}, [])
        for value in (-1.0, 1.0)
    ]
    inputs = [state.last(data.entry), *ends]
    name = state.graph.nodes[number].name
    state.put((number, 0), state.rewrite.add(_QUANTIZED_POOLING, attrs, inputs, name), True)
    return True


def _last_layout(state, entry):
    return ("NWC", "NHWC", "NDHWC")[len(state.graph.spec(entry).shape) - 3]


@_place("_contrib_quantize_v2")
def _quantize(state, number):
    """Quantize to channels-last if only convolutions read the result."""
    graph, entry = state.graph, (number, 0)
    data = graph.spec(graph.nodes[number].inputs[0])
    if entry not in state.ranges or len(data.shape) < 3 or data.dtype != _FLOAT:
        return False
    readers = {user for user, _, index in state.users[number] if index == 0}
    if not all(user >= 0 and graph.nodes[user].op is _DEQUANTIZE for user in readers):
        return False
    readers = {after for user in readers for after, _, _ in state.users[user]}
    layers = {layer.number for layer in state.layers.values() if "kernel" in layer.attrs}
    if not readers <= layers:
        return False
    attrs = {
        "out_type": dtypes.name_of(graph.spec(entry).dtype),
        "reach": max(map(abs, state.ranges[entry])),
    }
    inputs = [state.plain(graph.nodes[number].inputs[0])]
    new = state.rewrite.add("_quantize_last", attrs, inputs, graph.nodes[number].name)
    state.put(entry, new, True)
    return True


@_place("_contrib_quantized_pooling")
def _pooling(state, number):
    node = state.graph.nodes[number]
    data, *ends = node.inputs
    if not state.is_last(data) or node.attrs.layout not in _CHANNELS_FIRST:
        return False
    attrs = {name: getattr(node.attrs, name) for name in node.op.schema.names}
    attrs["layout"] = _last_layout(state, data)
    inputs = [state.last(data), *(state.plain(entry) for entry in ends)]
    _put_all(state, number, state.rewrite.add(node.op, attrs, inputs, node.name))
    return True


@_place("_contrib_quantized_act")
def _rectify(state, number):
    node = state.graph.nodes[number]
    data, *ends = node.inputs
    if not state.is_last(data):
        return False
    inputs = [state.last(data), *(state.plain(entry) for entry in ends)]
    _put_all(state, number, state.rewrite.add(node.op, node.attrs, inputs, node.name))
    return True


@_place("_contrib_quantized_batch_norm")
def _norm(state, number):
    node = state.graph.nodes[number]
    data, *rest = node.inputs
    if not state.is_last(data) or node.attrs.axis != 1:
        return False
    after = state.reader(number)
    relu = after is not None and after >= 0 and state.graph.nodes[after].op is _RELU
    attrs = {name: getattr(node.attrs, name) for name in node.op.schema.names}
    attrs["axis"] = len(state.graph.spec(data).shape) - 1
    inputs = [state.last(data), *(state.plain(entry) for entry in rest)]
    op = "_quantized_norm_relu" if relu else node.op
    new = state.rewrite.add(op, attrs, inputs, node.name)
    _put_all(state, after if relu else number, new)
    return True


@_place("_contrib_quantized_flatten")
def _flatten(state, number):
    data, *ends = state.graph.nodes[number].inputs
    alike = state.is_last(data) and math.prod(state.graph.spec(data).shape[2:]) == 1
    attrs = {"shape": state.graph.specs[number][0].shape}
    numbers = state.last(data) if alike else state.plain(data)
    state.put((number, 0), state.rewrite.add("_backward_reshape", attrs, [numbers]))
    for index, entry in enumerate(ends, 1):
        state.put((number, index), state.plain(entry))
    return True


@_place("_contrib_quantized_concat")
def _concat(state, number):
    node = state.graph.nodes[number]
    count = node.attrs.num_args
    if node.attrs.dim != 1 or not any(state.is_last(entry) for entry in node.inputs[:count]):
        return False
    inputs = [state.last(entry) for entry in node.inputs[:count]]
    inputs += [state.plain(entry) for entry in node.inputs[count:]]
    attrs = {"num_args": count, "dim": len(state.graph.specs[number][0].shape) - 1}
    _put_all(state, number, state.rewrite.add(node.op, attrs, inputs, node.name))
    return True


@_place("_contrib_quantized_elemwise_add")
def _add(state, number):
    node = state.graph.nodes[number]
    lhs, rhs, *ends = node.inputs
    if not (state.is_last(lhs) or state.is_last(rhs)):
        return False
    if state.graph.spec(lhs).shape != state.graph.spec(rhs).shape:
        return False
    inputs = [state.last(lhs), state.last(rhs), *(state.plain(entry) for entry in ends)]
    _put_all(state, number, state.rewrite.add(node.op, node.attrs, inputs, node.name))
    return True


def _put_all(state, number, new):
    """Register a new node's outputs for an old node, the array channels-last."""
    state.put((number, 0), new, True)
    for index in (1, 2):
        state.put((number, index), (new[0], index))
