"""Softmax and log-softmax over masked elements."""

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.activation.softmax import log_softmax, softmax
from mxcy.ops.core.attrs import BoolOrNone, DoubleOrNone, Field, Int
from mxcy.ops.core.infer import Spec, normal_axis, require
from mxcy.ops.core.record import register, sample

__all__ = []

_BOOL = dtypes.code_of("bool")
_FIELDS = (
    Field("axis", Int, -1),
    Field("temperature", DoubleOrNone, None),
    Field("normalize", BoolOrNone, True),
)


def _infer(a, data, mask):
    floating = data.dtype is None or dtypes.is_float(data.dtype)
    require(floating, f"data: only floating dtypes are supported, got {data}")
    if mask.dtype is None or dtypes.is_float(mask.dtype):
        mask.fill("mask", dtype=_BOOL)
    if data.shape is not None:
        normal_axis(a.axis, data.ndim)
        mask.fill("mask", (-1,) * data.ndim)
        for m, n in zip(mask.shape, data.shape, strict=True):
            fits = m in (-1, 1, n) or n == -1
            require(fits, f"mask: {mask.shape} cannot be broadcast to {data.shape}")
    return Spec(data.shape, data.dtype)


def _temperature(a):
    return 1.0 if a.temperature is None else a.temperature


def _ref_softmax(a, xp, data, mask):
    mask = xp.broadcast_to(mask.astype("bool"), data.shape)
    return softmax(xp, data / data.dtype.type(_temperature(a)), a.axis, mask)


def _ref_log_softmax(a, xp, data, mask):
    mask = mask.astype("bool")
    data = xp.where(mask, data / data.dtype.type(_temperature(a)), -xp.inf)
    out = log_softmax(xp, data, a.axis)
    return xp.where(xp.broadcast_to(mask, data.shape), out, -xp.inf).astype(data.dtype)


def _grad_softmax(a, F, g, output):
    return F._softmax_grad(g, output, axis=a.axis, scale=1 / _temperature(a))


def _grad_log_softmax(a, F, g, output, mask, specs):
    g = F.broadcast_mul(g, F.Cast(F.Cast(mask, dtype="bool"), dtype=dtypes.name_of(specs[0].dtype)))
    return F._log_softmax_grad(g, output, axis=a.axis, scale=1 / _temperature(a))


_MASK = np.array([[True, False, True, True], [False, True, False, False], [True] * 4])
_SAMPLES = (
    sample((3, 4), _MASK),
    sample((3, 4), _MASK.astype("int64")),
    sample((3, 0), np.zeros((3, 0), "int32"), grad=False),
    sample((2, 3, 4), _MASK[None], axis=1, temperature=2.0),
    sample((3, 4), _MASK[:, :1] | _MASK[:, 2:3], axis=0, tol=4),
)
_DOC = """The mask, boolean or integer, has the rank of the data and is broadcast to its shape;
elements where it is False or 0 are excluded and give {absent}. The data is divided by `temperature`
first. `normalize` is ignored: the maximum is always subtracted before exponentiation."""

register(
    "masked_softmax",
    aliases=("_npx_masked_softmax",),
    numpy=(
        "npx.masked_softmax(data, mask, axis=-1, temperature=1.0, normalize=True, out=None, "
        "name=None)"
    ),
    inputs="data mask",
    fields=_FIELDS,
    infer=_infer,
    grad=_grad_softmax,
    ref=_ref_softmax,
    dtypes=("float32", "float64", "float16"),
    samples=_SAMPLES,
    doc="Apply softmax along an axis to the elements selected by a mask.\n\n"
    f"{_DOC.format(absent='0')}",
    amp="fp32",
)
register(
    "masked_log_softmax",
    aliases=("_npx_masked_log_softmax",),
    numpy=(
        "npx.masked_log_softmax(data, mask, axis=-1, temperature=1.0, normalize=True, "
        "out=None, name=None)"
    ),
    inputs="data mask",
    fields=_FIELDS,
    infer=_infer,
    grad=_grad_log_softmax,
    ref=_ref_log_softmax,
    dtypes=("float32", "float64", "float16"),
    samples=tuple(sample(*s.inputs, grad=False, tol=s.tol, **s.attrs) for s in _SAMPLES),
    doc="Apply log-softmax along an axis to the elements selected by a mask.\n\n"
    f"{_DOC.format(absent='minus infinity')}",
    amp="fp32",
)
