"""`mx.np` variances and weighted averages."""

import math

import numpy as np

from mxcy._base.dtypes import CODES, code_of, dtype_of, is_complex, is_inexact, name_of, real_of
from mxcy.ops.core.attrs import Bool, Field, Number, ShapeOrNone
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.params import REDUCE, SPREAD
from mxcy.ops.core.record import Public, native, op, register, sample
from mxcy.ops.core.result_types import MEAN, TypeRule, asked, default_float, promote
from mxcy.ops.elementwise.broadcast import sum_to
from mxcy.ops.elementwise.cast import cast_back, cast_to
from mxcy.ops.reduce.numpy_reduce import (
    ELEMENT,
    along,
    axes_of,
    count,
    kept_shape,
    over,
    refuse_scattered,
)
from mxcy.ops.reduce.reduce import reduce_params

__all__ = ["numpy_type"]

_FLOATS = ("float32", "float64", "float16")
_ALL = (*_FLOATS, "int32", "int64", "int8", "uint8", "bool")
_INT64 = CODES["int64"]


def numpy_type(code):
    """Return the NumPy dtype of a reference's result: float32 for bfloat16."""
    return np.float32 if name_of(code) == "bfloat16" else dtype_of(code)


# --- variances -----------------------------------------------------------------------------------


def _spread_type(a, x):
    code = MEAN(a, x) if a.dtype is None else asked(a.dtype, x)
    return None if code is None else real_of(code)


def _infer_spread(a, x):
    code = _spread_type(a, x)
    if x.shape is None:
        return Spec(None, code)
    return Spec(kept_shape(x.shape, axes_of(a, x.ndim), a.keepdims), code)


def _spread_grad(root):
    def grad(a, F, g, x, out, specs):
        code, own = _spread_type(a, specs[0]), specs[0].dtype
        if not is_inexact(own):
            return None
        if is_complex(own):  # undoes the conjugation of holomorphic rules
            far, code = F._mx_conj(x), own
            g, out = (None if v is None else F._mx_astype(v, dtype=name_of(own)) for v in (g, out))
        else:
            far = cast_to(F, x, code, own)
        far = far - over(F, F._npi_mean(far, axis=a.axis), a, specs[0])
        left = count(a, specs[0]) - a.ddof
        scale = g / out if root else g * 2
        if root:  # not differentiable at zero variance
            scale = F._npi_where(out == 0, F.zeros_like(g), scale)
        gradient = far * over(F, scale / left if left > 0 else scale * math.nan, a, specs[0])
        return cast_back(F, gradient, own, code)

    return grad


for _name, _doc in (("var", "Variance"), ("std", "Standard deviation")):

    def _spread_ref(a, xp, x, _name=_name):
        axes = axes_of(a, x.ndim)
        kind = numpy_type(_spread_type(a, Spec(x.shape, code_of(x.dtype))))
        computed = x.dtype if x.dtype.kind in "fc" else kind
        if computed == np.float16:
            computed = np.float32
        if np.dtype(computed).kind not in "fc":
            computed = np.float64
        x = x.astype(computed)
        number = math.prod(x.shape[i] for i in axes)
        far = x - x.sum(axes, keepdims=True) / number
        far = xp.abs(far) if far.dtype.kind == "c" else far
        variance = (far * far).sum(axes) / max(number - a.ddof, 0)
        variance = xp.sqrt(variance) if _name == "std" else variance
        return xp.asarray(variance).astype(kind).reshape(kept_shape(x.shape, axes, a.keepdims))

    register(
        f"_npi_{_name}",
        inputs="a",
        fields=(
            Field("axis", ShapeOrNone, None),
            Field("dtype", ELEMENT, None),
            Field("ddof", Number, 0),
            Field("keepdims", Bool, False),
        ),
        infer=_infer_spread,
        names={"x": ("in", 0)},
        grad=_spread_grad(_name == "std"),
        ref=_spread_ref,
        complexes=True,
        amp="fp32",
        samples=(
            sample((3, 4)),
            sample((2, 3, 4), axis=(1,), ddof=1),
            sample((2, 3, 4), axis=(0, -1), keepdims=True),
            sample((), grad=False),
            sample((3,), axis=(), grad=False),
            sample((2, 0, 3), axis=(2,), grad=False),
            sample((2, 1, 300), axis=(0,), grad=False),
            sample((2, 3000), axis=(1,), ddof=2, grad=False),
        ),
        kernels=(
            native(
                _name,
                SPREAD,
                lambda a, ins, outs: {
                    **along(ins[0].shape, axes_of(a, ins[0].ndim)),
                    "ddof": a.ddof,
                },
                when=refuse_scattered,
                work=lambda a, ins, outs: 2 * ins[0].size,
                mixed=True,
            ),
        ),
        dtypes=_ALL,
        uses_types=True,
        numpy=Public(
            f"{_name}(a, axis=None, dtype=None, out=None, correction=0, keepdims=False, **kwargs)",
            rename={"correction": "ddof"},
        ),
        doc=f"{_doc} over axes, with divisor N - `ddof`. Integers give the "
        "default floating-point dtype.",
    )


# --- weighted averages ---------------------------------------------------------------------------


def _meeting(numpy_types, *codes):
    common = promote(numpy_types, *codes)
    return common if is_inexact(common) else default_float(numpy_types)


_MEETING = TypeRule(computed=_meeting)


def _weight_shape(a, shape, weights):
    """Return the shape in which weights broadcast to the array."""
    axes = axes_of(a, len(shape))
    if tuple(weights) == tuple(shape):
        return tuple(shape)
    require(a.axis is not None, "axis must be given when shapes of a and weights differ")
    expected = tuple(shape[axis] for axis in axes)
    require(tuple(weights) == expected, f"weights: expected shape {expected}, got {tuple(weights)}")
    return tuple(n if axis in axes else 1 for axis, n in enumerate(shape))


def _refuse_average(a, ins, outs):
    if a.weighted or a.returned or is_complex(ins[0].dtype):
        return "there are weights or complex numbers"
    return None if ins[0].size and axes_of(a, ins[0].ndim) else "nothing is reduced"


@op("_npi_average", inputs="a weights?", amp="fp32")
class Average:
    """Compute the weighted average over axes; with `returned` also the sum of weights."""

    axis: ShapeOrNone = None
    returned: Bool = False
    weighted: Bool = True

    dtypes = _ALL
    uses_types = True
    complexes = True
    samples = (
        sample((3, 4), weighted=False),
        sample((2, 3, 4), axis=(1,), weighted=False),
        sample((3, 4), np.arange(1.0, 13).reshape(3, 4), axis=(1,), dtypes=("float64",)),
        sample((3, 4), np.array([1.0, 2, 4, 1]), axis=(1,), dtypes=("float64",)),
        sample((3, 4), np.array([1.0, 2, 4]), axis=(0,), returned=True, dtypes=("float64",)),
        sample((300, 19), axis=(0,), weighted=False),
        sample((0, 3), axis=(1,), weighted=False, grad=False),
    )
    kernels = (
        native(
            "mean",
            REDUCE,
            lambda a, ins, outs: reduce_params(ins[0].shape, axes_of(a, ins[0].ndim)),
            when=_refuse_average,
            select=lambda ins, outs: outs[0].dtype,
            mixed=True,
        ),
    )

    def arguments(a):
        return ("a", "weights") if a.weighted else ("a",)

    def outputs(a):
        return ("output0", "output1") if a.returned else ("output",)

    def infer(a, x, weights=None):
        code = _MEETING(a, x, weights) if a.weighted else MEAN(a, x)
        if x.shape is None:
            return [Spec(None, code)] * (1 + a.returned)
        if a.weighted and weights.shape is not None:
            _weight_shape(a, x.shape, weights.shape)
        shape = kept_shape(x.shape, axes_of(a, x.ndim), False)
        return [Spec(shape, code)] * (1 + a.returned)

    def grad(a, F, g, inputs, outs, specs):
        spec = specs[0]
        first, second = g if a.returned else (g, None)
        if isinstance(first, (list, tuple)):
            (first,) = first
        if not a.weighted:
            share = over(F, first / max(count(a, spec), 1), a, spec)
            return cast_back(F, share, spec.dtype, MEAN(a, spec))
        shape = _weight_shape(a, spec.shape, specs[1].shape)
        code = _MEETING(a, *specs)
        x, weights = (
            cast_to(F, value, code, own.dtype) for value, own in zip(inputs, specs, strict=True)
        )
        weights = F._npi_broadcast_to(F._backward_reshape(weights, shape=shape), shape=spec.shape)
        scale = over(F, first / F._npi_sum(weights, axis=a.axis), a, spec)
        by_x = cast_back(F, scale * weights, spec.dtype, code)
        if not is_inexact(specs[1].dtype):
            return by_x, None
        by_weight = scale * (x - over(F, outs[0], a, spec))
        if second is not None:
            by_weight = by_weight + over(F, second, a, spec)
        by_weight = sum_to(F, by_weight, Spec(shape), spec)
        by_weight = F._backward_reshape(by_weight, shape=specs[1].shape)
        return by_x, cast_back(F, by_weight, specs[1].dtype, code)

    def ref(a, xp, x, weights=None):
        axes = axes_of(a, x.ndim)
        specs = [Spec(v.shape, code_of(v.dtype)) for v in (x, weights) if v is not None]
        kind = numpy_type(_MEETING(a, *specs) if a.weighted else MEAN(a, *specs))
        accumulator = np.result_type(kind, np.float32)
        if weights is None:
            total = xp.asarray(accumulator.type(math.prod(x.shape[i] for i in axes)))
            result = xp.asarray(x.astype(accumulator).sum(axes) / total)
        else:
            shape = _weight_shape(a, x.shape, weights.shape)
            weights = xp.broadcast_to(weights.astype(accumulator).reshape(shape), x.shape)
            total = xp.asarray(weights.sum(axes))
            result = xp.asarray((x.astype(accumulator) * weights).sum(axes) / total)
        result = result.astype(kind)
        if not a.returned:
            return result
        return result, xp.array(xp.broadcast_to(total, result.shape)).astype(kind)
