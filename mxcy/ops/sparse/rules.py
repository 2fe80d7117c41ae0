"""Storage type rules, shared ones and those of single operators."""

from mxcy.ops.core.stypes import Csr, RowSparse, densely, on_stored, rule
from mxcy.ops.sparse import compose

__all__ = [
    "BOTH",
    "KEPT",
    "MIXED",
    "MULTIPLIED",
    "concatenated",
    "csr_by_dense",
    "csr_reduced",
    "divided",
    "dot_rules",
    "embedded",
    "first_cast",
    "first_kept",
    "norm_rules",
    "sliced",
    "taken",
    "united",
]

BOTH = ("csr", "row_sparse")
#: rules of unary operators that map zero to zero
KEPT = on_stored(*BOTH)
#: a dense operand makes the result dense, without a warning about the temporary
MIXED = densely("default csr", "csr default", "default row_sparse", "row_sparse default")


def united(operation):
    """Return the rules of an operation on two arrays of one sparse type."""
    run = compose.merged(operation)
    return (rule("csr csr -> csr", run), rule("row_sparse row_sparse -> row_sparse", run))


def first_kept(pattern):
    """Return the rule of an operator that returns its first input."""
    return rule(pattern, lambda a, F, lhs, *others: lhs)


def first_cast(pattern):
    """Return the rule of an operator that returns its first input in another storage type."""
    stype = pattern.split()[-1]

    def run(a, F, lhs, *others):
        dense = compose.to_dense(F, lhs) if isinstance(lhs, Csr | RowSparse) else lhs
        return compose.cast(F, dense, stype)

    return rule(pattern, run, warns=True)


# --- elementwise products -----------------------------------------------------------------


def _sparse_by_dense(F, x, dense, operator):
    """Combine the stored elements of a sparse array with the dense elements at their positions."""
    if x.stype == "csr":
        other = F._csr_gather(dense, x.indices, x.indptr)
    else:
        other = F.take(dense, x.indices)
    return x._replace(data=getattr(F, operator)(x.data, other))


MULTIPLIED = (
    *united("mul"),
    *(
        rule(f"{s} default -> {s}", lambda a, F, x, y: _sparse_by_dense(F, x, y, "elemwise_mul"))
        for s in BOTH
    ),
    *(
        rule(f"default {s} -> {s}", lambda a, F, x, y: _sparse_by_dense(F, y, x, "elemwise_mul"))
        for s in BOTH
    ),
)


def divided(a, F, lhs, rhs):
    """Divide the stored rows of a row_sparse lhs by the same rows of rhs."""
    if isinstance(rhs, RowSparse):
        rows = F._row_retain(rhs.data, rhs.indices, lhs.indices)
    else:
        dense = compose.to_dense(F, rhs) if isinstance(rhs, Csr) else rhs
        rows = F.take(dense, lhs.indices)
    return lhs._replace(data=lhs.data / rows)


def csr_by_dense(operator, when=None):
    """Return the rule of a csr array scaled by a broadcast dense array."""

    def fits(a, lhs, rhs):
        if len(rhs.shape) > 2 or (when is not None and not when(a, lhs, rhs)):
            return False
        row = (1,) * (2 - len(rhs.shape)) + tuple(rhs.shape)
        return all(n in (1, m) for n, m in zip(row, lhs.shape, strict=True))

    def run(a, F, x, dense):
        if dense.ndim < 2:
            dense = dense.reshape((1, -1))
        return _sparse_by_dense(F, x, dense, operator)

    return rule("csr default -> csr", run, fits)


# --- rows and columns ----------------------------------------------------------------------------


def csr_reduced(name):
    """Return the rule of `sum` or `mean` of a csr array over one axis."""

    def fits(a, data):
        return not a.keepdims and not a.exclude and tuple(a.axis or ()) in ((0,), (1,))

    def run(a, F, x):
        (axis,) = a.axis
        total = F._csr_sum(x.data, x.indices, x.indptr, columns=x.shape[1], axis=axis)
        return total if name == "sum" else total / x.shape[axis]

    return rule("csr -> default", run, fits)


def norm_rules():
    """Return the rules of the 2-norm: of all elements, or of a csr array's rows or columns."""

    def whole(a, data):
        return a.ord == 2 and a.axis is None and not a.keepdims

    def along(a, data):
        return a.ord == 2 and not a.keepdims and a.out_dtype is None and a.axis in ((0,), (1,))

    def of_all(a, F, x):
        return F.norm(x.data, ord=2, out_dtype=a.out_dtype)

    def of_lines(a, F, x):
        places = x.indices, x.indptr
        return F.sqrt(F._csr_sum(x.data, *places, columns=x.shape[1], axis=a.axis[0], squares=True))

    return (
        *(rule(f"{s} -> default", of_all, whole) for s in BOTH),
        rule("csr -> default", of_lines, along),
    )


def sliced(bounds):
    """Return the rule of a csr array's slice; ``bounds(a, shape)`` returns its ranges."""

    def fits(a, data):
        return all(step in (None, 1) for step in a.step)

    def run(a, F, x):
        ranges = bounds(a, x.shape)
        (top, bottom), (left, right) = ((r.start, max(r.start, r.stop)) for r in ranges)
        if (left, right) == (0, x.shape[1]):
            return _rows(F, x, top, bottom)
        begin, end = (top, left), (bottom, right)
        indptr = F._csr_slice_indptr(x.indices, x.indptr, begin=begin, end=end)
        data, indices = F._csr_slice(
            x.data, x.indices, x.indptr, indptr, begin=begin, end=end, nnz=compose.size_of(indptr)
        )
        return Csr(data, indices, indptr, (bottom - top, right - left))

    return rule("csr -> csr", run, fits)


def _rows(F, x, top, bottom):
    """Copy rows of a csr array."""
    indptr = x.indptr.view_rows(top, bottom + 1)
    first = int(indptr.view_rows(0, 1).asscalar())
    last = compose.size_of(indptr)
    data, indices = (part.view_rows(first, last).copy() for part in (x.data, x.indices))
    return Csr(data, indices, indptr - first, (bottom - top, x.shape[1]))


def taken():
    """Return the rule of `take` of rows of a csr array."""

    def fits(a, data, indices):
        return a.axis in (0, -2) and a.mode in ("clip", "wrap") and len(indices.shape) == 1

    def run(a, F, x, ids):
        ids = F.Cast(ids, dtype="int64")
        indptr = F._csr_take_indptr(x.indptr, ids, mode=a.mode)
        data, indices = F._csr_take(
            x.data, x.indices, x.indptr, ids, indptr, mode=a.mode, nnz=compose.size_of(indptr)
        )
        return Csr(data, indices, indptr, (ids.shape[0], x.shape[1]))

    return rule("csr default -> csr", run, fits)


def concatenated(a, F, *arrays):
    """Concatenate csr arrays along rows."""
    indptr = F._csr_concat_indptr(*(x.indptr for x in arrays))
    data, indices = (
        F.concat(*(getattr(x, part) for x in arrays), dim=0) for part in ("data", "indices")
    )
    return Csr(data, indices, indptr, (sum(x.shape[0] for x in arrays), arrays[0].shape[1]))


def embedded(a, F, ids, weight):
    """Return the rows `ids` of a row_sparse weight."""
    rows = F.clip(F.Cast(ids, dtype="int64"), a_min=0, a_max=weight.shape[0] - 1).reshape((-1,))
    rows_of = F._row_retain(weight.data, weight.indices, rows)
    return rows_of.reshape((*ids.shape, weight.shape[1]))


# --- matrix products ------------------------------------------------------------------------


def _of_matrices(a, lhs, rhs):
    return len(lhs.shape) == 2 and len(rhs.shape) == 2


def _plain(a, lhs, rhs):
    return len(lhs.shape) == 2 and len(rhs.shape) <= 2 and not a.transpose_a and not a.transpose_b


def _transposed(a, lhs, rhs):
    return _of_matrices(a, lhs, rhs) and a.transpose_a and not a.transpose_b


def _forward_stype_in(*stypes):
    """Return a condition on `forward_stype`."""
    return lambda a: a.forward_stype in stypes


def _csr_dense(a, F, x, rhs):
    return F._csr_dot_dense(x.data, x.indices, x.indptr, rhs)


def _csr_dense_transposed(a, F, x, rhs):
    return F._csr_transpose_dot_dense(x.data, x.indices, x.indptr, rhs, columns=x.shape[1])


def _csr_rows(a, F, x, rhs):
    return F._csr_dot_row_sparse(x.data, x.indices, x.indptr, rhs.data, rhs.indices)


def _csr_rows_transposed(a, F, x, rhs):
    return _csr_rows(a, F, compose.transposed(F, x), rhs)


def _used_columns(product):
    """Return the rule of a transposed csr array times an array: only the nonzero result rows."""

    def run(a, F, x, rhs):
        data, indices, indptr, ids, count = F._csr_transpose_compact(
            x.data, x.indices, x.indptr, columns=x.shape[1]
        )
        n = compose.size_of(count)
        compact = Csr(data, indices, compose.first(indptr, n + 1), (n, x.shape[0]))
        shape = (x.shape[1], *rhs.shape[1:])
        return RowSparse(product(a, F, compact, rhs), compose.first(ids, n).copy(), shape)

    return run


def _dense_csr(a, F, lhs, x):
    return F._dense_dot_csr(
        lhs, x.data, x.indices, x.indptr, columns=x.shape[1], transpose_b=a.transpose_b
    )


def _dense_csr_columns(a, F, lhs, x):
    """Return a csr product whose rows all have the columns used by the right operand."""
    ids, count = F._unique_ids(x.indices, extent=x.shape[1])
    n, rows = compose.size_of(count), lhs.shape[0]
    ids = compose.first(ids, n)
    places = F._positions(x.indices, ids)
    data = F._dense_dot_csr(lhs, x.data, places, x.indptr, columns=n, transpose_b=False)
    indptr = F._arange(start=0, stop=rows + 1, dtype="int64", ctx=str(lhs.context)) * n
    return Csr(data.view_as((rows * n,)), F.tile(ids, reps=(rows,)), indptr, (rows, x.shape[1]))


def _densely_to(stype):
    """Return the dense product converted to another storage type."""

    def run(a, F, *factors):
        dense = [compose.to_dense(F, x) if isinstance(x, Csr | RowSparse) else x for x in factors]
        product = F.dot(*dense, transpose_a=a.transpose_a, transpose_b=a.transpose_b)
        return compose.cast(F, product, stype)

    return run


def _forward_stype_is(stype):
    return lambda a, *specs: a.forward_stype == stype


def dot_rules():
    """Return the rules of `dot`, each with a comment on what it multiplies."""

    def both(fits, wanted):
        return lambda a, lhs, rhs: wanted(a) and fits(a, lhs, rhs)

    dense, rows, columns = (
        _forward_stype_in(None, "default"),
        _forward_stype_in(None, "row_sparse"),
        _forward_stype_in(None),
    )
    default, csr = _forward_stype_in("default"), _forward_stype_in(None, "csr")
    flipped = lambda a, lhs, rhs: (  # noqa: E731
        _of_matrices(a, lhs, rhs) and a.transpose_b and not a.transpose_a
    )
    return (
        rule("csr default -> default", _csr_dense, both(_plain, dense)),
        rule("csr default -> row_sparse", _used_columns(_csr_dense), both(_transposed, rows)),
        rule("csr default -> default", _csr_dense_transposed, both(_transposed, default)),
        rule("csr row_sparse -> default", _csr_rows, both(_plain, dense)),
        rule("csr row_sparse -> row_sparse", _used_columns(_csr_rows), both(_transposed, rows)),
        rule("csr row_sparse -> default", _csr_rows_transposed, both(_transposed, default)),
        rule("default csr -> csr", _dense_csr_columns, both(_plain, csr)),
        rule("default csr -> default", _dense_csr, both(_plain, default)),
        rule("default csr -> default", _dense_csr, both(flipped, default)),
        rule("default csr -> csr", _densely_to("csr"), both(flipped, columns), warns=True),
        *(
            rule(f"any... -> {stype}", _densely_to(stype), _forward_stype_is(stype), warns=True)
            for stype in BOTH
        ),
    )
