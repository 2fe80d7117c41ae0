"""Constructors of sparse arrays: `csr_matrix`, `row_sparse_array`, `zeros`, `empty`, `array`."""

import numpy as np

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.base import MXNetError, integer_types
from mxcy.context import as_context, check_usable
from mxcy.ndarray._functions import creation as dense
from mxcy.ndarray.classes import sparse_class
from mxcy.ndarray.ndarray import NDArray
from mxcy.ndarray.sparse.base import BaseSparseNDArray, is_sparse, wrap
from mxcy.ndarray.sparse.csr import CSRNDArray
from mxcy.ndarray.sparse.scipy_arrays import is_scipy
from mxcy.ops.core.stypes import Csr, RowSparse, UnorderedRows

__all__ = ["array", "csr_matrix", "empty", "row_sparse_array", "zeros"]

_INT64 = dtypes.CODES["int64"]


# --- parts ---------------------------------------------------------------------------------------


def _place(ctx):
    ctx = as_context(ctx)
    check_usable(ctx)
    return ctx


def _dtype(source, dtype):
    """Resolve a dtype, by default that of an array source, otherwise float32."""
    if dtype is not None:
        return dtype
    return source.dtype if isinstance(source, (NDArray, np.ndarray, np.generic)) else np.float32


def _data(source, ctx, dtype):
    return dense.array(source, ctx, _dtype(source, dtype))


def _indices(source, ctx):
    """Convert to an index array, int64."""
    values = source.asnumpy() if isinstance(source, NDArray) else np.asarray(source)
    return front.from_numpy(np.array(values, np.int64, order="C"), _INT64, ctx)


def _same_shape(array, shape):
    """Check that an array has the requested shape."""
    if shape is not None and tuple(array.shape) != tuple(shape):
        raise ValueError(f"Shape mismatch detected. {tuple(array.shape)} v.s. {tuple(shape)}")
    return array


def _copied(source, ctx, dtype, stype):
    """Copy a sparse array of the same storage type."""
    if source.stype != stype:
        raise ValueError(f"Unexpected input type: {type(source).__name__}")
    return _with_dtype(source.copyto(_place(ctx)), dtype)


def _with_dtype(array, dtype):
    return array if dtype is None else array.astype(dtype, copy=False)


# --- csr -----------------------------------------------------------------------------------------


def csr_matrix(arg1, shape=None, ctx=None, dtype=None):
    """Create a `CSRNDArray`, a matrix in compressed sparse row format.

    Parameters
    ----------
    arg1 : array_like, CSRNDArray, scipy sparse array or tuple
        A matrix, sparse or dense; ``(rows, columns)`` for an empty one;
        ``(data, indices, indptr)``, the parts of the array; or ``(data, (row, column))``, its
        entries, where duplicates are summed.
    shape : tuple of int, optional
        By default the shape of the matrix, or the smallest one that contains all entries.
    ctx : Context, optional
        Context of the array, by default the current one.
    dtype : dtype, optional
        The dtype, by default that of arrays, float32 for lists.

    Returns
    -------
    CSRNDArray

    Raises
    ------
    ValueError
        If the parts' shapes are invalid, or `shape` is not the array's.

    Examples
    --------
    >>> a = mx.nd.sparse.csr_matrix(([1, 2, 3], [1, 0, 2], [0, 1, 2, 2, 3]), shape=(4, 3))
    >>> a.asnumpy()
    array([[0., 1., 0.],
           [2., 0., 0.],
           [0., 0., 0.],
           [0., 0., 3.]], dtype=float32)
    """
    ctx = _place(ctx)
    if isinstance(arg1, tuple):
        return _csr_of_tuple(arg1, shape, ctx, dtype)
    if is_sparse(arg1):
        return _same_shape(_copied(arg1, ctx, dtype, "csr"), shape)
    if is_scipy(arg1):
        return _same_shape(CSRNDArray._of_scipy(arg1, ctx, dtype), shape)
    source = arg1 if isinstance(arg1, NDArray) else dense.array(arg1, ctx, _dtype(arg1, dtype))
    array = _with_dtype(source.tostype("csr"), dtype)
    return _same_shape(array.as_in_context(ctx), shape)


def _csr_of_tuple(parts, shape, ctx, dtype):
    if len(parts) == 3:
        return _csr_of_parts(*parts, shape, ctx, dtype)
    if len(parts) != 2:
        raise ValueError(f"Unexpected length of input tuple: {len(parts)}")
    if isinstance(parts[1], tuple):
        return _csr_of_entries(parts[0], *parts[1], shape, ctx, dtype)
    if not all(isinstance(part, (int, np.integer)) for part in parts):
        raise ValueError(
            "csr_matrix: a tuple of two is (rows, columns) or (data, (row, column)); of three, "
            "(data, indices, indptr)"
        )
    extents = tuple(map(int, parts))
    return _same_shape(empty("csr", extents, ctx, dtype), shape)


def _csr_of_parts(data, indices, indptr, shape, ctx, dtype):
    data = _data(data, ctx, dtype)
    indices, indptr = _indices(indices, ctx), _indices(indptr, ctx)
    if shape is None:
        if not indices.shape[0]:
            raise ValueError("invalid shape: it must be given where there are no entries")
        shape = (indptr.shape[0] - 1, int(indices.asnumpy().max()) + 1)
    if data.ndim != 1 or indptr.ndim != 1 or indices.ndim != 1 or not indptr.shape[0]:
        raise ValueError(
            "invalid shape: data, indices and indptr need one dimension, and indptr an element for "
            f"each row and one more, got {data.shape}, {indices.shape}, {indptr.shape}"
        )
    if len(shape) != 2:
        raise ValueError(f"invalid shape: expected (rows, columns), got {shape}")
    if indptr.shape[0] != shape[0] + 1:
        raise ValueError(
            f"invalid shape: indptr needs {shape[0] + 1} elements for {shape[0]} rows, got "
            f"{indptr.shape[0]}"
        )
    return wrap(Csr(data, indices, indptr, tuple(map(int, shape))))


def _csr_of_entries(data, row, column, shape, ctx, dtype):
    """Make a csr array of entries in any order, summing duplicates."""
    data, row, column = (x.asnumpy() if isinstance(x, NDArray) else x for x in (data, row, column))
    data, row, column = np.asarray(data), np.asarray(row, "int64"), np.asarray(column, "int64")
    if not data.ndim == row.ndim == column.ndim == 1 or not len(data) == len(row) == len(column):
        raise ValueError("row, column, and data array must all be the same size")
    if shape is None:
        if not len(row):
            raise ValueError("cannot infer dimensions from zero sized index arrays")
        shape = (int(row.max()) + 1, int(column.max()) + 1)
    if len(row) and (row.min() < 0 or column.min() < 0):
        raise ValueError("negative row or column index found")
    if len(row) and (row.max() >= shape[0] or column.max() >= shape[1]):
        raise ValueError(f"row or column index exceeds matrix dimensions {tuple(shape)}")
    order = np.lexsort((column, row))
    data, row, column = data[order], row[order], column[order]
    starts = np.flatnonzero(np.r_[True, (np.diff(row) != 0) | (np.diff(column) != 0)][: len(row)])
    if len(row):
        data = np.add.reduceat(data, starts)
    indptr = np.searchsorted(row[starts], np.arange(shape[0] + 1))
    return _csr_of_parts(data, column[starts], indptr, shape, ctx, dtype)


# --- row_sparse ----------------------------------------------------------------------------------


def row_sparse_array(arg1, shape=None, ctx=None, dtype=None):
    """Create a `RowSparseNDArray`, an array that stores only some of its rows.

    Parameters
    ----------
    arg1 : array_like, RowSparseNDArray or tuple
        An array; two or more dimensions for an empty one; or ``(data, indices)``, the stored rows
        and their ascending row ids.
    shape : tuple of int, optional
        By default the shape of the array; for ``(data, indices)``, as many rows as required by the
        last index.
    ctx : Context, optional
        Context of the array, by default the current one.
    dtype : dtype, optional
        The dtype, by default that of arrays, float32 for lists.

    Returns
    -------
    RowSparseNDArray

    Raises
    ------
    ValueError
        If the parts' shapes are invalid, or `shape` is not the array's.

    Examples
    --------
    >>> a = mx.nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [1, 4]), shape=(6, 2))
    >>> a.indices.asnumpy()
    array([1, 4])
    """
    ctx = _place(ctx)
    if isinstance(arg1, tuple):
        if len(arg1) < 2:
            raise ValueError(f"Unexpected length of input tuple: {len(arg1)}")
        if len(arg1) > 2 or all(isinstance(x, integer_types) for x in arg1):
            extents = tuple(map(int, arg1))
            return _same_shape(empty("row_sparse", extents, ctx, dtype), shape)
        return _rows_of_parts(*arg1, shape, ctx, dtype)
    if is_sparse(arg1):
        return _same_shape(_copied(arg1, ctx, dtype, "row_sparse"), shape)
    if is_scipy(arg1):
        raise TypeError("source_array must be array like object")
    source = arg1 if isinstance(arg1, NDArray) else dense.array(arg1, ctx, _dtype(arg1, dtype))
    array = _with_dtype(source.tostype("row_sparse"), dtype)
    return _same_shape(array.as_in_context(ctx), shape)


def _rows_of_parts(data, indices, shape, ctx, dtype):
    data, indices = _data(data, ctx, dtype), _indices(indices, ctx)
    if shape is None:
        if indices.ndim != 1 or not indices.shape[0]:
            raise ValueError("invalid shape")
        shape = (int(indices.asnumpy()[-1]) + 1, *data.shape[1:])
    if data.ndim != len(shape) or indices.ndim != 1 or 0 in shape[1:]:
        raise ValueError("invalid shape")
    if data.shape != (indices.shape[0], *shape[1:]):
        raise MXNetError(
            f"row_sparse_array: data of shape {data.shape} and {indices.shape[0]} indices do not "
            f"fit an array of shape {tuple(shape)}"
        )
    ascending = bool((np.diff(indices.asnumpy()) >= 0).all())
    kind = RowSparse if ascending else UnorderedRows
    return wrap(kind(data, indices, tuple(map(int, shape))))


# --- zeros, empty, array -------------------------------------------------------------------------


def zeros(stype, shape, ctx=None, dtype=None, **kwargs):
    """Create an array of zeros; a sparse one has no stored elements.

    Parameters
    ----------
    stype : {'csr', 'row_sparse', 'default'}
    shape : tuple of int
    ctx : Context, optional
        Context of the array, by default the current one.
    dtype : dtype, optional
        float32 by default.

    Returns
    -------
    CSRNDArray, RowSparseNDArray or NDArray

    Raises
    ------
    ValueError
        If there is no such storage type.
    """
    if stype == "default":
        return dense.zeros(shape, ctx=ctx, dtype=dtype, **kwargs)
    array = sparse_class(stype)._empty(tuple(shape), dense._code(dtype), _place(ctx))
    out = kwargs.get("out")
    return array if out is None else array.copyto(out)


def empty(stype, shape, ctx=None, dtype=None):
    """Create a sparse array without stored elements.

    Parameters
    ----------
    stype : {'csr', 'row_sparse'}
    shape : int or tuple of int
    ctx : Context, optional
        Context of the array, by default the current one.
    dtype : dtype, optional
        float32 by default.

    Returns
    -------
    CSRNDArray or RowSparseNDArray

    Raises
    ------
    Exception
        If there is no such storage type.
    """
    if stype not in ("csr", "row_sparse"):
        raise Exception("unknown stype : " + str(stype))
    shape = (int(shape),) if isinstance(shape, integer_types) else tuple(map(int, shape))
    return sparse_class(stype)._empty(shape, dense._code(dtype), _place(ctx))


def array(source_array, ctx=None, dtype=None):
    """Create a sparse array from another sparse array.

    Parameters
    ----------
    source_array : CSRNDArray, RowSparseNDArray or scipy.sparse.csr_matrix
    ctx : Context, optional
        Context of the array, by default the current one.
    dtype : dtype, optional
        The dtype, by default that of the source.

    Returns
    -------
    CSRNDArray or RowSparseNDArray

    Raises
    ------
    ValueError
        If the source is something else; use `mx.nd.array` for dense arrays, and `tostype` to
        convert them.

    Examples
    --------
    >>> import scipy.sparse
    >>> mx.nd.sparse.array(scipy.sparse.csr_matrix((3, 2))).shape
    (3, 2)
    """
    if is_sparse(source_array):
        return _copied(source_array, ctx, dtype, source_array.stype)
    assert not isinstance(source_array, NDArray), (
        "Please use `tostype` to create RowSparseNDArray or CSRNDArray from an NDArray"
    )
    if is_scipy(source_array) and source_array.format == "csr":
        return CSRNDArray._of_scipy(source_array, _place(ctx), dtype)
    if isinstance(source_array, (np.ndarray, np.generic)):
        raise ValueError(
            "Please use mx.nd.array to create an NDArray with source_array of type "
            f"{type(source_array).__name__}"
        )
    raise ValueError(
        f"Unexpected source_array type: {type(source_array).__name__}; use csr_matrix or "
        "row_sparse_array for lists"
    )


def _ndarray_cls(handle, writable=True, stype=-1):
    """Make a sparse array that shares the parts of another array's `handle`."""
    assert isinstance(handle, BaseSparseNDArray)
    return type(handle)(handle, writable)
