"""Statistics of `mx.np`: variances, weighted means, percentiles, positions of extremes."""

import math

import numpy as np

from mxcy._base.dtypes import (
    CODES,
    code_of,
    dtype_of,
    is_complex,
    is_float,
    is_inexact,
    name_of,
    real_of,
)
from mxcy.ops.core.attrs import Bool, DoubleOrNone, Enum, Field, IntOrNone, Number, ShapeOrNone
from mxcy.ops.core.infer import Spec, normal_axis, require
from mxcy.ops.core.params import ARG, PERCENTILE, REDUCE, SPREAD
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
from mxcy.ops.reduce.reduce import along_axis, reduce_params

__all__ = []

_FLOATS = ("float32", "float64", "float16")
_ALL = (*_FLOATS, "int32", "int64", "int8", "uint8", "bool")
_INT64 = CODES["int64"]


def _numpy_type(code):
    return np.float32 if name_of(code) == "bfloat16" else dtype_of(code)


# --- positions of extremes -----------------------------------------------------------------------


def _infer_position(a, x):
    if x.shape is None:
        return Spec(None, _INT64)
    whole = a.axis is None or (not x.ndim and a.axis in (0, -1))  # as NumPy
    axes = tuple(range(x.ndim)) if whole else (normal_axis(a.axis, x.ndim),)
    empty = 0 in (x.shape[axis] for axis in axes)
    require(not empty, "attempt to get the position of an extreme of an empty sequence")
    return Spec(kept_shape(x.shape, axes, a.keepdims), _INT64)


for _name, _word in (("argmax", "largest"), ("argmin", "smallest")):
    register(
        f"_npi_{_name}",
        inputs="a",
        fields=(Field("axis", IntOrNone, None), Field("keepdims", Bool, False)),
        infer=_infer_position,
        grad=lambda a, F, g: None,
        ref=lambda a, xp, x, _name=_name: xp.asarray(getattr(xp, _name)(x, a.axis)).reshape(
            _infer_position(a, Spec(x.shape)).shape
        ),
        samples=(
            sample((3, 4)),
            sample((2, 3, 4), axis=1),
            sample((2, 3, 4), axis=-1, keepdims=True),
            sample((2, 3), keepdims=True),
            sample(()),
            sample((0, 3), axis=1),
            sample(np.array([1, np.nan, 3], "float32")),
            sample((300, 19), axis=0),
            sample((2, 300)),
        ),
        dtypes=_ALL,
        kernels=(
            native(
                _name,
                ARG,
                lambda a, ins, outs: along_axis(a.axis if ins[0].ndim else None, ins[0]),
                when=lambda a, ins, outs: None if ins[0].size else "there are no elements",
                mixed=True,
            ),
        ),
        doc=f"The position of the {_word} element, the first of equal ones or of NaN, as int64.",
        numpy=f"{_name}(a, axis=None, out=None, keepdims=False)",
    )


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
        if is_complex(own):  # conjugated for the rules of holomorphic functions, which this is not
            far, code = F._mx_conj(x), own
            g, out = (None if v is None else F._mx_astype(v, dtype=name_of(own)) for v in (g, out))
        else:
            far = cast_to(F, x, code, own)
        far = far - over(F, F._npi_mean(far, axis=a.axis), a, specs[0])
        left = count(a, specs[0]) - a.ddof
        scale = g / out if root else g * 2
        if root:  # no spread has no slope
            scale = F._npi_where(out == 0, F.zeros_like(g), scale)
        gradient = far * over(F, scale / left if left > 0 else scale * math.nan, a, specs[0])
        return cast_back(F, gradient, own, code)

    return grad


for _name, _doc in (("var", "Variance"), ("std", "Standard deviation")):

    def _spread_ref(a, xp, x, _name=_name):
        axes = axes_of(a, x.ndim)
        kind = _numpy_type(_spread_type(a, Spec(x.shape, code_of(x.dtype))))
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
        doc=f"{_doc} over axes; sums of squares are divided by their number minus `ddof`. Of "
        "integers in the default floating type.",
    )


# --- weighted means ------------------------------------------------------------------------------


def _meeting(numpy_types, *codes):
    common = promote(numpy_types, *codes)
    return common if is_inexact(common) else default_float(numpy_types)


_MEETING = TypeRule(computed=_meeting)


def _weight_shape(a, shape, weights):
    """The shape in which weights meet the array."""
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
    """The mean over axes, each element counted by its weight; with `returned` also their sum."""

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
        kind = _numpy_type(_MEETING(a, *specs) if a.weighted else MEAN(a, *specs))
        wide = np.result_type(kind, np.float32)
        if weights is None:
            total = xp.asarray(wide.type(math.prod(x.shape[i] for i in axes)))
            result = xp.asarray(x.astype(wide).sum(axes) / total)
        else:
            shape = _weight_shape(a, x.shape, weights.shape)
            weights = xp.broadcast_to(weights.astype(wide).reshape(shape), x.shape)
            total = xp.asarray(weights.sum(axes))
            result = xp.asarray((x.astype(wide) * weights).sum(axes) / total)
        result = result.astype(kind)
        if not a.returned:
            return result
        return result, xp.array(xp.broadcast_to(total, result.shape)).astype(kind)


# --- percentiles ---------------------------------------------------------------------------------


def _percentile_type(numpy_types, code):
    if numpy_types:
        return code if is_float(code) else default_float(True)
    return code if name_of(code) == "float64" else default_float(False)


_PERCENTILE = TypeRule(computed=_percentile_type)


def _shares(a, F, q, number, n):
    """How much each of `n` elements in order has of `number` percentiles, shape (number, n)."""
    place = F._backward_reshape(q, shape=(number, 1)) * ((n - 1) / 100)
    order = F._backward_reshape(F._arange(start=0, stop=n, dtype="float64"), shape=(1, n))
    if a.interpolation == "linear":
        return F.relu(1 - F.abs(F.broadcast_sub(place, order)))
    lower, higher = (
        F.broadcast_equal(F.floor(place), order),
        F.broadcast_equal(F.ceil(place), order),
    )
    if a.interpolation == "midpoint":
        return (lower + higher) / 2
    if a.interpolation == "nearest":
        return F.broadcast_equal(F._npi_rint(place), order)
    return lower if a.interpolation == "lower" else higher


_MODES = ("linear", "lower", "higher", "midpoint", "nearest")


def _percentile_params(a, ins, outs):
    lowered = along(ins[0].shape, axes_of(a, ins[0].ndim))
    return {
        "outer": lowered["outer"],
        "extent": lowered["extent"],
        "mode": _MODES.index(a.interpolation),
        "percent": 0.0 if a.q_scalar is None else a.q_scalar,
    }


def _refuse_columns(a, ins, outs):
    if not outs[0].size:
        return "there are no results"
    reason = refuse_scattered(a, ins, outs)
    if reason is None and along(ins[0].shape, axes_of(a, ins[0].ndim))["inner"] != 1:
        return "elements of one result do not lie side by side"
    return reason


@op("_npi_percentile", inputs="a q?")
class Percentile:
    """The values below which `q` percent of the elements over axes lie.

    `q` is the attribute `q_scalar`, or an array; its dimensions come first in the result.
    """

    axis: ShapeOrNone = None
    interpolation: Enum("higher", "linear", "lower", "midpoint", "nearest") = "linear"
    keepdims: Bool = False
    q_scalar: DoubleOrNone = None

    dtypes = ("float32", "float64", "int32", "uint8", "bool")
    uses_types = True
    samples = (
        sample((3, 5), q_scalar=30.0),
        sample((2, 3, 5), axis=(1,), q_scalar=50.0, interpolation="midpoint"),
        sample((2, 3, 5), axis=(0, 2), q_scalar=35.0, keepdims=True),
        sample((5, 4), np.array([0.0, 35.0, 100.0]), axis=(0,), grad=False),
        sample((7,), q_scalar=40.0, interpolation="lower"),
        sample((7,), q_scalar=40.0, interpolation="higher"),
        sample((7,), q_scalar=40.0, interpolation="nearest"),
        sample((), q_scalar=40.0, grad=False),
        sample((2, 700), q_scalar=40.0, axis=(1,), grad=False),
        sample((5000,), np.array([0.0, 35.0, 100.0]), grad=False),
        sample(np.array([1, np.nan, 3], "float32"), q_scalar=40.0, grad=False, dtypes=("float32",)),
    )
    kernels = (
        native("percentile", PERCENTILE, _percentile_params, when=_refuse_columns, mixed=True),
    )

    def arguments(a):
        return ("a", "q") if a.q_scalar is None else ("a",)

    def infer(a, x, q=None):
        code = _PERCENTILE(a, x)
        if q is None:
            require(0 <= a.q_scalar <= 100, f"percentiles must be in [0, 100], got {a.q_scalar}")
        if x.shape is None or (q is not None and q.shape is None):
            return Spec(None, code)
        axes = axes_of(a, x.ndim)
        require(0 not in (x.shape[i] for i in axes), "a percentile of no elements")
        first = () if q is None else q.shape
        return Spec((*first, *kept_shape(x.shape, axes, a.keepdims)), code)

    def grad(a, F, g, inputs, specs):
        x, spec = inputs[0], specs[0]
        if not is_float(spec.dtype):
            return None
        axes = axes_of(a, len(spec.shape))
        others = tuple(i for i in range(len(spec.shape)) if i not in axes)
        order_of_axes = (*others, *axes)
        n = math.prod(spec.shape[i] for i in axes)
        rows = math.prod(spec.shape[i] for i in others)
        moved = F._backward_reshape(F._npi_transpose(x, axes=order_of_axes), shape=(rows, n))
        order = F.argsort(moved, axis=1, dtype="int64")
        if len(inputs) > 1:
            q = F.Cast(inputs[1], dtype="float64")
        else:
            q = F._full(shape=(1,), value=a.q_scalar, dtype="float64")
        word = name_of(_PERCENTILE(a, spec))
        number = math.prod(specs[1].shape) if len(specs) > 1 else 1
        shares = F.Cast(_shares(a, F, q, number, n), dtype=word)
        g = F._backward_reshape(g, shape=(number, rows))
        sorted_gradient = F.dot(g, shares, transpose_a=True)
        gradient = F._backward_along(sorted_gradient, order, axis=1, shape=(rows, n))
        gradient = F._backward_reshape(gradient, shape=tuple(spec.shape[i] for i in order_of_axes))
        back = tuple(order_of_axes.index(i) for i in range(len(order_of_axes)))
        return F.Cast(F._npi_transpose(gradient, axes=back), dtype=name_of(spec.dtype))

    def ref(a, xp, x, q=None):
        kind = _numpy_type(_PERCENTILE(a, Spec(x.shape, code_of(x.dtype))))
        axes = axes_of(a, x.ndim)
        wide = x.astype("float64" if x.dtype.kind != "f" else np.result_type(x.dtype, "float32"))
        q = a.q_scalar if q is None else q.astype("float64")
        inside = xp.asarray((q >= 0) & (q <= 100)).all()
        require(bool(inside), f"percentiles must be in [0, 100], got {q}")
        if not axes:
            result = wide if np.ndim(q) == 0 else wide + 0 * q.reshape((*q.shape, *(1,) * x.ndim))
        else:
            result = xp.percentile(wide, q, axes, method=a.interpolation, keepdims=a.keepdims)
        return xp.asarray(result).astype(kind)
