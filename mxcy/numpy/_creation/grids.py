"""`mx.np` functions for index grids and broadcasting."""

import numpy as onp

from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_np_array, from_onp, is_array
from mxcy.numpy._creation.conversion import array as make_array
from mxcy.numpy._creation.rules import default_float, named_type
from mxcy.numpy._shape.manipulation import reshape, stack

__all__ = [
    "broadcast_arrays",
    "diag_indices",
    "diag_indices_from",
    "fromfunction",
    "geomspace",
    "ix_",
    "mask_indices",
    "meshgrid",
    "ravel_multi_index",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
    "unravel_index",
    "vander",
]


def broadcast_arrays(*args):
    """Broadcast arrays against each other.

    Parameters
    ----------
    *args : array_like

    Returns
    -------
    list of ndarrays
    """
    arrays = [as_np_array(value) for value in args]
    shape = onp.broadcast_shapes(*(array.shape for array in arrays))
    return [operate("_npi_broadcast_to", array, shape=shape) for array in arrays]


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0, ctx=None, device=None):
    """Return `num` values evenly spaced on a logarithmic scale (a geometric progression).

    Parameters
    ----------
    start, stop : number or array_like
    num : int
    endpoint : bool
        Whether the last value is `stop`.
    dtype : dtype, optional
    axis : int
        Axis of the values if `start` or `stop` is an array.
    ctx, device : Device, optional

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If a bound is 0 or `num` is negative.
    """
    bounds = [x.asnumpy() if is_array(x) else x for x in (start, stop)]
    values = onp.geomspace(*bounds, num, endpoint, axis=axis).tolist()
    return make_array(values, dtype, True, ctx, device)


def fromfunction(function, shape, *, dtype=None, **kwargs):
    """Construct an array by calling a function with arrays of coordinates.

    Parameters
    ----------
    function : callable
        Called once, with one coordinate array per axis.
    shape : tuple of int
    dtype : dtype, optional
        Dtype of the coordinates; the default floating-point type if omitted.
    **kwargs
        Passed on to the function.

    Returns
    -------
    object
        The function's result.
    """
    kind = default_float() if dtype is None else named_type(dtype)
    return function(*(from_onp(axis, kind) for axis in onp.indices(shape)), **kwargs)


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """Return coordinate arrays of a grid from its axis coordinates.

    Parameters
    ----------
    *xi : array_like
        Coordinates along each axis.
    copy : bool
        Ignored.
    sparse : bool
        If True, results have extent 1 along the axes on which they are constant.
    indexing : {'xy', 'ij'}
        Cartesian ('xy', first two axes swapped) or matrix ('ij') indexing.

    Returns
    -------
    list of ndarrays

    Raises
    ------
    ValueError
        If `indexing` is neither.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    order = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        order[:2] = 1, 0
    arrays = [as_np_array(values) for values in xi]
    arrays = [
        reshape(array, tuple(array.size if i == axis else 1 for i in range(len(xi))))
        for array, axis in zip(arrays, order, strict=True)
    ]
    return arrays if sparse else broadcast_arrays(*arrays)


def ix_(*args):
    """Construct an open mesh from index vectors, one axis each.

    Parameters
    ----------
    *args : array_like
        One vector per axis; boolean vectors select the indices of True.

    Returns
    -------
    tuple of ndarrays

    Raises
    ------
    ValueError
        If an argument is not 1-D.
    """
    vectors = []
    for axis, value in enumerate(args):
        array = as_np_array(value)
        if array.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if array.dtype == onp.bool_:
            array = from_onp(onp.flatnonzero(array.asnumpy()))
        elif not array.size:
            array = from_onp(onp.zeros(0, onp.int64))
        shape = [array.size if i == axis else 1 for i in range(len(args))]
        vectors.append(reshape(array, shape))
    return tuple(vectors)


def diag_indices(n, ndim=2):
    """Return the indices of the main diagonal of an array with `ndim` axes of size `n`."""
    places = from_onp(onp.arange(n))
    return (places,) * ndim


def diag_indices_from(arr):
    """Return the indices of the main diagonal of an array with equal extents."""
    array = as_np_array(arr)
    coordinates = operate("_npi_diag_indices_from", array)
    return tuple(coordinates[i] for i in range(array.ndim))


def tril_indices(n, k=0, m=None):
    """Return the indices of the lower triangle of a matrix.

    Parameters
    ----------
    n : int
        Number of rows.
    k : int
        Diagonal offset.
    m : int, optional
        Number of columns, `n` by default.

    Returns
    -------
    tuple of ndarrays
    """
    return tuple(operate("_npi_tril_indices", n=n, k=k, m=n if m is None else m))


def triu_indices(n, k=0, m=None, device=None):
    """Return the indices of the upper triangle of a matrix; see `tril_indices`."""
    return tuple(from_onp(values, ctx=device) for values in onp.triu_indices(n, k, m))


def _extents(name, arr):
    if arr.ndim != 2:
        raise ValueError(f"{name}: input array must be 2-d")
    return arr.shape


def tril_indices_from(arr, k=0):
    """Return the indices of the lower triangle of the given matrix."""
    n, m = _extents("tril_indices_from", arr)
    return tril_indices(n, k, m)


def triu_indices_from(arr, k=0):
    """Return the indices of the upper triangle of the given matrix."""
    n, m = _extents("triu_indices_from", arr)
    return triu_indices(n, k, m)


def mask_indices(n, mask_func, k=0):
    """Return the indices of a square matrix that a masking function leaves nonzero.

    Parameters
    ----------
    n : int
        Number of rows and columns.
    mask_func : callable
        ``mask_func(matrix, k)``, such as `triu`.
    k : number

    Returns
    -------
    tuple of ndarrays
    """
    kept = mask_func(from_onp(onp.ones((n, n), onp.int64)), k) != 0
    return tuple(map(from_onp, onp.nonzero(as_np_array(kept).asnumpy())))


def unravel_index(indices, shape, order="C"):
    """Convert flat indices to coordinates in an array of the given shape.

    Parameters
    ----------
    indices : array_like of int
    shape : int or tuple of int
    order : {'C', 'F'}
        Row-major ('C') or column-major ('F') order.

    Returns
    -------
    tuple of ndarrays

    Raises
    ------
    ValueError
        If `order` is neither.
    """
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    shape = (shape,) if hasattr(shape, "__index__") else tuple(shape)
    places = as_np_array(indices)
    if places.dtype != onp.int64:
        places = operate("Cast", places, dtype="int64")
    coordinates = operate("_unravel_index", places, shape=shape if order == "C" else shape[::-1])
    rows = tuple(coordinates[i] for i in range(len(shape)))
    return rows if order == "C" else rows[::-1]


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """Convert coordinates in an array of the given shape to flat indices.

    Parameters
    ----------
    multi_index : tuple of array_like
        Coordinates along each axis.
    dims : tuple of int
        Shape of the array.
    mode : str or tuple of str
        Treatment of coordinates out of bounds: raise an error, clip, or wrap around.
    order : {'C', 'F'}
        Row-major ('C') or column-major ('F') order.

    Returns
    -------
    ndarray
    """
    places = tuple(as_np_array(x).asnumpy().astype("int64") for x in multi_index)
    return from_onp(onp.asarray(onp.ravel_multi_index(places, dims, mode, order)))


def vander(x, N=None, increasing=False):
    """Generate a Vandermonde matrix: its columns are powers of a vector.

    Parameters
    ----------
    x : array_like
        A vector.
    N : int, optional
        Number of columns, ``len(x)`` by default.
    increasing : bool
        Order the powers from left to right ascending instead of descending.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If `x` is not 1-D.
    """
    array = as_np_array(x)
    if array.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    if array.dtype.kind in "bu" or array.dtype.kind == "i" and array.dtype.itemsize < 8:
        array = operate("Cast", array, dtype="int64")
    count = array.size if N is None else N
    if not count:
        return operate("_npi_zeros", shape=(array.size, 0), dtype=array.dtype.name)
    columns = [operate("_npi_ones_like", array)]
    while len(columns) < count:  # products, since powers have no derivative at 0 ** 0
        columns.append(columns[-1] * array)
    return stack(columns if increasing else columns[::-1], axis=1)
