"""matmul: products of matrices in the last two axes."""

import math

from mxcy.ops.core.infer import Spec, broadcast_shapes, require
from mxcy.ops.core.record import op, sample
from mxcy.ops.core.result_types import PROMOTE
from mxcy.ops.elementwise.numpy_forms import in_result_type
from mxcy.ops.matrix.numpy_products import TYPES, gemm_kernels, promoted, single_type
from mxcy.ops.matrix.strided_dot import Products, product_kernel


def _as_matrices(lhs, rhs):
    """Return the shapes of the operands as stacks of matrices."""
    return (1, *lhs) if len(lhs) == 1 else lhs, (*rhs, 1) if len(rhs) == 1 else rhs


def _from_matrices(shape, lhs, rhs):
    """Return a product's shape without the axes added to vectors."""
    shape = shape[:-1] if len(rhs) == 1 else shape
    if len(lhs) > 1:
        return shape
    return shape[:-1] if len(rhs) == 1 else (*shape[:-2], shape[-1])


def _stacked(lhs, rhs):
    """Return (number of products, rows, columns, inner extent), None if matrices are broadcast."""
    left, right = _as_matrices(lhs, rhs)
    *batch, m, k = left
    if len(right) == 2:
        return 1, math.prod(batch) * m, right[-1], k
    lead = len(left) - len(right)
    same = left[:-2] == (1,) * lead + right[:-2] or (1,) * -lead + left[:-2] == right[:-2]
    return (math.prod(batch), m, right[-1], k) if same else None


def _places(shape, target):
    """Return the (outer, inner) strides of a stack broadcast to `target`; None if two do not do."""
    extents = [1] * (len(target) - len(shape) + 2) + list(shape[:-2])
    step, loops = shape[-2] * shape[-1], []
    for extent, wanted in zip(reversed(extents), reversed(target), strict=True):
        if wanted != 1:
            loops.append((wanted, step if extent != 1 else 0))
        step *= extent
    return loops


def _joined(target, left, right):
    """Return the loops over the products of a stack, merging adjacent axes."""
    axes = []
    pairs = zip(_places(left, target), _places(right, target), strict=True)
    for (extent, lhs_stride), (_, rhs_stride) in pairs:
        if axes:
            last = axes[-1]
            if lhs_stride == last[0] * last[1] and rhs_stride == last[0] * last[2]:
                axes[-1] = (last[0] * extent, last[1], last[2])
                continue
        axes.append((extent, lhs_stride, rhs_stride))
    return axes


def _products(a, ins, outs):
    """Return the products of broadcast matrices as two loops; None if more are needed."""
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
    reason = single_type(ins, outs)
    if reason is None and _products(a, ins, outs) is None:
        return "more than two axes are broadcast"
    return reason or _usual_refusal(a, ins, outs)


_REPEATED.when = _refuses_repeated


def _transposed(F, array, shape):
    """Transpose matrices."""
    return F.SwapAxis(array, dim1=len(shape) - 2, dim2=len(shape) - 1)


def _summed_to(F, array, shape, target):
    """Sum the gradient of broadcast matrices to their shape."""
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
    shape = (*batch, m, n)
    if len(right) == 2:  # a single matrix product
        rows = math.prod(left[:-1])
        left, shape = (rows, k), (rows, n)
    g = F._backward_reshape(g, shape=shape)
    x, y = F._backward_reshape(x, shape=left), F._backward_reshape(y, shape=right)
    by_x = by_y = None
    if len(left) == len(right) == 2:
        by_x = F._npi_tensordot(g, y, a_axes_summed=(1,), b_axes_summed=(1,)) if needs[0] else None
        by_y = F._npi_tensordot(x, g, a_axes_summed=(0,), b_axes_summed=(0,)) if needs[1] else None
    else:
        if needs[0]:
            by_x = F._npi_matmul(g, _transposed(F, y, right))
            by_x = _summed_to(F, by_x, (*batch, m, k), left)
        if needs[1]:
            by_y = F._npi_matmul(_transposed(F, x, left), g)
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
    """Compute matrix products over the last two axes, broadcasting the leading axes.

    A vector on the left is treated as a row, on the right as a column; the axis is then removed.
    """

    dtypes = TYPES
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
            f"a {lhs.shape} and b {rhs.shape}: expected at least one dimension",
        )
        left, right = _as_matrices(lhs.shape, rhs.shape)
        require(
            left[-1] == right[-2] or -1 in (left[-1], right[-2]),
            f"a {lhs.shape} and b {rhs.shape}: the inner sizes {left[-1]} and {right[-2]} differ",
        )
        batch = broadcast_shapes(left[:-2], right[:-2])
        return Spec(_from_matrices((*batch, left[-2], right[-1]), lhs.shape, rhs.shape), dtype)

    def ref(a, xp, lhs, rhs):
        return xp.asarray(xp.matmul(*promoted(a, xp, (lhs, rhs))))
