"""Unary functions with parameters: clipping, losses, gradient scaling."""

import math

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, Double, Dynamic, Float, Unstated
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import back_data, require
from mxcy.ops.core.params import SCALAR2
from mxcy.ops.core.record import native, op, register, sample
from mxcy.ops.core.stypes import on_stored
from mxcy.ops.elementwise.unary import half_away, infer_same
from mxcy.ops.sparse.rules import BOTH, KEPT

__all__ = []

_FLOATS = ("float32", "float64", "float16", "bfloat16")
_ALL = (*_FLOATS, "int32", "int64", "int8", "uint8")


def _clip_params(a, ins, outs):
    """Return the bounds, clamped to the dtype's range for integers."""
    if dtypes.is_float(ins[0].dtype):
        return {"p": a.a_min, "q": a.a_max}
    info = np.iinfo(dtypes.dtype_of(ins[0].dtype))
    return {
        name: min(max(bound, float(info.min)), float(info.max))
        for name, bound in (("p", a.a_min), ("q", a.a_max))
    }


@op("clip", aliases=("_npi_clip", "_sparse_clip"), amp="either/either")
class Clip:
    """Clip elements to [a_min, a_max]; the gradient is zero outside."""

    a_min: Float
    a_max: Float

    dtypes = _ALL
    domain = (-3, 3)
    kernels = (native("clip", SCALAR2, _clip_params, inplace=True, pointwise=True),)

    def epilogue(a):
        return "clip", a.a_min, a.a_max

    samples = (sample((3, 4), a_min=-1.0, a_max=1.5), sample((5,), a_min=0.0, a_max=2.0))
    stypes = on_stored(*BOTH, when=lambda a, data: a.a_min <= 0 <= a.a_max)

    infer = infer_same
    infer_back = back_data

    def grad(a, F, g, data):
        return g * (1 - (data < a.a_min)) * (1 - (data > a.a_max))  # NaN passes through

    def ref(a, xp, data):
        low = xp.where(data < a.a_min, a.a_min, data)
        return xp.where(data > a.a_max, a.a_max, low).astype(data.dtype)


@op("smooth_l1", aliases=("_npx_smooth_l1",), amp="fp32")
class SmoothL1:
    """Compute the smooth L1 loss: quadratic for small values, linear for large ones.

    ``0.5 * (scalar * x)^2`` where ``abs(x) < 1 / scalar^2``, else ``abs(x) - 0.5 / scalar^2``.
    """

    scalar: Unstated(Float) = 1.0

    domain = (-2, 2)
    kernels = (
        native(
            "smooth_l1",
            SCALAR2,
            lambda a, i, o: {"p": a.scalar, "q": 0},
            inplace=True,
            pointwise=True,
        ),
    )
    samples = (sample((3, 4)), sample((3, 4), scalar=2.0), sample((3, 4), scalar=0.6))

    infer = infer_same
    infer_back = back_data

    def grad(a, F, g, data):
        square = a.scalar * a.scalar
        bound = 1 / square if square else math.inf
        return g * F.where(F.abs(data) > bound, F.sign(data), data * square)  # NaN stays

    def ref(a, xp, data):
        square, size = a.scalar * a.scalar, xp.abs(data)
        bound = 1 / square if square else math.inf
        loss = xp.where(size > bound, size - 0.5 * bound, 0.5 * square * data * data)
        return loss.astype(data.dtype)


@op("hard_sigmoid")
class HardSigmoid:
    """Compute the hard sigmoid: ``alpha * x + beta`` clipped to [0, 1]."""

    alpha: Float = 0.2
    beta: Float = 0.5

    dtypes = _FLOATS
    domain = (-4, 4)
    kernels = (
        native(
            "hard_sigmoid",
            SCALAR2,
            lambda a, i, o: {"p": a.alpha, "q": a.beta},
            inplace=True,
            pointwise=True,
        ),
    )
    samples = (sample((3, 4)), sample((3, 4), alpha=0.3, beta=0.1))

    def infer(a, data):
        require(
            data.dtype is None or dtypes.is_float(data.dtype),
            f"data: only floating dtypes are supported, got {data}",
        )
        return infer_same(a, data)

    infer_back = back_data

    def grad(a, F, g, out):
        return g * (out > 0) * (out < 1) * a.alpha

    def ref(a, xp, data):
        return xp.clip(a.alpha * data + a.beta, 0, 1).astype(data.dtype)


@op("_contrib_div_sqrt_dim")
class DivSqrtDim:
    """Divide by the square root of the last extent, as in scaled dot-product attention."""

    samples = (sample((3, 4)), sample((2, 3, 5)))

    infer = infer_same
    infer_back = back_data

    def grad(a, F, g):
        return F._contrib_div_sqrt_dim(g)

    def ref(a, xp, data):
        return data / math.sqrt(data.shape[-1])


@op("_contrib_quadratic", in_symbols=InSymbols(named_input=True))
class Quadratic:
    """Compute ``a x^2 + b x + c`` (the operator of MXNet's tutorial)."""

    a: Float = 0.0
    b: Float = 0.0
    c: Float = 0.0

    samples = (sample((3, 4), a=2.0, b=-1.0, c=0.5),)
    stypes = on_stored("csr", when=lambda a, data: a.c == 0)

    infer = infer_same
    infer_back = back_data

    def grad(a, F, g, data):
        return g * (data * (2 * a.a) + a.b)

    def ref(a, xp, data):
        return a.a * data * data + a.b * data + a.c


@op("_contrib_gradientmultiplier", identity=True)
class GradientMultiplier:
    """Return the data unchanged and multiply its gradient by `scalar` (negative to reverse it)."""

    scalar: Dynamic(Double) = 1.0
    is_int: Bool = True

    samples = (sample((3, 4), scalar=1.0), sample((3, 4), scalar=-0.5, grad=False))
    stypes = KEPT

    infer = infer_same
    infer_back = back_data

    def grad(a, F, g):
        return g * a.scalar

    def ref(a, xp, data):
        return data


for _name, _define in (("round", half_away), ("sign", lambda xp, x: xp.sign(x))):
    register(
        f"_contrib_{_name}_ste",
        aliases=(f"_npx_{_name}_ste", f"_sparse__contrib_{_name}_ste"),
        infer=infer_same,
        infer_back=back_data,
        grad=lambda a, F, g: g,
        ref=lambda a, xp, data, _define=_define: _define(xp, data),
        kernels=(native(_name, inplace=True),),
        stypes=KEPT,
        samples=(sample((3, 4), grad=False),),
        domain=(-3, 3),
        doc=f"`{_name}` with a straight-through gradient.",
    )
