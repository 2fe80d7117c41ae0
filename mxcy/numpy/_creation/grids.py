"""Functions of `mx.np` that make coordinates, and that bring arrays to one shape."""

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
    """Arrays brought to the shape to which they broadcast together.

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
    """`num` values from start to stop, each the same multiple of the one before.

    Parameters
    ----------
    start, stop : number or array_like
    num : int
    endpoint : bool
        Whether the last value is `stop`.
    dtype : dtype, optional
    axis : int
        Where the values lie of arrays.
    ctx, device : Device, optional

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        When a bound is 0 or `num` negative.
    """
    bounds = [x.asnumpy() if is_array(x) else x for x in (start, stop)]
    values = onp.geomspace(*bounds, num, endpoint, axis=axis).tolist()
    return make_array(values, dtype, True, ctx, device)


def fromfunction(function, shape, *, dtype=None, **kwargs):
    """What a function computes of the coordinates of all elements, which it gets as arrays.

    Parameters
    ----------
    function : callable
        Called once, with an array of coordinates for each axis.
    shape : tuple of int
    dtype : dtype, optional
        Of the coordinates: the default floating type unless given.
    **kwargs
        Further arguments of the function.

    Returns
    -------
    object
        The function's result.
    """
    kind = default_float() if dtype is None else named_type(dtype)
    return function(*(from_onp(axis, kind) for axis in onp.indices(shape)), **kwargs)


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """The coordinates of a grid from those of its axes.

    Parameters
    ----------
    *xi : array_like
        The coordinates along each axis.
    copy : bool
        Has no effect.
    sparse : bool
        Whether the results have extent 1 along the axes where they do not change.
    indexing : {'xy', 'ij'}
        Whether the first two axes are exchanged, as in drawings.

    Returns
    -------
    list of ndarrays

    Raises
    ------
    ValueError
        When `indexing` is neither.
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
    """Vectors of indices along axes of their own, so that together they pick all combinations.

    Parameters
    ----------
    *args : array_like
        One vector for each axis; of booleans the places of True are taken.

    Returns
    -------
    tuple of ndarrays

    Raises
    ------
    ValueError
        When one is no vector.
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
    """The coordinates of the diagonal of an array of `n` along each axis, as a tuple."""
    places = from_onp(onp.arange(n))
    return (places,) * ndim


def diag_indices_from(arr):
    """The coordinates of the diagonal of an array with equal extents, as a tuple."""
    array = as_np_array(arr)
    coordinates = operate("_npi_diag_indices_from", array)
    return tuple(coordinates[i] for i in range(array.ndim))


def tril_indices(n, k=0, m=None):
    """The rows and the columns of the elements at and below a diagonal.

    Parameters
    ----------
    n : int
        The rows of the matrix.
    k : int
        Which diagonal.
    m : int, optional
        Its columns, `n` by default.

    Returns
    -------
    tuple of ndarrays
    """
    return tuple(operate("_npi_tril_indices", n=n, k=k, m=n if m is None else m))


def triu_indices(n, k=0, m=None, device=None):
    """The rows and the columns of the elements at and above a diagonal; see `tril_indices`."""
    return tuple(from_onp(values, ctx=device) for values in onp.triu_indices(n, k, m))


def _extents(name, arr):
    if arr.ndim != 2:
        raise ValueError(f"{name}: input array must be 2-d")
    return arr.shape


def tril_indices_from(arr, k=0):
    """The rows and the columns of the elements of a matrix at and below a diagonal."""
    n, m = _extents("tril_indices_from", arr)
    return tril_indices(n, k, m)


def triu_indices_from(arr, k=0):
    """The rows and the columns of the elements of a matrix at and above a diagonal."""
    n, m = _extents("triu_indices_from", arr)
    return triu_indices(n, k, m)


def mask_indices(n, mask_func, k=0):
    """The coordinates of the elements of a square matrix that a function does not set to zero.

    Parameters
    ----------
    n : int
        Rows and columns of the matrix.
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
    """Coordinates in an array of a shape from positions in the flattened array.

    Parameters
    ----------
    indices : array_like of int
    shape : int or tuple of int
    order : {'C', 'F'}
        Whether the last or the first coordinate changes fastest.

    Returns
    -------
    tuple of ndarrays

    Raises
    ------
    ValueError
        When `order` is neither.
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
    """Positions in the flattened array from coordinates in an array of a shape.

    Parameters
    ----------
    multi_index : tuple of array_like
        The coordinates along each axis.
    dims : tuple of int
        The shape.
    mode : str or tuple of str
        What becomes of coordinates outside: 'raise' refuses them, 'wrap' and 'clip' bring them in.
    order : {'C', 'F'}
        Whether the last or the first coordinate changes fastest.

    Returns
    -------
    ndarray
    """
    places = tuple(as_np_array(x).asnumpy().astype("int64") for x in multi_index)
    return from_onp(onp.asarray(onp.ravel_multi_index(places, dims, mode, order)))


def vander(x, N=None, increasing=False):
    """The matrix whose columns are powers of a vector.

    Parameters
    ----------
    x : array_like
        A vector.
    N : int, optional
        How many columns, by default as many as rows.
    increasing : bool
        Whether the first column is that of power 0, else the last.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        When `x` is no vector.
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
