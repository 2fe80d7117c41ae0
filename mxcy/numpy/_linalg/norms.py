"""Norms, condition numbers, and diagonals of matrices."""

import math
import operator

from mxcy._base import dtypes
from mxcy._base.errors import InvalidValueError
from mxcy._library import front
from mxcy.numpy._calls.direct import direct
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array
from mxcy.numpy._calls.symbolic import is_symbol
from mxcy.numpy._linalg import products
from mxcy.numpy._linalg.factors import svdvals
from mxcy.numpy._linalg.floats import cast, in_floats
from mxcy.numpy._linalg.solutions import inv
from mxcy.ops.core.infer import normal_axis

__all__ = [
    "cond",
    "diagonal",
    "matrix_norm",
    "matrix_transpose",
    "norm",
    "trace",
    "vecdot",
    "vector_norm",
]


def _axes(axis, ndim):
    """Return one or several axes as a tuple of non-negative ints."""
    axes = (axis,) if hasattr(axis, "__index__") else tuple(axis)
    return tuple(normal_axis(operator.index(x), ndim) for x in axes)


_OF_MATRICES = (2, -2, "nuc", 1, -1, math.inf, -math.inf)


@direct("_npi_norm", {"ord": "", "axis": ""})
def norm(x, ord=None, axis=None, keepdims=False):
    """Compute vector or matrix norms.

    Parameters
    ----------
    x : array_like
    ord : number, {'fro', 'nuc'}, optional
        See `vector_norm` and `matrix_norm`; by default the root of the sum of squares.
    axis : int or tuple of int, optional
        One axis for vector norms, two for matrix norms; by default all.
    keepdims : bool
        Keep the reduced axes with extent 1.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If `ord` is not supported.
    """
    x = as_array(x)
    if is_symbol(x) or (axis is None and _is_recorded(x) and x.ndim == 2 and ord in _OF_MATRICES):
        return _recorded_norm(x, ord, axis, keepdims)
    if axis is None and ord is None:
        return _of_vectors(x, 2, None, keepdims)
    axes = tuple(range(x.ndim)) if axis is None else _axes(axis, x.ndim)
    if len(axes) == 2:
        return matrix_norm(x, "fro" if ord is None else ord, axes, keepdims)
    if len(axes) > 2 and ord is not None:
        raise InvalidValueError(f"norm: expected one or two axes, got {axes}")
    if isinstance(ord, str):
        raise InvalidValueError(f"norm: {ord!r} is not a vector norm")
    return _of_vectors(x, ord, axes, keepdims)


def _is_recorded(x):
    """Return whether a matrix norm is recorded as one operator, which supports real arrays."""
    return front.is_deferred() and not dtypes.is_complex(x.dtype_code)


def _recorded_norm(x, ord, axis, keepdims):
    """Compute a norm by one operator, as in graphs; its `flag` selects vectors or matrices."""
    flag = -2 if axis is None else 1
    if ord is not None:
        flag = {"nuc": 2, "fro": 1, "f": 1}.get(ord, -1)
    axes = (axis,) if hasattr(axis, "__index__") else axis
    ord = 2.0 if ord is None or isinstance(ord, str) else float(ord)
    return operate("_npi_norm", x, ord=ord, axis=axes, keepdims=bool(keepdims), flag=flag)


def vector_norm(x, ord=None, axis=None, keepdims=False):
    """Compute vector norms.

    Parameters
    ----------
    x : array_like
    ord : number, optional
        Exponent p of ``sum(abs(x) ** p) ** (1 / p)``, 2 by default; ``inf`` gives the largest
        magnitude, ``-inf`` the smallest, and 0 the number of nonzero elements.
    axis : int or tuple of int, optional
        Axis or axes of the vectors; by default all.
    keepdims : bool
        Keep the reduced axes with extent 1. With MXNet's dtypes, reducing all axes or a tuple of
        axes leaves a single leading one, as in MXNet 2.

    Returns
    -------
    ndarray
    """
    x = as_array(x)
    norms = _of_vectors(x, ord, axis, keepdims)
    if not keepdims or is_symbol(x) or front.has_numpy_types():
        return norms
    if axis is None:
        return norms.reshape((1,))
    if isinstance(axis, tuple):
        axes = _axes(axis, x.ndim)
        return norms.reshape((1, *(n for i, n in enumerate(x.shape) if i not in axes)))
    return norms


def _of_vectors(x, ord, axis, keepdims):
    """Compute vector norms; kept axes stay in place."""
    axes = None if axis is None else _axes(axis, x.ndim)
    flag = -2 if axes is None else -1 if ord not in (None, 2) else 1
    if flag == -1 and len(axes) == 2:  # two axes would mean a matrix norm
        flag = -2
    ord = 2.0 if ord is None else float(ord)
    return operate("_npi_norm", x, ord=ord, axis=axes, keepdims=bool(keepdims), flag=flag)


def matrix_norm(x, ord="fro", axis=(-2, -1), keepdims=False):
    """Compute matrix norms.

    Parameters
    ----------
    x : array_like
    ord : {'fro', 'nuc', 1, -1, 2, -2, inf, -inf}
        Frobenius norm; nuclear norm; largest (smallest) absolute column sum; largest (smallest)
        singular value; largest (smallest) absolute row sum.
    axis : pair of int
        The axes of rows and columns.
    keepdims : bool
        Keep the reduced axes with extent 1.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If `ord` is not supported, or `axis` is not two distinct axes.
    """
    x = as_array(x)
    if not isinstance(axis, (tuple, list)) or len(axis) != 2:
        raise InvalidValueError("The axis of matrix_norm must be a 2-tuple of ints")
    rows, columns = axes = _axes(axis, x.ndim)
    if rows == columns:
        raise InvalidValueError("matrix_norm: expected two different axes")
    if ord in ("fro", "f", None):
        return operate("_npi_norm", x, axis=axes, keepdims=bool(keepdims), flag=1)
    if _is_recorded(x) and ord in _OF_MATRICES:
        return _recorded_norm(x, ord, axes, keepdims)
    if ord in (2, -2, "nuc"):
        norms = _of_singular_values(x, ord, axes)
    elif ord in (1, -1, math.inf, -math.inf):
        summed, kept = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = operate("_npi_norm", x, ord=1.0, axis=(summed,))
        kept -= kept > summed
        norms = _extreme(sums, kept, ord)
    else:
        raise InvalidValueError(f"matrix_norm: {ord!r} is not a matrix norm")
    if not keepdims:
        return norms
    shape = tuple(1 if i in axes else extent for i, extent in enumerate(x.shape))
    return operate("_backward_reshape", norms, shape=shape)


def _of_singular_values(x, ord, axes):
    order = [i for i in range(x.ndim) if i not in axes]
    values = svdvals(operate("_npi_transpose", x, axes=(*order, *axes)))
    if ord == "nuc":
        return operate("_npi_sum", values, axis=(-1,))
    return _extreme(values, -1, ord)


def _extreme(magnitudes, axis, ord):
    """Return the maximum along an axis (0 if empty); the minimum (inf) if `ord` is negative."""
    if not magnitudes.shape[axis]:
        none = operate("_npi_sum", magnitudes, axis=(axis,))
        return none if ord > 0 else none + math.inf
    return operate("_npi_max" if ord > 0 else "_npi_min", magnitudes, axis=(axis,))


def cond(x, p=None):
    """Compute the condition numbers of matrices.

    Parameters
    ----------
    x : array_like
    p : {None, 'fro', 'nuc', 1, -1, 2, -2, inf, -inf}
        Order of the norm; 2 by default.

    Returns
    -------
    ndarray
    """
    (x,), code = in_floats(x)
    if p in (None, 2, -2):
        large, small = (_of_singular_values(x, s, (x.ndim - 2, x.ndim - 1)) for s in (2, -2))
        condition = small / large if p == -2 else large / small
    else:
        condition = matrix_norm(x, p) * matrix_norm(inv(x), p)
    return cast(condition, code)


def diagonal(a, offset=0):
    """Return the diagonals of matrices.

    Parameters
    ----------
    a : array_like
    offset : int
        Offset from the main diagonal: positive above, negative below.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If there are fewer than two dimensions.
    """
    a = as_array(a)
    if a.ndim < 2:
        raise InvalidValueError(f"diagonal needs two dimensions, got shape {a.shape}")
    *batch, rows, columns = a.shape
    count = min(rows + min(offset, 0), columns - max(offset, 0))
    first = last = 0  # without elements, but part of the graph
    if count > 0:
        first = offset if offset >= 0 else -offset * columns
        last = first + (count - 1) * (columns + 1) + 1
    flat = operate("_backward_reshape", a, shape=(*batch, rows * columns))
    edges = (None,) * len(batch)
    return operate(
        "slice", flat, begin=(*edges, first), end=(*edges, last), step=(*edges, columns + 1)
    )


def trace(a, offset=0, *, dtype=None):
    """Compute the sums along the diagonals of matrices.

    Parameters
    ----------
    a : array_like
    offset : int
        Offset from the main diagonal: positive above, negative below.
    dtype : dtype, optional
        Dtype of the sums; that of `sum` by default.

    Returns
    -------
    ndarray
    """
    kind = None if dtype is None else dtypes.name_of(dtypes.code_of(dtype))
    return operate("_npi_sum", diagonal(a, offset), axis=(-1,), dtype=kind)


def vecdot(a, b, axis=None):
    """Compute the vector dot product along an axis, conjugating `a`.

    Parameters
    ----------
    a, b : array_like
    axis : int, optional
        By default both arrays are flattened, as in MXNet; with NumPy's dtypes it is the last axis,
        as in the array API.

    Returns
    -------
    ndarray
    """
    if axis is None and not front.has_numpy_types():
        return products.vdot(a, b)
    return products.vecdot(a, b, -1 if axis is None else axis)


def matrix_transpose(a):
    """Transpose the matrices in the last two axes.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If there are fewer than two dimensions.
    """
    a = as_array(a)
    if a.ndim < 2:
        raise InvalidValueError(f"matrix_transpose needs two dimensions, got shape {a.shape}")
    return operate("SwapAxis", a, dim1=-1, dim2=-2)
