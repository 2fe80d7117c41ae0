"""Vector and matrix norms."""

import math

from mxcy._base.dtypes import code_of, dtype_of, is_complex, real_of
from mxcy.ops.core.attrs import Bool, Double, Int, ShapeOrNone
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.params import REDUCE
from mxcy.ops.core.record import native, op, sample
from mxcy.ops.core.result_types import MEAN
from mxcy.ops.matrix.numpy_factor import check_finite
from mxcy.ops.reduce.numpy_reduce import axes_of, kept_shape, over
from mxcy.ops.reduce.reduce import reduce_params

__all__ = []


_WIDE = ("float32", "float64")


def _type(a, data):
    """Return the result's dtype, real floating-point also for complex arrays."""
    code = MEAN(a, data)
    return None if code is None else real_of(code)


def _of_matrices(a, ndim):
    """Return whether a call computes a matrix norm."""
    return a.flag in (-1, 2) and len(axes_of(a, ndim)) == 2


def _by_matrices(a, F, g, x, shape):
    """Return the gradient of a matrix norm."""
    rows, columns = axes_of(a, len(shape))
    order = (*(i for i in range(len(shape)) if i not in (rows, columns)), rows, columns)
    matrices = F._npi_transpose(x, axes=order)
    g = F._backward_reshape(g, shape=(*(shape[i] for i in order[:-2]), 1, 1))
    if a.flag == 2 or abs(a.ord) == 2:
        left, sizes, right = F._npi_svd(matrices)
        weights = sizes * 0 + 1
        if a.flag != 2:
            extreme = F._npi_max if a.ord > 0 else F._npi_min
            weights = sizes == extreme(sizes, axis=(-1,), keepdims=True)
        scaled = F.broadcast_mul(left, F.expand_dims(weights * (sizes * 0 + 1), axis=-2))
        product = F._npi_matmul(scaled, right)
    else:
        summed, other = (-2, -1) if abs(a.ord) == 1 else (-1, -2)
        sums = F._npi_sum(F.abs(matrices), axis=(summed,), keepdims=True)
        extreme = F._npi_max if a.ord > 0 else F._npi_min
        chosen = sums == extreme(sums, axis=(other,), keepdims=True)
        product = F.broadcast_mul(F.sign(matrices), chosen * (sums * 0 + 1))
    back = tuple(order.index(i) for i in range(len(order)))
    return F._npi_transpose(F.broadcast_mul(product, g), axes=back)


def _refuse_power(a, ins):
    if _of_matrices(a, ins[0].ndim):
        return "a matrix norm"
    if not ins[0].size or not axes_of(a, ins[0].ndim):
        return "nothing is summed"
    return None if a.ord in (1, 2) else "only for sums of magnitudes and squares"


@op(
    "_npi_norm",
    inputs="data",
    names={"x": ("in", 0)},
    uses_types=True,
    in_symbols=InSymbols(tells=True),
    amp="fp32",
)
class Norm:
    """Compute vector norms along `axis` (all axes by default), or matrix norms.

    `ord` is the exponent p of ``sum(abs(x) ** p) ** (1 / p)``; infinity gives the largest
    magnitude, minus infinity the smallest, 0 the number of nonzero elements. With `flag` -1 and two
    axes it is a matrix norm: the largest (smallest) absolute column sum for ord 1 (-1), absolute
    row sum for infinity, or singular value for 2; with flag 2 the sum of singular values. The
    gradient of the norm of zeros is zero.
    """

    axis: ShapeOrNone = None
    ord: Double = 2.0
    keepdims: Bool = False
    flag: Int = -2

    dtypes = ("float32", "float64", "float16")
    complexes = True
    samples = (
        sample((3, 4), tol=2),
        sample((3, 4), axis=(1,), ord=1.0, tol=2),
        sample((2, 3, 4), axis=(0, 2), ord=3.0, keepdims=True, tol=4),
        sample((3, 4), axis=(0,), ord=math.inf),
        sample((3, 4), axis=(0,), ord=-math.inf),
        sample((3, 4), axis=(0,), ord=0.0, grad=False),
        sample((0, 3), axis=(0,), grad=False),
        sample((3, 4), flag=-1, dtypes=_WIDE, tol=20),
        sample((2, 3, 4), flag=2, axis=(0, 2), keepdims=True, dtypes=_WIDE, tol=20),
        sample((3, 4), flag=-1, ord=-1.0, axis=(1, 0), tol=4),
        sample((3, 4), flag=-1, ord=math.inf, tol=4),
    )

    kernels = (
        native(
            lambda a, ins, outs: "sum_abs" if a.ord == 1 else "norm2",
            REDUCE,
            lambda a, ins, outs: reduce_params(ins[0].shape, axes_of(a, ins[0].ndim)),
            when=lambda a, ins, outs: (
                _refuse_power(a, ins)
                or (None if ins[0].dtype == outs[0].dtype else "the result has another dtype")
            ),
        ),
    )

    def infer(a, data):
        dtype = _type(a, data)
        if data.shape is None:
            return Spec(None, dtype)
        return Spec(kept_shape(data.shape, axes_of(a, data.ndim), a.keepdims), dtype)

    def grad(a, F, g, x, out, specs):
        if a.ord == 0:
            return None
        if _of_matrices(a, specs[0].ndim):
            return _by_matrices(a, F, g, x, specs[0].shape)
        if is_complex(specs[0].dtype):
            size = F._npi_absolute(x)
            by_size = Norm.grad_rule(a, F, g, size, out, [Spec(specs[0].shape, None)])
            return F._npi_multiply(by_size, F._mx_conj(F._npi_sign(x)))
        g, out = over(F, g, a, specs[0]), over(F, out, a, specs[0])
        if math.isinf(a.ord):
            return g * F.sign(x) * (F.abs(x) == out)
        none = out == 0
        if a.ord == 1:
            return g * F.sign(x)
        if a.ord == 2:
            return g * x / (out + none) * (1 - none)
        ratio = F.abs(x) / (out + none)
        zero = ratio == 0
        return g * F.sign(x) * (ratio + zero) ** (a.ord - 1) * (1 - zero)

    def ref(a, xp, data):
        kind = dtype_of(_type(a, Spec(data.shape, code_of(data.dtype))))
        axes = axes_of(a, data.ndim)
        if data.dtype.kind != "c":
            data = data.astype("float32" if kind.itemsize == 2 else kind)
        if _of_matrices(a, data.ndim):
            ord = "nuc" if a.flag == 2 else a.ord
            if ord in ("nuc", 2, -2):  # of singular values
                check_finite(data)
            return xp.asarray(xp.linalg.norm(data, ord, axes, a.keepdims), kind)
        size = xp.abs(data)
        if a.ord == 0:
            count = (size != 0).sum(axes)
        elif math.isinf(a.ord):
            empty = {"initial": 0} if a.ord > 0 else {}
            count = (size.max if a.ord > 0 else size.min)(axes, **empty)
        elif a.ord == 1:
            count = size.sum(axes)
        elif a.ord == 2:
            count = xp.sqrt((size * size).sum(axes))
        else:
            count = (size**a.ord).sum(axes) ** (1 / a.ord)
        return xp.asarray(count, kind).reshape(kept_shape(data.shape, axes, a.keepdims))
