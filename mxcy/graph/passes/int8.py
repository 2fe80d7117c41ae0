"""Int8 execution of fused layers between quantized arrays.

Such a layer reads dequantized data and its result is quantized again, with ranges known at planning
time. All of that becomes one `_int8_conv` or `_int8_dense`, whose scales and packed weights are
computed once. Arrays between such layers are channels-last. Layers whose weights were not rounded
to int8 before stay float.
"""

import math

from mxcy._base import dtypes
from mxcy.graph.algorithm import choose_int8
from mxcy.graph.analysis.steps import KnownSteps, Steps
from mxcy.graph.analysis.users import Users
from mxcy.graph.passes.int8_moves import PLACES
from mxcy.graph.planning.plan import ONCE
from mxcy.graph.rewrite import Rewrite
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import find

__all__ = ["run"]

_FLOAT, _OCTET = dtypes.CODES["float32"], dtypes.CODES["uint8"]
_PARAMETER = find("_dequantize_parameter")
_FILTERS = find("_dequantize_filters")
_ROUNDED = _PARAMETER, _FILTERS, find("_round_filters")
#: fused float layer -> (int8 layer, operator that packs its weights)
_LAYERS = {
    find("_sg_onednn_conv"): (find("_int8_conv"), "_pack_int8_conv_weight"),
    find("_sg_onednn_fully_connected"): (find("_int8_dense"), "_pack_int8_dense_weight"),
}


def run(graph, target):
    """Convert every layer with an int8 kernel."""
    if not KnownSteps.occur_in(graph):
        return graph
    state = _State(graph, target)
    if not state.layers:
        return graph
    inner = {layer.number for layer in state.layers.values() if layer.number != layer.end}
    for number, node in state.rewrite.visit():
        if number in state.layers:
            _place(state, state.layers[number])
        elif number not in inner and not state.is_done(number):
            place = PLACES.get(node.op)
            if place is None or not place(state, number):
                state.keep(number)
    return state.finish()


class _Layer:
    """A layer that can run in int8: node numbers, Steps, record and attributes."""

    def __init__(self, number, end, op, attrs, data, other, out):
        self.number, self.end, self.op, self.attrs = number, end, op, attrs
        self.data, self.other, self.out = data, other, out
        #: correction of biases for the zero points of result and summand
        self.offset = float(out.zero)
        if other is not None:
            self.offset -= other.zero * attrs["other_scale"]
        attrs["no_bias"] = attrs["no_bias"] and not self.offset


class _State:
    """The new graph, in which old entries have a plain form, a channels-last one, or both."""

    def __init__(self, graph, target):
        self.graph, self.target = graph, target
        self.steps, self.users = KnownSteps(graph), Users(graph)
        self.ranges = self.steps.ranges
        self.rewrite, self._plain, self._last = Rewrite(graph), set(), {}
        candidates = (_find(self, number) for number in range(len(graph.nodes)))
        self.layers = {layer.end: layer for layer in candidates if layer is not None}

    def keep(self, number):
        """Copy a node unchanged, with plain inputs."""
        for entry in self.graph.nodes[number].inputs:
            self.plain(entry)
        self.rewrite.keep(number)
        self._plain.update((number, i) for i in range(len(self.graph.specs[number])))

    def put(self, old, new, last=False):
        """Register a new entry as one form of an old one."""
        if last and len(self.graph.spec(old).shape) > 2:
            self._last[old] = new
            self.rewrite.changed = True
        else:
            self.rewrite.replace(old, new)
            self._plain.add(old)

    def plain(self, entry):
        """Return the plain form of an old entry, converting if necessary."""
        if entry in self._plain:
            return self.rewrite.entry(entry)
        number, index = entry
        if index > 0:  # the range of a layer
            value = self.ranges[number, 0][index - 1]
            attrs = {"shape": (1,), "value": value, "dtype": "float32"}
            self.put(entry, self.rewrite.add("_full", attrs, []))
        else:
            count = len(self.graph.spec(entry).shape)
            axes = (0, count - 1, *range(1, count - 1))
            self.put(entry, self.rewrite.add("transpose", {"axes": axes}, [self._last[entry]]))
        return self.rewrite.entry(entry)

    def is_last(self, entry):
        """Whether an old entry already has a channels-last form."""
        return entry in self._last

    def is_done(self, number):
        """Whether a node was fused into its predecessor."""
        return (number, 0) in self._plain or (number, 0) in self._last

    def reader(self, number):
        """The only reader of a node and its ranges, or None."""
        users = {user for user, _, _ in self.users[number]}
        return users.pop() if len(users) == 1 else None

    def last(self, entry):
        """Return the channels-last form of an old entry, converting if necessary."""
        count = len(self.graph.spec(entry).shape)
        if count < 3:
            return self.plain(entry)
        if entry not in self._last:
            axes = (0, *range(2, count), 1)
            self._last[entry] = self.rewrite.add("transpose", {"axes": axes}, [self.plain(entry)])
        return self._last[entry]

    def add_once(self, op, attrs, inputs, name):
        """Append a node that runs once if its inputs are variables or run once themselves."""
        nodes = [self.rewrite.node(entry) for entry in inputs]
        once = all(node.op is None or ONCE in node.extra for node in nodes)
        return self.rewrite.add(op, attrs, inputs, name, {ONCE: ""} if once else None)

    def finish(self):
        """Return the new graph."""
        for entry in self.graph.outputs:
            self.plain(entry)
        return self.rewrite.finish()


# --- matching ------------------------------------------------------------------------------------


def _find(state, number):
    """Match the layer at a node, or None."""
    graph = state.graph
    node = graph.nodes[number]
    if node.op not in _LAYERS or node.attrs.algo or graph.specs[number][0].dtype != _FLOAT:
        return None
    if getattr(node.attrs, "in_block", 0) or getattr(node.attrs, "out_block", 0):
        return None
    if not _is_rounded(graph, node.inputs[1]):
        return None
    data = state.steps.of_floats(node.inputs[0])
    other = state.steps.of_floats(node.inputs[-1]) if node.attrs.with_sum else None
    out = _result(state, number)
    end = out.entry[0]
    if data is None or (node.attrs.with_sum and (other is None or end == number)):
        return None
    follows = _act(node.attrs, out)
    if 0 in (data.step, out.step) or follows is None:
        return None
    op, _ = _LAYERS[node.op]
    attrs = {
        name: getattr(node.attrs, name) for name in op.schema.names if hasattr(node.attrs, name)
    }
    attrs |= {"act": follows[0], "limit": follows[1], "out_type": out.kind}
    attrs |= {"source_type": data.kind, "zero": data.zero}
    if other is not None:
        attrs |= {"other_type": other.kind, "other_scale": other.step / out.step}
    layer = _Layer(number, end, op, attrs, data, other, out)
    choice = choose_int8(state.target, op, attrs, _specs(graph, layer))
    if choice is None:
        return None
    attrs |= {"algo": choice.algo, "packed": choice.packed}
    return layer


def _is_rounded(graph, entry):
    """Whether a weight is computed from one rounded to int8."""
    numbers, seen = [entry[0]], set()
    while numbers:
        number = numbers.pop()
        if graph.nodes[number].op in _ROUNDED:
            return True
        if number not in seen:
            seen.add(number)
            numbers += (source for source, _ in graph.nodes[number].inputs)
    return False


def _result(state, number):
    """The Steps of a layer's only, quantizing reader, or of its float result."""
    after = state.users.only(number)
    steps = None if after is None else state.steps.of_result(after)
    return steps or Steps((number, 0), "float32")


def _act(a, out):
    """Return (activation, its limit in steps) for attributes, or None."""
    if a.act == "none":
        return a.act, 0.0
    if a.act not in ("relu", "clip") or a.act == "clip" and not a.alpha == 0 < a.beta:
        return None
    if not out.zero:
        return a.act, a.beta / out.step if a.act == "clip" else 0.0
    # Saturation of the type may replace the activation.
    least, largest = out.limits()
    unclipped = a.act == "relu" or a.beta / out.step + out.zero >= largest
    return ("none", 0.0) if out.zero == least and unclipped else None


def _specs(graph, layer):
    """The Specs of an int8 layer's inputs."""
    source, out = graph.spec(layer.data.entry), graph.specs[layer.number][0]
    rows = Spec((out.shape[1 if "kernel" in layer.attrs else -1],), _FLOAT)
    specs = [_data_spec(graph.nodes[layer.number], source), Spec((1,), _OCTET), rows]
    if not layer.attrs["no_bias"]:
        specs.append(rows)
    if layer.other is not None:
        other = graph.spec(layer.other.entry)
        specs.append(_last_spec(other) if "kernel" in layer.attrs else other)
    return specs


def _last_spec(spec):
    return Spec((spec.shape[0], *spec.shape[2:], spec.shape[1]), spec.dtype)


def _data_spec(node, spec):
    """The Spec of a layer's data: channels-last, or rows."""
    if not getattr(node.attrs, "flatten", False):
        return _last_spec(spec) if hasattr(node.attrs, "kernel") else spec
    return Spec((spec.shape[0], math.prod(spec.shape[1:])), spec.dtype)


# --- the new graph -------------------------------------------------------------------------------


def _place(state, layer):
    """Append an int8 layer."""
    graph, rewrite = state.graph, state.rewrite
    node, attrs = graph.nodes[layer.number], layer.attrs
    image = "kernel" in attrs
    no_bias = node.attrs.no_bias
    parameters, form = _parameters(graph, node.inputs[1 : 2 if no_bias else 3])
    filters = {"no_bias": no_bias, "data_step": layer.data.step, "out_step": layer.out.step}
    filters |= {"offset": layer.offset, **form}
    parameters = [state.plain(entry) for entry in parameters]
    prepared, _ = state.add_once("_int8_filters", filters, parameters, f"{node.name}_filters")
    data = state.last(layer.data.entry) if image else _rows(state, layer)
    source = rewrite.spec(data).shape
    packing = {**attrs, "batch": source[0] if image else math.prod(source[:-1])}
    if image:
        packing["source"] = source[1:-1]
    pack = _LAYERS[node.op][1]
    packed = state.add_once(pack, packing, [(prepared, 0)], f"{node.name}_packed")
    inputs = [data, packed, (prepared, 1)]
    if not attrs["no_bias"]:
        inputs.append((prepared, 2))
    if layer.other is not None:
        other = layer.other.entry
        inputs.append(state.last(other) if image else state.plain(other))
    new = rewrite.add(layer.op, attrs, inputs, graph.nodes[layer.end].name)
    state.put((layer.end, 0), new, image)


def _parameters(graph, parameters):
    """Return (entries, attributes of `_int8_filters` describing them) of a layer's parameters.

    Int8 parameters are used directly: rounding again would lose precision.
    """
    nodes = [graph.nodes[number] for number, _ in parameters]
    if nodes[0].op is _FILTERS:
        return [*nodes[0].inputs, *parameters[1:]], {"stepped": True}
    if any(node.op is not _PARAMETER for node in nodes):
        return parameters, {}
    ranges = [entry for node in nodes for entry in node.inputs[1:]]
    return [*(node.inputs[0] for node in nodes), *ranges], {"quantized": True}


def _rows(state, layer):
    """Reshape the data of a dense layer to the number of dimensions of its result."""
    entry = layer.data.entry
    shape = state.graph.spec(entry).shape
    if not state.graph.nodes[layer.number].attrs.flatten or len(shape) == 2:
        return state.plain(entry)
    alike = state.is_last(entry) and math.prod(shape[2:]) == 1
    data = state.last(entry) if alike else state.plain(entry)
    rows = (shape[0], math.prod(shape[1:]))
    return state.rewrite.add("_backward_reshape", {"shape": rows}, [data])
