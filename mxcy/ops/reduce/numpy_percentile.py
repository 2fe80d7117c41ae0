"""`mx.np` percentiles."""

import math

import numpy as np

from mxcy._base.dtypes import code_of, is_float, name_of
from mxcy.ops.core.attrs import Bool, DoubleOrNone, Enum, ShapeOrNone
from mxcy.ops.core.infer import Spec, require, require_value
from mxcy.ops.core.params import PERCENTILE
from mxcy.ops.core.record import native, op, sample
from mxcy.ops.core.result_types import TypeRule, default_float
from mxcy.ops.reduce.numpy_reduce import along, axes_of, kept_shape, refuse_scattered
from mxcy.ops.reduce.numpy_statistics import numpy_type

__all__ = []


def _percentile_type(numpy_types, code):
    if numpy_types:
        return code if is_float(code) else default_float(True)
    return code if name_of(code) == "float64" else default_float(False)


_PERCENTILE = TypeRule(computed=_percentile_type)


def _shares(a, F, q, number, n):
    """Return the weights (number, n) of `n` sorted elements in `number` percentiles."""
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
        return "elements of one result are not contiguous"
    return reason


@op("_npi_percentile", inputs="a q?")
class Percentile:
    """Compute the q-th percentile over axes.

    `q` is the attribute `q_scalar`, or an array, whose axes come first in the result.
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
            inside = 0 <= a.q_scalar <= 100
            require_value(inside, f"percentiles must be in [0, 100], got {a.q_scalar}")
        if x.shape is None or (q is not None and q.shape is None):
            return Spec(None, code)
        axes = axes_of(a, x.ndim)
        require(0 not in (x.shape[i] for i in axes), "percentile of an empty array")
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
        kind = numpy_type(_PERCENTILE(a, Spec(x.shape, code_of(x.dtype))))
        axes = axes_of(a, x.ndim)
        values = x.astype("float64" if x.dtype.kind != "f" else np.result_type(x.dtype, "float32"))
        q = a.q_scalar if q is None else q.astype("float64")
        inside = xp.asarray((q >= 0) & (q <= 100)).all()
        require_value(bool(inside), f"percentiles must be in [0, 100], got {q}")
        if not axes:
            result = (
                values if np.ndim(q) == 0 else values + 0 * q.reshape((*q.shape, *(1,) * x.ndim))
            )
        else:
            result = xp.percentile(values, q, axes, method=a.interpolation, keepdims=a.keepdims)
        return xp.asarray(result).astype(kind)
