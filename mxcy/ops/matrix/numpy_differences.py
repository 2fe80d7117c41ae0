"""Kronecker products, polynomials, differences and interpolation."""

from math import prod

import numpy as np

from mxcy._base.dtypes import CODES, name_of
from mxcy.ops.core.attrs import Bool, Double, DoubleOrNone, Int
from mxcy.ops.core.infer import Spec, normal_axis, require, require_value
from mxcy.ops.core.params import INTERP, KRON, SCAN
from mxcy.ops.core.record import native, op, sample
from mxcy.ops.core.result_types import PROMOTE
from mxcy.ops.elementwise.numpy_forms import in_result_type
from mxcy.ops.matrix.numpy_products import promoted

__all__ = []

_PLACES = np.array([-1.0, 0, 0.25, 1, 2, 3, 4, np.nan, np.inf, -np.inf])
_TYPES = ("float32", "float64", "float16", "int32", "int8")


def _aligned(lhs, rhs):
    """Pad two shapes to the same number of axes."""
    ndim = max(len(lhs), len(rhs))
    return (1,) * (ndim - len(lhs)) + tuple(lhs), (1,) * (ndim - len(rhs)) + tuple(rhs)


def _kron_grad(a, F, g, x, y, specs):
    left, right = _aligned(specs[0].shape, specs[1].shape)
    ndim = len(left)
    parted = F._backward_reshape(
        g, shape=tuple(n for pair in zip(left, right, strict=True) for n in pair)
    )
    even, odd = tuple(range(0, 2 * ndim, 2)), tuple(range(1, 2 * ndim, 2))
    every = tuple(range(ndim))
    x, y = F._backward_reshape(x, shape=left), F._backward_reshape(y, shape=right)
    by_x = F._npi_tensordot(parted, y, a_axes_summed=odd, b_axes_summed=every)
    by_y = F._npi_tensordot(parted, x, a_axes_summed=even, b_axes_summed=every)
    return (
        F._backward_reshape(by_x, shape=specs[0].shape),
        F._backward_reshape(by_y, shape=specs[1].shape),
    )


def _kron_params(a, ins, outs):
    (rows, columns), (block_rows, block_columns) = (
        (1,) * (2 - spec.ndim) + tuple(spec.shape) for spec in ins
    )
    return {
        "rows": rows,
        "columns": columns,
        "block_rows": block_rows,
        "block_columns": block_columns,
    }


def _refuse_blocks(a, ins, outs):
    return None if max(spec.ndim for spec in ins) <= 2 else "more than two dimensions"


@op("_npi_kron", inputs="a b", uses_types=True, numpy="kron(a, b)", amp="widest")
class Kron:
    """Compute the Kronecker product: blocks of each element of a times b."""

    dtypes = _TYPES
    names = {"x": ("in", 0), "y": ("in", 1)}
    complexes = True
    samples = (
        sample((2, 3), (3, 2)),
        sample((2,), (2, 3)),
        sample((2, 1, 3), (2, 2)),
        sample((), (3,), dtypes=("float64",)),
        sample((0, 2), (2, 2), grad=False),
    )
    grad = in_result_type(PROMOTE, _kron_grad, ("x", "y"))
    kernels = (native("kron", KRON, _kron_params, when=_refuse_blocks),)

    def infer(a, lhs, rhs):
        dtype = PROMOTE(a, lhs, rhs)
        if lhs.shape is None or rhs.shape is None:
            return Spec(None, dtype)
        pairs = zip(*_aligned(lhs.shape, rhs.shape), strict=True)
        return Spec(tuple(-1 if -1 in pair else pair[0] * pair[1] for pair in pairs), dtype)

    def ref(a, xp, lhs, rhs):
        return xp.asarray(xp.kron(*promoted(a, xp, (lhs, rhs))))


def _polyval_grad(a, F, g, p, x, specs):
    count = specs[0].shape[0]
    if not count:
        return None
    shape = specs[1].shape
    kind = name_of(PROMOTE(a, *specs))
    powers = [F._npi_ones(shape=shape, dtype=kind)]
    for _ in range(count - 1):
        powers.append(powers[-1] * x)
    by_p = [
        F._backward_reshape(F._npi_sum(g * power, axis=tuple(range(len(shape)))), shape=(1,))
        for power in reversed(powers)
    ]
    by_p = F.Concat(*by_p, dim=0, num_args=count)
    if count == 1:
        return by_p, x * 0
    slopes = F.slice_axis(p, axis=0, begin=0, end=count - 1)
    factors = F._npi_arange(start=count - 1, stop=0, step=-1, dtype=kind)
    return by_p, g * F._npi_polyval(slopes * factors, x)


@op("_npi_polyval", inputs="p x", uses_types=True, numpy="polyval(p, x)", amp="fp32")
class PolyVal:
    """Evaluate a polynomial at x; `p` holds its coefficients, highest power first."""

    dtypes = _TYPES
    complexes = True
    samples = (
        sample((4,), (2, 3), tol=4),
        sample((1,), (3,)),
        sample((3,), (), dtypes=("float64",)),
        sample((0,), (3,), grad=False),
    )
    grad = in_result_type(PROMOTE, _polyval_grad, ("p", "x"))

    def infer(a, p, x):
        if p.shape is not None:
            require_value(p.ndim == 1, f"p: expected one dimension, got {p.shape}")
        return Spec(x.shape, PROMOTE(a, p, x))

    def ref(a, xp, p, x):
        p, x = promoted(a, xp, (p, x))
        kind = x.dtype
        if kind.kind == "f" and kind.itemsize == 2:
            p, x = p.astype("float32"), x.astype("float32")
        values = xp.zeros(x.shape, x.dtype)
        for factor in p:
            values = values * x + factor
        return xp.asarray(values, kind)


def _neighbours(a, ins, outs):
    shape = ins[0].shape
    axis = normal_axis(a.axis, len(shape))
    return {"outer": prod(shape[:axis]), "extent": shape[axis], "inner": prod(shape[axis + 1 :])}


def _refuse_differences(a, ins, outs):
    if a.n != 1:
        return f"differences are taken {a.n} times"
    return None if outs[0].size else "there are no elements"


@op("_npi_diff", inputs="a")
class Diff:
    """Compute the n-th discrete difference along an axis."""

    n: Int = 1
    axis: Int = -1

    dtypes = (*_TYPES, "bool")
    complexes = True
    samples = (
        sample((3, 4)),
        sample((3, 4), n=2, axis=0),
        sample((3, 4), n=0),
        sample((2, 3), n=4),
        sample((0, 3), axis=0, grad=False),
        sample((2, 3, 70), axis=1),
        sample((3, 70)),
    )
    kernels = (native("difference", SCAN, _neighbours, when=_refuse_differences),)

    def infer(a, data):
        require(a.n >= 0, f"n: expected no negative number, got {a.n}")
        if data.shape is None:
            return Spec(None, data.dtype)
        require(data.shape, "a: expected at least one dimension")
        shape = list(data.shape)
        axis = normal_axis(a.axis, data.ndim)
        if shape[axis] != -1:
            shape[axis] = max(shape[axis] - a.n, 0)
        return Spec(tuple(shape), data.dtype)

    def grad(a, F, g, specs):
        shape = list(specs[0].shape)
        axis = normal_axis(a.axis, len(shape))
        kind = name_of(specs[0].dtype)
        if shape[axis] <= a.n:
            return F._npi_zeros(shape=tuple(shape), dtype=kind)
        for _ in range(a.n):
            shape[axis] = 1
            zero = F._npi_zeros(shape=tuple(shape), dtype=kind)
            g = F.Concat(zero, g, dim=axis, num_args=2) - F.Concat(g, zero, dim=axis, num_args=2)
        return g

    def ref(a, xp, data):
        return xp.diff(data, min(a.n, data.shape[a.axis]), a.axis)


def _interp_params(a, ins, outs):
    return {
        "has_left": a.left is not None,
        "has_right": a.right is not None,
        "left": a.left or 0.0,
        "right": a.right or 0.0,
    }


def _refuse_interp(a, ins, outs):
    if a.period is not None or a.x_is_scalar:
        return "a period, or a scalar x"
    return None if len({spec.dtype for spec in ins}) == 1 else "inputs of several dtypes"


@op("_npi_interp", inputs="xp fp x?")
class Interp:
    """Interpolate linearly between the points (xp, fp) at x, in float64.

    `xp` must be ascending. `left` and `right` are the values outside the points, by default those
    of the first and last point. With `period` the function is periodic. A scalar x is attribute
    `x_scalar`.
    """

    left: DoubleOrNone = None
    right: DoubleOrNone = None
    period: DoubleOrNone = None
    x_scalar: Double = 0.0
    x_is_scalar: Bool = False

    samples = (
        sample(lambda rng: rng.uniform(size=4).cumsum(), (4,), (2, 3), grad=False),
        sample(lambda rng: rng.uniform(size=4).cumsum(), (4,), (3,), left=9.0, grad=False),
        sample((4,), (4,), (3,), period=0.7, grad=False),
        sample(np.array([0.0, 1, 3]), np.array([1.0, np.inf, 2]), _PLACES, right=7.0, grad=False),
        sample(np.array([0.5]), np.array([3.0]), _PLACES, left=-7.0, grad=False),
        sample(np.linspace(-1, 1, 9), (9,), (150,), grad=False),
        sample((3,), (3,), x_scalar=0.5, x_is_scalar=True, grad=False),
    )

    def arguments(a):
        return ("xp", "fp") if a.x_is_scalar else ("xp", "fp", "x")

    def infer(a, xp, fp, x=None):
        for spec, name in ((xp, "xp"), (fp, "fp")):
            require(spec.shape is None or spec.ndim == 1, f"{name}: expected one dimension")
        if xp.known and fp.known:
            require(xp.shape == fp.shape, f"xp {xp.shape} and fp {fp.shape}: the lengths differ")
            require(xp.shape != (0,), "xp: expected at least one point")
        return Spec(() if x is None else x.shape, CODES["float64"])

    def grad(a, F, g):
        return None

    kernels = (native("interp", INTERP, _interp_params, when=_refuse_interp, mixed=True),)

    def ref(a, numpy, xp, fp, x=None):
        x = a.x_scalar if x is None else x
        values = numpy.interp(x, xp, fp, a.left, a.right, a.period)
        return numpy.asarray(values, "float64")
