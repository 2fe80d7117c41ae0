"""Products of arrays as `mx.np` has them: any element types, any number of dimensions."""

import math

from mxcy._base.dtypes import HALVES, code_of, dtype_of, is_float
from mxcy.ops.core.attrs import Int, LongTuple
from mxcy.ops.core.infer import Spec, broadcast_shapes, normal_axis, require
from mxcy.ops.core.params import GEMM
from mxcy.ops.core.record import by_onednn, native, op, sample
from mxcy.ops.core.result_types import PROMOTE
from mxcy.ops.elementwise.numpy_forms import in_result_type
from mxcy.ops.matrix.strided_dot import Products, product_kernel

__all__ = ["contracted", "gemm_kernels", "together"]

_TYPES = ("float32", "float64", "float16", "bfloat16", "int32", "int8", "bool")
_OPERANDS = ("a", "b")


def together(a, xp, arrays):
    """Arrays in the type in which they meet."""
    specs = [Spec(x.shape, code_of(x.dtype)) for x in arrays]
    return [x.astype(dtype_of(PROMOTE(a, *specs)), copy=False) for x in arrays]


# --- sums over chosen axes -----------------------------------------------------------------------


class _Contraction:
    """The sum of products over pairs of axes, of arrays with `lhs` and `rhs` dimensions."""

    def __init__(self, lhs, rhs, lhs_axes, rhs_axes):
        pairs = sorted(zip(lhs_axes, rhs_axes, strict=True))
        self.lhs_axes = tuple(pair[0] for pair in pairs)
        self.rhs_axes = tuple(pair[1] for pair in pairs)
        self.lhs_free = tuple(i for i in range(lhs) if i not in self.lhs_axes)
        self.rhs_free = tuple(i for i in range(rhs) if i not in self.rhs_axes)

    @property
    def transposes(self):
        """Whether the operands are transposed matrices; None where one is no matrix."""
        if list(self.rhs_axes) != sorted(self.rhs_axes):
            return None
        lhs, rhs = (self.lhs_free, self.lhs_axes), (self.rhs_axes, self.rhs_free)
        found = []
        for first, last in (lhs, rhs):
            if first + last == tuple(range(len(first + last))):
                found.append(False)
            elif last + first == tuple(range(len(first + last))):
                found.append(True)
            else:
                return None
        return found

    def shape(self, lhs, rhs):
        """The result's shape."""
        return tuple(lhs[i] for i in self.lhs_free) + tuple(rhs[i] for i in self.rhs_free)

    def extents(self, lhs, rhs):
        """Rows, columns and inner extent of the product of matrices."""
        return (
            math.prod(lhs[i] for i in self.lhs_free),
            math.prod(rhs[i] for i in self.rhs_free),
            math.prod(lhs[i] for i in self.lhs_axes),
        )

    def gradients(self, F, g, a, b, needs):
        """The gradients of the operands."""
        count = len(self.lhs_free)
        rows = tuple(range(count))
        columns = tuple(range(count, count + len(self.rhs_free)))
        by_a = by_b = None
        if needs[0]:
            kept = self.lhs_free + tuple(
                self.lhs_axes[self.rhs_axes.index(i)] for i in sorted(self.rhs_axes)
            )
            found = F._npi_tensordot(g, b, a_axes_summed=columns, b_axes_summed=self.rhs_free)
            by_a = _ordered(F, found, kept)
        if needs[1]:
            found = F._npi_tensordot(a, g, a_axes_summed=self.lhs_free, b_axes_summed=rows)
            by_b = _ordered(F, found, self.rhs_axes + self.rhs_free)
        return by_a, by_b


def _ordered(F, array, axes):
    """The array whose axes are those `axes` of another, in that one's order."""
    if list(axes) == sorted(axes):
        return array
    return F._npi_transpose(array, axes=tuple(map(axes.index, range(len(axes)))))


def _infer_contraction(a, lhs, rhs, found):
    for left, right in zip(found.lhs_axes, found.rhs_axes, strict=True):
        left, right = lhs.shape[left], rhs.shape[right]
        require(
            left == right or -1 in (left, right),
            f"a {lhs.shape} and b {rhs.shape}: the summed extents {left} and {right} differ",
        )
    return Spec(found.shape(lhs.shape, rhs.shape), PROMOTE(a, lhs, rhs))


def _single_type(ins, outs):
    """Why no kernel computes a product, or None."""
    if not all(spec.size for spec in (*ins, *outs)):
        return "there are no elements"
    if ins[0].dtype != ins[1].dtype:
        return "the operands have several types"
    return None if is_float(ins[0].dtype) else "the numbers are integers"


def gemm_kernels(extents_of, transposes_of):
    """The kernels of what is one product of matrices, or equally many of each operand."""

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
        reason = _single_type(ins, outs)
        if reason is None and transposes_of(a, ins[0], ins[1]) is None:
            return "an operand is no matrix"
        return reason

    def unusual(a, ins, outs):
        """Why the own kernel is as fast, or None; see `dot` and `batch_dot`."""
        batch, m, n, k = extents_of(a, ins[0], ins[1])
        if ins[0].dtype in HALVES:
            return None
        if batch > 1:
            return None if m * n * k >= 1 << 19 else "small products"
        narrow = 32 <= min(m, n) <= 64 and m * n * k >= 1 << 23
        return None if narrow else "not a large narrow product"

    def work(a, ins, outs):
        return math.prod(extents_of(a, ins[0], ins[1])) // 4

    own = native("gemm", GEMM, params, when=refuses, work=work)
    return by_onednn(own, unusual), own


def _contraction_parts(found_of):
    """Inference, gradient, definition and kernels of a contraction."""

    def infer(a, lhs, rhs):
        if lhs.shape is None or rhs.shape is None:
            return Spec(None, PROMOTE(a, lhs, rhs))
        return _infer_contraction(a, lhs, rhs, found_of(a, lhs, rhs))

    def grad(a, F, g, x, y, needs, specs):
        return found_of(a, *specs).gradients(F, g, x, y, needs)

    def ref(a, xp, x, y):
        found = found_of(a, *(Spec(z.shape) for z in (x, y)))
        x, y = together(a, xp, (x, y))
        return xp.asarray(xp.tensordot(x, y, (found.lhs_axes, found.rhs_axes)))

    def extents(a, lhs, rhs):
        return 1, *found_of(a, lhs, rhs).extents(lhs.shape, rhs.shape)

    def transposes(a, lhs, rhs):
        return found_of(a, lhs, rhs).transposes

    return {
        "infer": infer,
        "grad": in_result_type(PROMOTE, grad, ("x", "y")),
        "names": {"x": ("in", 0), "y": ("in", 1)},
        "ref": ref,
        "kernels": gemm_kernels(extents, transposes),
        "uses_types": True,
        "dtypes": _TYPES,
    }


def contracted(a, lhs, rhs):
    """The contraction of attributes `a_axes_summed` and `b_axes_summed`."""
    left, right = a.a_axes_summed or (), a.b_axes_summed or ()
    require(len(left) == len(right), f"axes: {left} and {right} differ in their number")
    left = [normal_axis(axis, lhs.ndim, "a_axes_summed") for axis in left]
    right = [normal_axis(axis, rhs.ndim, "b_axes_summed") for axis in right]
    distinct = len(set(left)) == len(left) and len(set(right)) == len(right)
    require(distinct, f"axes: {left} and {right} name an axis twice")
    return _Contraction(lhs.ndim, rhs.ndim, left, right)


@op("_npi_tensordot", inputs="a b", **_contraction_parts(contracted), amp="widest")
class TensorDot:
    """Sums of products over pairs of axes; what remains are the other axes of a, then of b."""

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
    """Sums of products over the last `axes` axes of a and the first ones of b."""

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
    """Sums of products over the last axis of a and the last but one of b.

    Vectors have one axis; an array and a number give the product of each element.
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


# --- products of matrices ------------------------------------------------------------------------


def _as_matrices(lhs, rhs):
    """The shapes of operands as stacks of matrices."""
    return (1, *lhs) if len(lhs) == 1 else lhs, (*rhs, 1) if len(rhs) == 1 else rhs


def _from_matrices(shape, lhs, rhs):
    """The shape of a product without the axes that vectors got."""
    shape = shape[:-1] if len(rhs) == 1 else shape
    if len(lhs) > 1:
        return shape
    return shape[:-1] if len(rhs) == 1 else (*shape[:-2], shape[-1])


def _stacked(lhs, rhs):
    """(number of products, rows, columns, inner extent), None where matrices are repeated."""
    left, right = _as_matrices(lhs, rhs)
    *batch, m, k = left
    if len(right) == 2:
        return 1, math.prod(batch) * m, right[-1], k
    lead = len(left) - len(right)
    same = left[:-2] == (1,) * lead + right[:-2] or (1,) * -lead + left[:-2] == right[:-2]
    return (math.prod(batch), m, right[-1], k) if same else None


def _places(shape, target):
    """Steps to the next (outer, inner) matrix of a stack spread over `target`; None for more."""
    extents = [1] * (len(target) - len(shape) + 2) + list(shape[:-2])
    step, loops = shape[-2] * shape[-1], []
    for extent, wanted in zip(reversed(extents), reversed(target), strict=True):
        if wanted != 1:
            loops.append((wanted, step if extent != 1 else 0))
        step *= extent
    return loops


def _joined(target, left, right):
    """Loops over the products of a stack, neighbours that go in one step joined."""
    found = []
    pairs = zip(_places(left, target), _places(right, target), strict=True)
    for (extent, one), (_, other) in pairs:
        if found:
            last = found[-1]
            if one == last[0] * last[1] and other == last[0] * last[2]:
                found[-1] = (last[0] * extent, last[1], last[2])
                continue
        found.append((extent, one, other))
    return found


def _products(a, ins, outs):
    """The products of repeated matrices, as two loops; None where they need more."""
    left, right = _as_matrices(ins[0].shape, ins[1].shape)
    target = broadcast_shapes(left[:-2], right[:-2])
    m, k, n = left[-2], left[-1], right[-1]
    loops = _joined(target, left, right)
    if len(loops) > 2:
        return None
    (inner, *inner_steps), (outer, *outer_steps) = loops + [(1, 0, 0)] * (2 - len(loops))
    return Products(
        (outer, inner, m, n, k),
        (0, outer_steps[0], inner_steps[0], k, 1),
        (0, outer_steps[1], inner_steps[1], n, 1),
        (0, inner * m * n, m * n, n, 1),
    )


_STACKED = gemm_kernels(
    lambda a, lhs, rhs: _stacked(lhs.shape, rhs.shape),
    lambda a, lhs, rhs: None if _stacked(lhs.shape, rhs.shape) is None else (False, False),
)
_REPEATED = product_kernel(_products)
_usual_refusal = _REPEATED.when


def _refuses_repeated(a, ins, outs):
    reason = _single_type(ins, outs)
    if reason is None and _products(a, ins, outs) is None:
        return "more than two axes are repeated"
    return reason or _usual_refusal(a, ins, outs)


_REPEATED.when = _refuses_repeated


def _turned(F, array, shape):
    """Matrices with their axes exchanged."""
    return F.SwapAxis(array, dim1=len(shape) - 2, dim2=len(shape) - 1)


def _summed_to(F, array, shape, target):
    """The gradient of repeated matrices as that of each."""
    lead = len(shape) - len(target)
    axes = (
        *range(lead),
        *(i + lead for i, n in enumerate(target) if n == 1 and shape[i + lead] != 1),
    )
    array = F._npi_sum(array, axis=axes) if axes else array
    return F._backward_reshape(array, shape=target)


def _matmul_grad(a, F, g, x, y, needs, specs):
    left, right = _as_matrices(specs[0].shape, specs[1].shape)
    batch = broadcast_shapes(left[:-2], right[:-2])
    m, k, n = left[-2], left[-1], right[-1]
    whole = (*batch, m, n)
    if len(right) == 2:  # one product of matrices
        rows = math.prod(left[:-1])
        left, whole = (rows, k), (rows, n)
    g = F._backward_reshape(g, shape=whole)
    x, y = F._backward_reshape(x, shape=left), F._backward_reshape(y, shape=right)
    by_x = by_y = None
    if len(left) == len(right) == 2:
        by_x = F._npi_tensordot(g, y, a_axes_summed=(1,), b_axes_summed=(1,)) if needs[0] else None
        by_y = F._npi_tensordot(x, g, a_axes_summed=(0,), b_axes_summed=(0,)) if needs[1] else None
    else:
        if needs[0]:
            by_x = F._npi_matmul(g, _turned(F, y, right))
            by_x = _summed_to(F, by_x, (*batch, m, k), left)
        if needs[1]:
            by_y = F._npi_matmul(_turned(F, x, left), g)
            by_y = _summed_to(F, by_y, (*batch, k, n), right)
    return (
        None if by_x is None else F._backward_reshape(by_x, shape=specs[0].shape),
        None if by_y is None else F._backward_reshape(by_y, shape=specs[1].shape),
    )


@op(
    "_npi_matmul",
    inputs="a b",
    uses_types=True,
    names={"x": ("in", 0), "y": ("in", 1)},
    numpy=("matmul(a, b, out=None, **kwargs)", "linalg.matmul(a, b)"),
    amp="lp16",
)
class MatMul:
    """Products of the matrices in the last two axes; the axes before them broadcast.

    A vector on the left is a row, one on the right a column, and the axis goes again.
    """

    dtypes = _TYPES
    complexes = True
    samples = (
        sample((2, 3), (3, 4)),
        sample((3,), (3,)),
        sample((3,), (3, 4)),
        sample((2, 3), (3,)),
        sample((2, 3, 4), (4,)),
        sample((4,), (2, 4, 3)),
        sample((2, 3, 4), (2, 4, 2)),
        sample((5, 1, 2, 3), (4, 3, 2)),
        sample((2, 1, 3, 1, 2, 2), (1, 2, 1, 2, 2, 2)),
        sample((2, 3), (3, 3, 2)),
        sample((2, 0, 3), (2, 3, 2), grad=False),
        sample((2, 0), (0, 3), grad=False),
        sample((64, 512), (512, 256), dtypes=("float32",), grad=False, tol=16),
    )
    kernels = (*_STACKED, _REPEATED)
    grad = in_result_type(PROMOTE, _matmul_grad, ("x", "y"))

    def infer(a, lhs, rhs):
        dtype = PROMOTE(a, lhs, rhs)
        if lhs.shape is None or rhs.shape is None:
            return Spec(None, dtype)
        require(
            lhs.shape and rhs.shape,
            f"a {lhs.shape} and b {rhs.shape}: expected one dimension at least",
        )
        left, right = _as_matrices(lhs.shape, rhs.shape)
        require(
            left[-1] == right[-2] or -1 in (left[-1], right[-2]),
            f"a {lhs.shape} and b {rhs.shape}: the summed extents {left[-1]} and {right[-2]} "
            "differ",
        )
        batch = broadcast_shapes(left[:-2], right[:-2])
        return Spec(_from_matrices((*batch, left[-2], right[-1]), lhs.shape, rhs.shape), dtype)

    def ref(a, xp, lhs, rhs):
        return xp.asarray(xp.matmul(*together(a, xp, (lhs, rhs))))
