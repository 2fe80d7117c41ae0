"""Tensor contractions of `mx.np`: tensordot and dot, for all dtypes and ranks."""

import math

from mxcy._base.dtypes import HALVES, code_of, dtype_of, is_float
from mxcy.ops.core.attrs import Int, LongTuple
from mxcy.ops.core.infer import Spec, normal_axis, require
from mxcy.ops.core.params import GEMM
from mxcy.ops.core.record import by_onednn, native, op, sample
from mxcy.ops.core.result_types import PROMOTE
from mxcy.ops.elementwise.numpy_forms import in_result_type

__all__ = ["contracted", "gemm_kernels", "promoted"]

TYPES = ("float32", "float64", "float16", "bfloat16", "int32", "int8", "bool")
_OPERANDS = ("a", "b")


def promoted(a, xp, arrays):
    """Promote arrays to their common dtype."""
    specs = [Spec(x.shape, code_of(x.dtype)) for x in arrays]
    return [x.astype(dtype_of(PROMOTE(a, *specs)), copy=False) for x in arrays]


class _Contraction:
    """Contraction over pairs of axes of arrays with `lhs` and `rhs` dimensions."""

    def __init__(self, lhs, rhs, lhs_axes, rhs_axes):
        pairs = sorted(zip(lhs_axes, rhs_axes, strict=True))
        self.lhs_axes = tuple(pair[0] for pair in pairs)
        self.rhs_axes = tuple(pair[1] for pair in pairs)
        self.lhs_free = tuple(i for i in range(lhs) if i not in self.lhs_axes)
        self.rhs_free = tuple(i for i in range(rhs) if i not in self.rhs_axes)

    @property
    def transposes(self):
        """Return whether the operands are transposed matrices; None if one is not a matrix."""
        if list(self.rhs_axes) != sorted(self.rhs_axes):
            return None
        lhs, rhs = (self.lhs_free, self.lhs_axes), (self.rhs_axes, self.rhs_free)
        transposed = []
        for first, last in (lhs, rhs):
            if first + last == tuple(range(len(first + last))):
                transposed.append(False)
            elif last + first == tuple(range(len(first + last))):
                transposed.append(True)
            else:
                return None
        return transposed

    def shape(self, lhs, rhs):
        """Return the result's shape."""
        return tuple(lhs[i] for i in self.lhs_free) + tuple(rhs[i] for i in self.rhs_free)

    def extents(self, lhs, rhs):
        """Return rows, columns and inner extent of the matrix product."""
        return (
            math.prod(lhs[i] for i in self.lhs_free),
            math.prod(rhs[i] for i in self.rhs_free),
            math.prod(lhs[i] for i in self.lhs_axes),
        )

    def gradients(self, F, g, a, b, needs):
        """Return the gradients of the operands."""
        count = len(self.lhs_free)
        rows = tuple(range(count))
        columns = tuple(range(count, count + len(self.rhs_free)))
        by_a = by_b = None
        if needs[0]:
            kept = self.lhs_free + tuple(
                self.lhs_axes[self.rhs_axes.index(i)] for i in sorted(self.rhs_axes)
            )
            product = F._npi_tensordot(g, b, a_axes_summed=columns, b_axes_summed=self.rhs_free)
            by_a = _ordered(F, product, kept)
        if needs[1]:
            product = F._npi_tensordot(a, g, a_axes_summed=self.lhs_free, b_axes_summed=rows)
            by_b = _ordered(F, product, self.rhs_axes + self.rhs_free)
        return by_a, by_b


def _ordered(F, array, axes):
    """Permute an array with axes `axes` back to the original order."""
    if list(axes) == sorted(axes):
        return array
    return F._npi_transpose(array, axes=tuple(map(axes.index, range(len(axes)))))


def _infer_contraction(a, lhs, rhs, contraction):
    for left, right in zip(contraction.lhs_axes, contraction.rhs_axes, strict=True):
        left, right = lhs.shape[left], rhs.shape[right]
        require(
            left == right or -1 in (left, right),
            f"a {lhs.shape} and b {rhs.shape}: the inner sizes {left} and {right} differ",
        )
    return Spec(contraction.shape(lhs.shape, rhs.shape), PROMOTE(a, lhs, rhs))


def single_type(ins, outs):
    """Return why no kernel computes a product, or None."""
    if not all(spec.size for spec in (*ins, *outs)):
        return "there are no elements"
    if ins[0].dtype != ins[1].dtype:
        return "the operands have several dtypes"
    return None if is_float(ins[0].dtype) else "the elements are integers"


def gemm_kernels(extents_of, transposes_of):
    """Return the kernels of a single matrix product, or of equally many on both sides."""

    def params(a, ins, outs):
        batch, m, n, k = extents_of(a, ins[0], ins[1])
        left, right = transposes_of(a, ins[0], ins[1])
        return {
            "batch": batch,
            "m": m,
            "n": n,
            "k": k,
            "transpose_a": left,
            "transpose_b": right,
            "alpha": 1.0,
            "beta": 0.0,
        }

    def refuses(a, ins, outs):
        if len(ins) != 2:
            return "there are not two operands"
        reason = single_type(ins, outs)
        if reason is None and transposes_of(a, ins[0], ins[1]) is None:
            return "an operand is not a matrix"
        return reason

    def unusual(a, ins, outs):
        """Return why our own kernel is as fast as oneDNN's, or None; see `dot` and `batch_dot`."""
        batch, m, n, k = extents_of(a, ins[0], ins[1])
        if ins[0].dtype in HALVES:
            return None
        if batch > 1:
            return None if m * n * k >= 1 << 19 else "small products"
        long_and_thin = 32 <= min(m, n) <= 64 and m * n * k >= 1 << 23
        return None if long_and_thin else "not a large narrow product"

    def work(a, ins, outs):
        return math.prod(extents_of(a, ins[0], ins[1])) // 4

    own = native("gemm", GEMM, params, when=refuses, work=work)
    return by_onednn(own, unusual), own


def _contraction_parts(contraction_of):
    """Return inference, gradient, reference and kernels of a contraction."""

    def infer(a, lhs, rhs):
        if lhs.shape is None or rhs.shape is None:
            return Spec(None, PROMOTE(a, lhs, rhs))
        return _infer_contraction(a, lhs, rhs, contraction_of(a, lhs, rhs))

    def grad(a, F, g, x, y, needs, specs):
        return contraction_of(a, *specs).gradients(F, g, x, y, needs)

    def ref(a, xp, x, y):
        contraction = contraction_of(a, *(Spec(z.shape) for z in (x, y)))
        x, y = promoted(a, xp, (x, y))
        return xp.asarray(xp.tensordot(x, y, (contraction.lhs_axes, contraction.rhs_axes)))

    def extents(a, lhs, rhs):
        return 1, *contraction_of(a, lhs, rhs).extents(lhs.shape, rhs.shape)

    def transposes(a, lhs, rhs):
        return contraction_of(a, lhs, rhs).transposes

    return {
        "infer": infer,
        "grad": in_result_type(PROMOTE, grad, ("x", "y")),
        "names": {"x": ("in", 0), "y": ("in", 1)},
        "ref": ref,
        "kernels": gemm_kernels(extents, transposes),
        "uses_types": True,
        "dtypes": TYPES,
    }


def contracted(a, lhs, rhs):
    """Return the contraction of attributes `a_axes_summed` and `b_axes_summed`."""
    left, right = a.a_axes_summed or (), a.b_axes_summed or ()
    require(len(left) == len(right), f"axes: {left} and {right} differ in length")
    left = [normal_axis(axis, lhs.ndim, "a_axes_summed") for axis in left]
    right = [normal_axis(axis, rhs.ndim, "b_axes_summed") for axis in right]
    distinct = len(set(left)) == len(left) and len(set(right)) == len(right)
    require(distinct, f"axes: {left} and {right} name an axis twice")
    return _Contraction(lhs.ndim, rhs.ndim, left, right)


@op("_npi_tensordot", inputs="a b", **_contraction_parts(contracted), amp="widest")
class TensorDot:
    """Compute the tensor dot product over pairs of axes; axes of a precede those of b."""

    a_axes_summed: LongTuple
    b_axes_summed: LongTuple

    complexes = True
    samples = (
        sample((2, 3), (3, 4), a_axes_summed=(1,), b_axes_summed=(0,)),
        sample((2, 3, 4), (4, 3, 5), a_axes_summed=(1, 2), b_axes_summed=(1, 0)),
        sample((2, 3), (2, 3), a_axes_summed=(0, 1), b_axes_summed=(0, 1)),
        sample((3, 4, 2), (5, 3, 4), a_axes_summed=(-3, 1), b_axes_summed=(1, 2)),
        sample((3, 2), (3, 4, 3), a_axes_summed=(0,), b_axes_summed=(2,)),
        sample((2,), (3, 1), a_axes_summed=(), b_axes_summed=()),
        sample((), (), a_axes_summed=(), b_axes_summed=(), dtypes=("float64", "int32")),
        sample((2, 0), (0, 3), a_axes_summed=(1,), b_axes_summed=(0,), grad=False),
        sample(
            (64, 512),
            (512, 256),
            a_axes_summed=(1,),
            b_axes_summed=(0,),
            dtypes=("float32",),
            grad=False,
            tol=16,
        ),
    )


def _by_number(a, lhs, rhs):
    count = a.axes
    require(
        0 <= count <= min(lhs.ndim, rhs.ndim),
        f"axes: {count} axes of arrays of shapes {lhs.shape} and {rhs.shape} cannot be summed over",
    )
    return _Contraction(lhs.ndim, rhs.ndim, range(lhs.ndim - count, lhs.ndim), range(count))


@op("_npi_tensordot_int_axes", inputs="a b", **_contraction_parts(_by_number), amp="widest")
class TensorDotIntAxes:
    """Compute the tensor dot product over the last `axes` axes of a and the first ones of b."""

    axes: Int

    complexes = True
    samples = (
        sample((2, 3), (3, 4), axes=1),
        sample((2, 3, 4), (3, 4, 5), axes=2),
        sample((3,), (4,), axes=0),
        sample((), (2, 3), axes=0, dtypes=("float32", "float64", "int32")),
        sample((2, 0), (0, 3), axes=1, grad=False),
        sample((64, 512), (512, 256), axes=1, dtypes=("float32",), grad=False, tol=16),
    )


def _of_dot(a, lhs, rhs):
    if 0 in (lhs.ndim, rhs.ndim):
        return _Contraction(lhs.ndim, rhs.ndim, (), ())
    return _Contraction(lhs.ndim, rhs.ndim, (lhs.ndim - 1,), (max(rhs.ndim - 2, 0),))


@op(
    "_npi_dot",
    inputs="a b",
    numpy="dot(a, b, out=None)",
    **_contraction_parts(_of_dot),
    amp="widest",
)
class NumpyDot:
    """Compute the dot product over the last axis of a and the last but one of b.

    Over its only axis for a vector b; with a scalar it is the elementwise product.
    """

    complexes = True
    samples = (
        sample((2, 3), (3, 4)),
        sample((3,), (3,)),
        sample((2, 3), (3,)),
        sample((2, 3, 4), (2, 4, 3)),
        sample((), (2, 3), dtypes=("float32", "float64", "int32")),
        sample((2, 0), (0, 3), grad=False),
        sample((64, 512), (512, 256), dtypes=("float32",), grad=False, tol=16),
    )
