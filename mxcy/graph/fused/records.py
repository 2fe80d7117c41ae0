"""Fused layers in symbols, as MXNet's oneDNN backend makes them of convolutions and dense layers.

Such a node contains the subgraph it represents: the layer and the normalisation, sum and activation
after it. Files and node names are MXNet's (`_sg_mkldnn_conv` of 1.9, `_sg_onednn_conv` of 2.0).
Like control flow, these operators exist only in symbols; once shapes are known, `expand` inserts
the subgraph, and passes fuse it again in the best way for the machine.

A quantized node takes int8 arrays with ranges. By definition it expands to the same layer on floats
between a dequantize and a quantize, with weights rounded to int8 per output channel. If there are
int8 kernels, a pass fuses all of that.
"""

from functools import lru_cache

from mxcy._base import dtypes
from mxcy.graph import control
from mxcy.graph.graph import Node
from mxcy.graph.infer import infer_partial
from mxcy.graph.planning.plan import ONCE
from mxcy.ops.core.attrs import Bool, Enum, Field, FloatOrNone, Str
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import ONLY_SYMBOLS, Op, Quantized

__all__ = ["BODY", "LAYERS", "roles_of"]

#: the attribute that contains the subgraph
BODY = "subgraph"
_FLOAT, _INT8, _UINT8, _INT32 = (
    dtypes.code_of(name) for name in ("float32", "int8", "uint8", "int32")
)
_WITH_RANGE = ("data", "weight", "bias", "other")
_INPUTS = "data weight? bias? gamma? beta? moving_mean? moving_var? other? " + " ".join(
    f"{end}_{name}?" for name in _WITH_RANGE for end in ("min", "max")
)


@lru_cache(maxsize=256)
def roles_of(text):
    """The roles of a subgraph's variables in the layer, as input names."""
    graph = control.body_graph(text)
    roles = {}
    for node in graph.nodes:
        if node.op is None:
            continue
        names = ("other", "other") if node.op.layer is None else node.op.arguments(node.attrs)
        if node.op.aux:
            names = node.op.arguments(node.attrs)
        for (source, _), name in zip(node.inputs, names, strict=False):
            if graph.nodes[source].op is None:
                roles.setdefault(source, name)
    return tuple(roles[number] for number in graph.variables())


def _has_float_result(a):
    return a.enable_float_output or a.enabled_float_output is not None


def _is_calibrated(a):
    return a.min_calib_range is not None and a.max_calib_range is not None


def _arguments(a):
    """The names of a node's inputs: the subgraph's, then ranges."""
    roles = roles_of(getattr(a, BODY))
    if not a.quantized:
        return roles
    ranged = ("data", "weight", "bias", "other") if _weight_is_whole(a) else ("data", "other")
    return (*roles, *(f"{end}_{r}" for r in ranged if r in roles for end in ("min", "max")))


def _weight_is_whole(a):
    """Whether a quantized node's weight is int8: by default for dense layers."""
    graph = control.body_graph(getattr(a, BODY))
    dense = any(
        node.op is not None and node.op.layer and node.op.layer.kind == "dense"
        for node in graph.nodes
    )
    return dense and not a.channel_wise_quantize


def _outputs(a):
    if not a.quantized or _has_float_result(a):
        return ("output",)
    return ("output", "output_min", "output_max")


def _kind(a):
    """The dtype of a quantized node's result."""
    if _has_float_result(a):
        return _FLOAT
    if not _is_calibrated(a):
        return _INT32
    return _UINT8 if a.min_calib_range >= 0 else _INT8


def _infer(a, *specs):
    specs_of = dict(zip(_arguments(a), specs, strict=True))
    graph = control.body_graph(getattr(a, BODY), a.train)
    variables = [graph.nodes[number].name for number in graph.variables()]
    roles = roles_of(getattr(a, BODY))
    known = {}
    for name, role in zip(variables, roles, strict=True):
        spec = specs_of[role]
        known[name] = Spec(spec.shape, _FLOAT if a.quantized else spec.dtype)
    inferred = infer_partial(graph, known)
    int8_weight = a.quantized and _weight_is_whole(a)
    for number, role in zip(graph.variables(), roles, strict=True):
        output = inferred[number][0]
        kind = output.dtype
        if a.quantized and role in ("data", "other"):
            kind = None
        elif int8_weight and role in ("weight", "bias"):
            kind = _INT8
        specs_of[role].fill(role, output.shape, kind)
    for role, spec in specs_of.items():
        if role.startswith(("min_", "max_")):
            spec.fill(role, (1,), _FLOAT)
    out = inferred[graph.outputs[0][0]][graph.outputs[0][1]]
    if not a.quantized:
        return Spec(out.shape, out.dtype)
    result = Spec(out.shape, _kind(a))
    return result if _has_float_result(a) else (result, Spec((1,), _FLOAT), Spec((1,), _FLOAT))


def _expand(builder, node, inputs):
    a = node.attrs
    graph = control.body_graph(getattr(a, BODY), a.train)
    if not a.quantized:
        return _named(builder, node.name, control.emit_body(builder, graph, inputs))
    entries = dict(zip(_arguments(a), inputs, strict=True))
    floats = {role: entries[role] for role in roles_of(getattr(a, BODY))}
    for role in ("data", "other"):
        if role in floats:
            ranged = [entries[role], entries[f"min_{role}"], entries[f"max_{role}"]]
            floats[role] = builder.add("_contrib_dequantize", {}, ranged)
    if _weight_is_whole(a):
        for role in ("weight", "bias"):
            if role in floats:
                ranged = [entries[role], entries[f"min_{role}"], entries[f"max_{role}"]]
                floats[role] = _once(builder, "_dequantize_parameter", ranged)
    else:
        floats["weight"] = _once(builder, "_round_filters", [floats["weight"]])
    (result,) = control.emit_body(builder, graph, list(floats.values()))
    if _has_float_result(a):
        return _named(builder, node.name, [result])
    if _is_calibrated(a):
        attrs = {"min_calib_range": a.min_calib_range, "max_calib_range": a.max_calib_range}
        attrs["out_type"] = "uint8" if _kind(a) == _UINT8 else "int8"
        number, _ = builder.add("_contrib_quantize_v2", attrs, [result], node.name)
    else:
        number, _ = builder.add("_quantize_wide", {}, [result], node.name)
    return [(number, index) for index in range(3)]


def _named(builder, name, entries):
    """Give the node of a single result the fused node's name, for monitors."""
    number, _ = entries[0]
    last = builder.nodes[number]
    builder.nodes[number] = Node(last.op, name, last.attrs, last.inputs, last.extra)
    return entries


def _once(builder, op, inputs):
    """Append a node computed from parameters, to run once if these are variables."""
    constant = all(builder.nodes[number].op is None for number, _ in inputs)
    return builder.add(op, {}, inputs, extra={ONCE: ""} if constant else None)


def _layer(name, kind):
    dense = kind == "dense"
    quantized = Quantized(
        name,
        must=True,
        ranged=("data", "weight", "bias", "other") if dense else ("data", "other"),
        by_channel=("data", "other"),
        wide=True,
        renamed=lambda a: {"quantized": "True" if dense else "true"},
    )
    op = Op(
        name,
        fields=(
            Field(BODY, Str),
            *(Field(part, Bool, False) for part in ("with_bn", "with_act", "with_sum")),
            *(Field(part, Bool, False) for part in ("with_postsum_act", "with_eltwise")),
            Field("quantized", Bool, False),
            Field("channel_wise_quantize", Bool, False),
            Field("enable_float_output", Bool, False),
            Field("enabled_float_output", Enum(None, "float32"), None),
            Field("min_calib_range", FloatOrNone, None),
            Field("max_calib_range", FloatOrNone, None),
        ),
        inputs=_INPUTS,
        arguments=_arguments,
        outputs=_outputs,
        aux=("moving_mean", "moving_var"),
        uses_mode=True,
        infer=_infer,
        ref=control.no_reference,
        in_symbols=InSymbols(subgraphs=(BODY,), named=True),
        quantized=quantized,
        doc="A layer with its epilogue, as in symbols of MXNet's oneDNN backend.",
    )
    ONLY_SYMBOLS[name] = op
    control.EXPANSIONS[op] = _expand
    return op


#: backend prefix of node names -> kind of layer -> operator
LAYERS = {
    backend: {
        kind: _layer(f"_sg_{backend}_{noun}", kind)
        for kind, noun in (("conv", "conv"), ("dense", "fully_connected"))
    }
    for backend in ("mkldnn", "onednn")
}
