"""Public sparse operators: storage type casts, retaining and reducing rows."""

from mxcy.ops.core.attrs import Bool, Enum, Int, Shape
from mxcy.ops.core.infer import Spec, back_data, back_dtype, require
from mxcy.ops.core.record import op, sample, values
from mxcy.ops.core.stypes import RowSparse, refuse, rule
from mxcy.ops.indexing.embedding import infer_embedding_grad
from mxcy.ops.reduce.reduce import reduced_axes, reduced_shape
from mxcy.ops.sparse import compose

__all__ = []

_STYPES = Enum("csr", "default", "row_sparse")
_ALL = ("float32", "float64", "float16", "bfloat16", "int32", "int64", "int8", "uint8")


def _wants(stype):
    def when(a, data):
        require(
            stype != "csr" or len(data.shape) == 2,
            f"data: a csr array has 2 dimensions, got shape {data.shape}",
        )
        return True

    return lambda a, data: a.stype == stype and when(a, data)


def _casts():
    for stype in ("csr", "row_sparse"):
        yield rule(f"default -> {stype}", _from_dense, _wants(stype))
        yield rule(f"{stype} -> default", lambda a, F, x: compose.to_dense(F, x), _wants("default"))
        yield rule(f"{stype} -> {stype}", _copied, _wants(stype))
    for source, target in (("csr", "row_sparse"), ("row_sparse", "csr")):
        reason = f"cast_storage from {source} to {target} is not implemented"
        yield refuse(source, reason, lambda a, data, target=target: a.stype == target)


def _from_dense(a, F, data):
    return compose.cast(F, data, a.stype)


def _copied(a, F, x):
    return x._replace(**{part: F._copy(getattr(x, part)) for part in x._fields if part != "shape"})


@op("cast_storage", aliases=("_sparse_cast_storage",))
class CastStorage:
    """Cast an array to another storage type.

    From dense to ``'csr'`` the nonzero elements are stored, to ``'row_sparse'`` the nonzero rows.
    Stored elements of a sparse array remain stored.
    """

    stype: _STYPES

    stypes = tuple(_casts())
    dtypes = _ALL
    infer_back = back_data
    samples = (sample((3, 4), stype="default"), sample((2, 0), stype="default"))

    def infer(a, data):
        return Spec(data.shape, data.dtype)

    def grad(a, F, g):
        return g

    def ref(a, xp, data):
        return xp.array(data)


def _retained(a, F, x, ids):
    """Return the rows `ids` of x, sorted; absent rows are zero."""
    rows, count = F._unique_ids(ids, extent=x.shape[0], mode="raise")
    rows = compose.first(rows, compose.size_of(count)).copy()
    return RowSparse(F._row_retain(x.data, x.indices, rows), rows, x.shape)


def _with_rows(xp, data, indices):
    """Return a dense array with the given rows of data, zeros elsewhere."""
    out = xp.zeros_like(data)
    rows = xp.asarray(indices).astype("int64")
    out[rows] = data[rows]
    return out


def _not_row_sparse(stype):
    return f"data: expected a row_sparse array, got one of storage type {stype}"


@op("_sparse_retain", inputs="data indices")
class Retain:
    """Retain only the rows `indices` of a row_sparse array.

    Shapes: data (rows, ...), indices (n,) of any dtype, out like data. Rows that data does not
    store are stored as zeros.

    Raises
    ------
    MXNetError
        If data is not row_sparse, or an index is out of bounds.
    """

    stypes = (
        rule("row_sparse default -> row_sparse", _retained),
        refuse("csr default", _not_row_sparse("csr")),
        refuse("csr csr", _not_row_sparse("csr")),
        refuse("default csr", _not_row_sparse("default")),
        refuse("default row_sparse", _not_row_sparse("default")),
        refuse("default default", _not_row_sparse("default")),
    )
    samples = (
        sample((4, 3), values(0, 4, (2,), "int64"), grad=False),
        sample((5,), values(0, 5, (3,), "int32"), grad=False),
    )

    def infer(a, data, indices):
        require(indices.shape is None or indices.ndim == 1, "indices: expected one dimension")
        return Spec(data.shape, data.dtype)

    def grad(a, F, g, indices):
        return F._retain_grad(g, indices), None

    def ref(a, xp, data, indices):
        return _with_rows(xp, data, indices)


def _rows_kept(a, F, g, ids):
    rows, count = F._unique_ids(ids, extent=g.shape[0], mode="raise")
    rows = compose.first(rows, compose.size_of(count)).copy()
    if isinstance(g, RowSparse):
        return RowSparse(F._row_retain(g.data, g.indices, rows), rows, g.shape)
    return compose.rows_of(F, g, rows)


@op("_retain_grad", inputs="grad indices")
class RetainGrad:
    """Gradient of `retain`: the rows `indices` of the output's gradient, row_sparse."""

    stypes = (
        rule("default default -> row_sparse", _rows_kept),
        rule("row_sparse default -> row_sparse", _rows_kept),
    )
    samples = (
        sample((4, 3), values(0, 4, (2,), "int64")),
        sample((5,), values(0, 5, (3,), "int32")),
    )

    def infer(a, grad, indices):
        return Spec(grad.shape, grad.dtype)

    def ref(a, xp, grad, indices):
        return _with_rows(xp, grad, indices)


def _square_sum(a, F, x):
    """Sum the squares of a row_sparse array's rows or columns."""
    (axis,) = a.axis
    if axis == 0:
        return F.sum(F.square(x.data), axis=0, keepdims=a.keepdims)
    sums = F.sum(F.square(x.data), axis=1, keepdims=True)
    rows = RowSparse(sums, x.indices, (x.shape[0], 1))
    return rows if a.keepdims else compose.to_dense(F, rows).reshape((x.shape[0],))


@op("_square_sum", amp="fp32")
class SquareSum:
    """Sum the squares over one axis of a matrix; only stored rows of a row_sparse one."""

    axis: Shape
    keepdims: Bool = False
    exclude: Bool = False

    stypes = (
        rule("row_sparse -> row_sparse", _square_sum, lambda a, s: a.axis == (1,) and a.keepdims),
        rule("row_sparse -> default", _square_sum, lambda a, s: a.axis in ((0,), (1,))),
        refuse("csr", "data: expected a row_sparse or a dense array, got a csr array"),
    )
    samples = (sample((3, 4), axis=(0,)), sample((3, 4), axis=(1,), keepdims=True))
    infer_back = back_dtype

    def infer(a, data):
        if data.shape is None:
            return Spec(None, data.dtype)
        return Spec(reduced_shape(data.shape, reduced_axes(a, data.ndim), a.keepdims), data.dtype)

    def grad(a, F, g, data, specs):
        if not a.keepdims:
            g = F.expand_dims(g, axis=a.axis[0])
        return F.broadcast_mul(g, data * 2)

    def ref(a, xp, data):
        axes = reduced_axes(a, data.ndim)
        squares = (data * data).sum(axes)
        return squares.reshape(reduced_shape(data.shape, axes, a.keepdims)).astype(data.dtype)


def _embedding_rows(a, F, g, ids):
    """Return the possibly nonzero rows of an embedding's gradient."""
    unique, starts, order, count = F._group_ids(ids, extent=a.input_dim, mode="clip")
    n = compose.size_of(count)
    sums = F._segment_sum(g.reshape((-1, g.shape[-1])), order, compose.first(starts, n + 1))
    return RowSparse(sums, compose.first(unique, n).copy(), (a.input_dim, g.shape[-1]))


@op("_embedding_sparse_grad", inputs="grad data")
class EmbeddingSparseGrad:
    """Gradient of Embedding with respect to its weight: row_sparse, with the rows used."""

    input_dim: Int

    stypes = (rule("default default -> row_sparse", _embedding_rows),)
    samples = (
        sample((2, 3, 4), values(0, 6, (2, 3), "int32"), input_dim=6),
        sample((5, 3), values(-2, 9, (5,), "int64"), input_dim=6),
    )

    infer = infer_embedding_grad

    def ref(a, xp, grad, data):
        out = xp.zeros((a.input_dim, grad.shape[-1]), grad.dtype)
        rows = xp.clip(data, 0, a.input_dim - 1).astype("int64").reshape(-1)
        xp.add.at(out, rows, grad.reshape(-1, grad.shape[-1]))
        return out
