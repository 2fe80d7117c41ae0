"""Building blocks of sparse rules: functions of operators `F` and of parts.

Each takes and returns parts, `Csr` and `RowSparse`, whose members are dense arrays. Functions that
need the number of stored elements wait for it.
"""

from mxcy._base.errors import MXNetError
from mxcy.ops.core.stypes import Csr, RowSparse, UnorderedRows

__all__ = [
    "all_rows_of",
    "cast",
    "empty_like",
    "first",
    "merged",
    "ordered",
    "rows_of",
    "size_of",
    "summed_rows",
    "to_csr",
    "to_dense",
    "to_row_sparse",
    "transposed",
    "with_all_rows",
]


def size_of(indptr):
    """Return the number of stored elements, the last element of `indptr`, or a count."""
    end = indptr.shape[0]
    return int(indptr.view_rows(end - 1, end).asscalar())


def first(array, count):
    """Return a view of the first rows of an array."""
    return array.view_rows(0, count)


def to_dense(F, x):
    """Convert parts to a dense array."""
    if x.stype == "csr":
        return F._csr_to_dense(x.data, x.indices, x.indptr, columns=x.shape[1])
    return F._row_sparse_to_dense(x.data, x.indices, rows=x.shape[0])


def to_csr(F, dense):
    """Convert a dense matrix to csr."""
    indptr = F._csr_count_nonzero(dense)
    data, indices = F._csr_from_dense(dense, indptr, nnz=size_of(indptr))
    return Csr(data, indices, indptr, dense.shape)


def to_row_sparse(F, dense):
    """Convert a dense array to row_sparse."""
    ids, count = F._nonzero_rows(dense)
    return rows_of(F, dense, first(ids, size_of(count)))


def rows_of(F, dense, ids):
    """Return the rows `ids`, ascending, of a dense array."""
    return RowSparse(F.take(dense, ids), ids, dense.shape)


def cast(F, dense, stype):
    """Convert a dense array to another storage type."""
    if stype == "default":
        return dense
    return to_csr(F, dense) if stype == "csr" else to_row_sparse(F, dense)


def ordered(F, x):
    """Sort the row indices of a row_sparse array."""
    if type(x) is not UnorderedRows:
        return x
    order = F.argsort(x.indices, dtype="int64")
    return RowSparse(F.take(x.data, order), F.take(x.indices, order), x.shape)


def with_all_rows(F, x):
    """Return the row_sparse array with all rows stored."""
    return all_rows_of(F, to_dense(F, x))


def all_rows_of(F, dense):
    """Return a dense array as row_sparse with all rows stored."""
    ids = F._arange(start=0, stop=dense.shape[0], dtype="int64", ctx=str(dense.context))
    return RowSparse(dense, ids, dense.shape)


def empty_like(F, x):
    """Return empty parts of the same shape and dtype."""
    indices = first(x.indices, 0)
    if x.stype == "csr":
        return Csr(first(x.data, 0), indices, F.zeros_like(x.indptr), x.shape)
    return RowSparse(first(x.data, 0), indices, x.shape)


def transposed(F, x):
    """Transpose a csr array."""
    parts = F._csr_transpose(x.data, x.indices, x.indptr, columns=x.shape[1])
    return Csr(*parts, x.shape[::-1])


def _in_order(F, x):
    """Sort the columns of a csr array by transposing it twice."""
    return transposed(F, transposed(F, x))


def _merged_csr(F, lhs, rhs, operation):
    try:
        return _merged_in_order(F, lhs, rhs, operation)
    except MXNetError:  # columns of arrays that users build from parts may be unsorted
        return _merged_in_order(F, _in_order(F, lhs), _in_order(F, rhs), operation)


def _merged_in_order(F, lhs, rhs, operation):
    places = lhs.indices, lhs.indptr, rhs.indices, rhs.indptr
    indptr = F._csr_merge_indptr(*places, operation=operation)
    data, indices = F._csr_merge(
        lhs.data,
        lhs.indices,
        lhs.indptr,
        rhs.data,
        rhs.indices,
        rhs.indptr,
        indptr,
        operation=operation,
        nnz=size_of(indptr),
    )
    return Csr(data, indices, indptr, lhs.shape)


#: operation -> operator for two dense arrays of equal shape
_BETWEEN_ROWS = {
    "sub": "elemwise_sub",
    "mul": "elemwise_mul",
    "maximum": "_maximum",
    "minimum": "_minimum",
    "hypot": "_hypot",
}


def merged(operation):
    """Return the rule of two arrays of one sparse type, combined where either stores elements."""

    def run(a, F, lhs, rhs):
        if lhs.stype == "csr":
            return _merged_csr(F, lhs, rhs, operation)
        if operation == "add":
            return summed_rows(F, [lhs, rhs])
        ids, count = F._row_union(lhs.indices, rhs.indices)
        ids = first(ids, size_of(count))
        rows = [F._row_retain(x.data, x.indices, ids) for x in (lhs, rhs)]
        return RowSparse(getattr(F, _BETWEEN_ROWS[operation])(*rows), ids, lhs.shape)

    return run


def summed_rows(F, arrays):
    """Sum row_sparse arrays."""
    ids, count = F._row_union(*(x.indices for x in arrays))
    ids = first(ids, size_of(count))
    parts = [part for x in arrays for part in (x.data, x.indices)]
    return RowSparse(F._row_sum(ids, *parts), ids, arrays[0].shape)
