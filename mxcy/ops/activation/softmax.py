"""Softmax, softmin and log-softmax along one axis."""

import math

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core.attrs import BoolOrNone, Double, DoubleOrNone, DType, Field, Int
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, normal_axis, require
from mxcy.ops.core.params import SOFTMAX
from mxcy.ops.core.record import by_onednn, native, register, sample, values
from mxcy.ops.reduce.float16_sum import narrow_first

__all__ = ["log_softmax", "softmax"]

_FLOATS = ("float32", "float64", "float16", "bfloat16")
_FIELDS = (
    Field("axis", Int, -1),
    Field("temperature", DoubleOrNone, None),
    Field("dtype", DType(None, "float16", "float32", "float64"), None),
    Field("use_length", BoolOrNone, False),
)


def softmax(xp, x, axis, where=None):
    """Return the softmax of an array; elements outside `where` are excluded and give 0."""
    x = x if where is None else xp.where(where, x, -xp.inf)
    top = x.max(axis, keepdims=True) if x.shape[axis] else x
    if where is not None:
        top = xp.where(xp.isneginf(top), 0, top)
    out = xp.exp(x - top)
    total = out.sum(axis, keepdims=True)
    if where is not None:
        total = xp.where(where.any(axis, keepdims=True), total, 1)
    return out / total


def log_softmax(xp, x, axis):
    """Return the log-softmax of an array."""
    shifted = x - (x.max(axis, keepdims=True) if x.shape[axis] else x)
    return shifted - xp.log(xp.exp(shifted).sum(axis, keepdims=True))


def _axis(a, data):
    """Return the axis to normalise along; a 0-d array is treated as 1-D."""
    return 0 if data.ndim == 0 and a.axis in (0, -1) else normal_axis(a.axis, data.ndim)


def _extent(a, data):
    return data.shape[_axis(a, data)] if data.shape else 1


def _infer(a, data, length=None):
    if data.dtype is not None:
        require(
            dtypes.is_float(data.dtype), f"data: only floating dtypes are supported, got {data}"
        )
    dtype = data.dtype if a.dtype is None else dtypes.code_of(a.dtype)
    if data.shape is not None:
        axis = _axis(a, data)
        if length is not None:
            length.fill("length", data.shape[:axis] + data.shape[axis + 1 :])
    if length is not None and length.dtype is not None:
        integral = length.dtype not in (7,) and not dtypes.is_float(length.dtype)
        require(integral, f"length: expected an integer dtype, got {length}")
    return Spec(data.shape, dtype)


def _back(a, ins, outs):
    ins[0].fill("data", outs[0].shape, outs[0].dtype if a.dtype is None else None)


def _infer_without_length(a, data):
    require(not a.use_length, "use_length: only softmax takes lengths")
    return _infer(a, data)


def _scaled(xp, a, data, sign=1):
    """Return the data in the result's precision, divided by the temperature."""
    values = data if a.dtype is None else data.astype(xp.promote_types(data.dtype, a.dtype))
    if a.temperature not in (None, 1.0):
        sign = sign / a.temperature if a.temperature else sign * xp.inf
    return values if sign == 1 else values * values.dtype.type(sign)


def _result(a, data, out):
    return out.astype(data.dtype if a.dtype is None else a.dtype)


def _with_axes(ref):
    """Wrap a reference so that it sees 0-d arrays as 1-D."""

    def of_any(a, xp, data, *length):
        if data.ndim:
            return ref(a, xp, data, *length)
        return ref(a, xp, data[None], *(n[None] for n in length)).reshape(())

    return of_any


@_with_axes
def _softmax_ref(a, xp, data, length=None):
    axis, where = _axis(a, data), None
    if length is not None:
        positions = xp.arange(_extent(a, data)).reshape(
            [-1 if i == axis else 1 for i in range(data.ndim)]
        )
        where = xp.broadcast_to(positions < xp.expand_dims(length, axis), data.shape)
    return _result(a, data, softmax(xp, _scaled(xp, a, data), axis, where))


@_with_axes
def _softmin_ref(a, xp, data):
    return _result(a, data, softmax(xp, _scaled(xp, a, data, -1), a.axis % data.ndim))


@_with_axes
def _log_softmax_ref(a, xp, data):
    return _result(a, data, log_softmax(xp, _scaled(xp, a, data), a.axis % data.ndim))


def _line(a, data):
    """Return the fields of SOFTMAX that locate the axis."""
    axis = _axis(a, data)
    return {
        "outer": math.prod(data.shape[:axis]),
        "extent": _extent(a, data),
        "inner": math.prod(data.shape[axis + 1 :]),
    }


def _refuse(a, ins, outs):
    if len(ins) > 1:
        return "there are lengths"
    return None if ins[0].dtype == outs[0].dtype else "the result has another element type"


def _refuse_lengths(a, ins, outs):
    if len(ins) == 1:
        return "there are no lengths"
    if ins[0].dtype != outs[0].dtype:
        return "the result has another element type"
    if ins[1].dtype not in (dtypes.code_of("int32"), dtypes.code_of("int64")):
        return "lengths are neither int32 nor int64"
    return None if _extent(a, ins[0]) < 2**24 else "positions cannot be represented exactly"


def _params(a, ins, sign):
    temperature = 1.0 if a.temperature is None else a.temperature
    return {**_line(a, ins[0]), "scale": sign / temperature if temperature else math.inf}


def _forward(name, sign=1.0):
    def params(a, ins, outs):
        return _params(a, ins, sign)

    kernel = native(name, SOFTMAX, params, when=_refuse, inplace=True)
    own = narrow_first(kernel)
    return (*own, by_onednn(kernel)) if sign == 1.0 else own  # oneDNN has no scale


def _backward(name):
    def params(a, ins, outs):
        return {**_line(a, ins[0]), "scale": a.scale}

    kernel = native(name, SOFTMAX, params, inplace=True)
    return kernel, by_onednn(kernel)


def _grad(rule, sign):
    """Return a gradient rule by operator `rule`, scaled by sign and temperature."""

    def grad(a, F, g, out, specs):
        if specs[0].shape == ():
            return F.zeros_like(g)
        scale = sign / (1.0 if a.temperature is None else a.temperature)
        by_data = getattr(F, rule)(g, out, axis=a.axis, scale=scale)
        if a.dtype is None or specs[0].dtype == dtypes.code_of(a.dtype):
            return by_data
        return F.Cast(by_data, dtype=dtypes.name_of(specs[0].dtype))

    return grad


def _samples(**more):
    return (
        sample((3, 5), **more),
        sample((2, 3, 4), axis=1, **more),
        sample((4, 3), axis=0, temperature=2.5, **more),
        sample((3, 70), **more),
        sample((3, 4), dtype="float64", dtypes=("float32",), grad=False, **more),
        sample((2, 3, 17), axis=-2, **more),
        sample((), axis=0, **more),
    )


register(
    "softmax",
    aliases=("_npx_softmax",),
    numpy=(
        "npx.softmax(data, length=None, axis=-1, temperature=None, use_length=False, "
        "dtype=None, out=None, name=None)"
    ),
    inputs="data length?",
    fields=_FIELDS,
    infer=_infer,
    infer_back=_back,
    arguments=lambda a: ("data", "length") if a.use_length else ("data",),
    grad=_grad("_softmax_grad", 1.0),
    ref=_softmax_ref,
    domain=(-3, 3),
    dtypes=_FLOATS,
    kernels=(
        *_forward("softmax"),
        native(
            "softmax_length",
            SOFTMAX,
            lambda a, ins, outs: _params(a, ins, 1.0),
            when=_refuse_lengths,
            mixed=True,
        ),
    ),
    samples=(
        *_samples(),
        sample((3, 70), np.array([33, 0, 99]), use_length=True, temperature=2.0),
        sample((3, 5), values(1, 6, (3,), "int32"), use_length=True),
        sample((2, 4, 3), values(0, 5, (2, 3), "int64"), use_length=True, axis=1, temperature=0.5),
        sample((2, 70, 35), values(-1, 90, (2, 35), "int32"), use_length=True, axis=1),
    ),
    doc="""Apply softmax along an axis: ``exp(x / t) / sum(exp(x / t))`` with temperature t.

    With `use_length` only the first ``length`` elements along the axis are used and the others give
    0; `length` has the shape of the data without the axis and an integer dtype. `dtype` is the
    dtype of the result.
    """,
    amp="fp32",
)
register(
    "log_softmax",
    aliases=("_npx_log_softmax",),
    numpy=(
        "npx.log_softmax(data, axis=-1, length=None, temperature=None, use_length=False, "
        "dtype=None, out=None, name=None)"
    ),
    fields=_FIELDS,
    infer=_infer_without_length,
    infer_back=_back,
    in_symbols=InSymbols(named_input=True),
    grad=_grad("_log_softmax_grad", 1.0),
    ref=_log_softmax_ref,
    domain=(-3, 3),
    dtypes=_FLOATS,
    kernels=_forward("log_softmax"),
    samples=_samples(),
    doc="Apply log-softmax along an axis: ``log(softmax(x))``, without overflow.",
    amp="fp32",
)
register(
    "softmin",
    fields=_FIELDS,
    infer=_infer_without_length,
    infer_back=_back,
    grad=_grad("_softmax_grad", -1.0),
    ref=_softmin_ref,
    domain=(-3, 3),
    dtypes=_FLOATS,
    samples=_samples(),
    kernels=_forward("softmax", -1.0),
    doc="Apply softmin along an axis: ``softmax(-x)``.",
    amp="fp32",
)


def _infer_grad(a, grad, result):
    grad.fill("grad", result.shape, result.dtype)
    result.fill("result", grad.shape, grad.dtype)
    return Spec(result.shape, result.dtype)


def _grad_of_softmax_grad(a, F, g, grad, result):
    # z = scale * y * (d - sum(d * y)): linear in d, quadratic in y.
    inner = F.sum(grad * result, axis=a.axis, keepdims=True)
    weighted = F.sum(g * result, axis=a.axis, keepdims=True)
    by_out = g * F.broadcast_sub(grad, inner) - F.broadcast_mul(grad, weighted)
    return F._softmax_grad(g, result, axis=a.axis, scale=a.scale), by_out * a.scale


def _grad_of_log_softmax_grad(a, F, g, grad, result):
    # z = scale * (d - exp(y) * sum(d))
    total = F.sum(grad, axis=a.axis, keepdims=True)
    weighted = F.exp(result) * g
    by_grad = F.broadcast_sub(g, F.sum(weighted, axis=a.axis, keepdims=True))
    return by_grad * a.scale, F.broadcast_mul(weighted, total) * -a.scale


_GRAD_FIELDS = (Field("axis", Int, -1), Field("scale", Double, 1.0))
_GRAD_SAMPLES = (
    sample((3, 5), values(0, 1, (3, 5)), scale=0.5),
    sample((2, 3, 4), values(0, 1, (2, 3, 4)), axis=1),
    sample((3, 70), values(0, 1, (3, 70))),
)

register(
    "_softmax_grad",
    inputs="grad result",
    fields=_GRAD_FIELDS,
    infer=_infer_grad,
    grad=_grad_of_softmax_grad,
    ref=lambda a, xp, grad, result: (
        a.scale * result * (grad - (grad * result).sum(a.axis, keepdims=True))
    ),
    kernels=_backward("softmax_grad"),
    dtypes=_FLOATS,
    samples=_GRAD_SAMPLES,
    doc="Gradient of softmax, from its output.",
)
register(
    "_log_softmax_grad",
    inputs="grad result",
    fields=_GRAD_FIELDS,
    infer=_infer_grad,
    grad=_grad_of_log_softmax_grad,
    ref=lambda a, xp, grad, result: (
        a.scale * (grad - xp.exp(result) * grad.sum(a.axis, keepdims=True))
    ),
    kernels=_backward("log_softmax_grad"),
    dtypes=_FLOATS,
    samples=_GRAD_SAMPLES,
    doc="Gradient of log_softmax, from its output.",
)
