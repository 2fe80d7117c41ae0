"""Matrix products: dot and batch_dot."""

from mxcy._base.dtypes import HALVES
from mxcy.ops.core.attrs import Bool, Enum
from mxcy.ops.core.infer import Spec, back_dtypes, require, same_dtype
from mxcy.ops.core.params import GEMM
from mxcy.ops.core.record import by_onednn, native, op, sample
from mxcy.ops.sparse.rules import dot_rules

_STYPES = Enum(None, "csr", "default", "row_sparse")
_DTYPES = ("float32", "float64", "float16", "bfloat16")


def _work(batch, m, n, k):
    """Return the cost of a product: multiplications in registers are cheaper than steps."""
    return batch * m * n * k // 4


def _product(shape):
    n = 1
    for extent in shape:
        n *= extent
    return n


def _dot_extents(a, lhs, rhs):
    """Return (rows, columns, inner) of the product that `dot` computes."""
    inner = lhs[0] if a.transpose_a else lhs[-1]
    rows = _product(lhs[1:] if a.transpose_a else lhs[:-1])
    columns = _product(rhs[:-1] if a.transpose_b else rhs[1:])
    return rows, columns, inner


def _dot_params(a, ins, outs):
    m, n, k = _dot_extents(a, ins[0].shape, ins[1].shape)
    return {
        "batch": 1,
        "m": m,
        "n": n,
        "k": k,
        "transpose_a": a.transpose_a,
        "transpose_b": a.transpose_b,
        "alpha": 1.0,
        "beta": 0.0,
    }


def _refuse_empty(a, ins, outs):
    return None if ins[0].size and ins[1].size else "there are no elements"


_DOT = native(
    "gemm",
    GEMM,
    _dot_params,
    when=_refuse_empty,
    work=lambda a, ins, outs: _work(1, *_dot_extents(a, ins[0].shape, ins[1].shape)),
)


def _not_narrow(a, ins, outs):
    """Return why our own kernel is as fast as oneDNN's, or None.

    As measured, oneDNN is faster for long and narrow products, and for 16-bit elements that the CPU
    multiplies natively.
    """
    if ins[0].dtype in HALVES:
        return None
    m, n, k = _dot_extents(a, ins[0].shape, ins[1].shape)
    long_and_thin = 32 <= min(m, n) <= 64 and m * n * k >= 1 << 23
    return None if long_and_thin else "not a large narrow product"


def _as_matrix(F, x, spec, shape):
    """Reshape an operand to a matrix; matrices, sparse ones included, are unchanged."""
    return x if tuple(spec.shape) == shape else F.Reshape(x, shape=shape)


def _from_matrix(F, x, spec):
    return x if len(spec.shape) == 2 else F.Reshape(x, shape=spec.shape)


@op("dot", aliases=("_sparse_dot",), inputs="lhs rhs", amp="widest")
class Dot:
    """Compute the dot product over the last axis of lhs and the first axis of rhs.

    Shapes: (..., k) and (k, ...) give lhs.shape[:-1] + rhs.shape[1:]; with `transpose_a` the first
    axis of lhs is summed over, with `transpose_b` the last of rhs. Two vectors give shape (1,).
    """

    transpose_a: Bool = False
    transpose_b: Bool = False
    forward_stype: _STYPES = None

    dtypes = _DTYPES
    stypes = dot_rules()
    kernels = (by_onednn(_DOT, _not_narrow), _DOT)
    samples = (
        sample((3, 4), (4, 5)),
        sample((4, 3), (4, 5), transpose_a=True),
        sample((3, 4), (5, 4), transpose_b=True),
        sample((4, 3), (5, 4), transpose_a=True, transpose_b=True),
        sample((5,), (5,)),
        sample((2, 3, 4), (4, 2)),
        sample((40, 33), (33, 21)),
    )

    infer_back = back_dtypes

    def infer(a, lhs, rhs):
        dtype = same_dtype((lhs, rhs), ("lhs", "rhs"))
        if lhs.shape is None or rhs.shape is None:
            return Spec(None, dtype)
        require(lhs.shape and rhs.shape, "lhs, rhs: expected at least one dimension")
        left = lhs.shape[0] if a.transpose_a else lhs.shape[-1]
        right = rhs.shape[-1] if a.transpose_b else rhs.shape[0]
        require(
            left == right or -1 in (left, right),
            f"lhs {lhs.shape} and rhs {rhs.shape}: the inner sizes {left} and {right} differ",
        )
        lead = lhs.shape[1:] if a.transpose_a else lhs.shape[:-1]
        tail = rhs.shape[:-1] if a.transpose_b else rhs.shape[1:]
        return Spec((lead + tail) or (1,), dtype)

    def grad(a, F, g, lhs, rhs, needs, specs):
        rows, columns, inner = _dot_extents(a, specs[0].shape, specs[1].shape)
        g = _as_matrix(F, g, Dot._infer(a, *specs), (rows, columns))
        by_left = by_right = None
        if needs[0]:
            shape = (columns, inner) if a.transpose_b else (inner, columns)
            right = _as_matrix(F, rhs, specs[1], shape)
            if a.transpose_a:
                by_left = F.dot(right, g, transpose_a=a.transpose_b, transpose_b=True)
            else:
                by_left = F.dot(g, right, transpose_b=not a.transpose_b)
            by_left = _from_matrix(F, by_left, specs[0])
        if needs[1]:
            left = _as_matrix(F, lhs, specs[0], (inner, rows) if a.transpose_a else (rows, inner))
            if a.transpose_b:
                by_right = F.dot(g, left, transpose_a=True, transpose_b=a.transpose_a)
            else:
                by_right = F.dot(left, g, transpose_a=not a.transpose_a)
            by_right = _from_matrix(F, by_right, specs[1])
        return by_left, by_right

    def ref(a, xp, lhs, rhs):
        left, right = (0 if a.transpose_a else -1), (-1 if a.transpose_b else 0)
        out = xp.tensordot(lhs, rhs, axes=(left, right))
        return out.reshape(out.shape or (1,))


def _batch_extents(a, lhs, rhs):
    rows, inner = lhs[-2:] if not a.transpose_a else lhs[:-3:-1]
    columns = rhs[-2] if a.transpose_b else rhs[-1]
    return rows, columns, inner


def _batch_params(a, ins, outs):
    m, n, k = _batch_extents(a, ins[0].shape, ins[1].shape)
    return {
        "batch": _product(ins[0].shape[:-2]),
        "m": m,
        "n": n,
        "k": k,
        "transpose_a": a.transpose_a,
        "transpose_b": a.transpose_b,
        "alpha": 1.0,
        "beta": 0.0,
    }


_BATCH_DOT = native(
    "gemm",
    GEMM,
    _batch_params,
    when=_refuse_empty,
    work=lambda a, ins, outs: _work(
        _product(ins[0].shape[:-2]), *_batch_extents(a, ins[0].shape, ins[1].shape)
    ),
)


def _small(a, ins, outs):
    if ins[0].dtype in HALVES:
        return None
    size = _product(_batch_extents(a, ins[0].shape, ins[1].shape))
    several = _product(ins[0].shape[:-2]) > 1
    return None if several and size >= 1 << 19 else "small or single products"


@op(
    "batch_dot",
    aliases=("_npx_batch_dot",),
    inputs="lhs rhs",
    numpy=(
        "npx.batch_dot(a, b, transpose_a=False, transpose_b=False, forward_stype='default', "
        "out=None, name=None)"
    ),
    amp="widest",
)
class BatchDot:
    """Compute batched matrix products: (b, m, k) and (b, k, n) give (b, m, n).

    `transpose_a` and `transpose_b` swap the last two axes of an operand. There may be several
    leading axes, which must agree.
    """

    transpose_a: Bool = False
    transpose_b: Bool = False
    forward_stype: _STYPES = None

    dtypes = _DTYPES
    kernels = (by_onednn(_BATCH_DOT, _small), _BATCH_DOT)
    samples = (
        sample((2, 3, 4), (2, 4, 5)),
        sample((2, 4, 3), (2, 4, 5), transpose_a=True),
        sample((2, 3, 4), (2, 5, 4), transpose_b=True),
        sample((2, 4, 3), (2, 5, 4), transpose_a=True, transpose_b=True),
    )

    infer_back = back_dtypes

    def infer(a, lhs, rhs):
        dtype = same_dtype((lhs, rhs), ("lhs", "rhs"))
        if lhs.shape is None or rhs.shape is None:
            return Spec(None, dtype)
        require(
            lhs.ndim == rhs.ndim and lhs.ndim >= 3,
            f"lhs {lhs.shape} and rhs {rhs.shape}: expected equal ranks of at least 3",
        )
        for x, y in zip(lhs.shape[:-2], rhs.shape[:-2], strict=True):
            require(
                x == y or -1 in (x, y), f"lhs {lhs.shape} and rhs {rhs.shape}: the batches differ"
            )
        rows, columns, inner = _batch_extents(a, lhs.shape, rhs.shape)
        right = rhs.shape[-1] if a.transpose_b else rhs.shape[-2]
        if -1 in (rows, columns, inner, right):
            return Spec(None, dtype)
        require(
            inner == right,
            f"lhs {lhs.shape} and rhs {rhs.shape}: the inner sizes {inner} and {right} differ",
        )
        pairs = zip(lhs.shape[:-2], rhs.shape[:-2], strict=True)
        return Spec((*[max(pair) for pair in pairs], rows, columns), dtype)

    def grad(a, F, g, lhs, rhs, needs):
        by_left = by_right = None
        if needs[0]:
            if a.transpose_a:
                by_left = F.batch_dot(rhs, g, transpose_a=a.transpose_b, transpose_b=True)
            else:
                by_left = F.batch_dot(g, rhs, transpose_b=not a.transpose_b)
        if needs[1]:
            if a.transpose_b:
                by_right = F.batch_dot(g, lhs, transpose_a=True, transpose_b=a.transpose_a)
            else:
                by_right = F.batch_dot(lhs, g, transpose_a=not a.transpose_a)
        return by_left, by_right

    def ref(a, xp, lhs, rhs):
        lhs = lhs.swapaxes(-1, -2) if a.transpose_a else lhs
        rhs = rhs.swapaxes(-1, -2) if a.transpose_b else rhs
        return xp.matmul(lhs, rhs)
