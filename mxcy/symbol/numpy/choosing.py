"""Selection, searching and sorting functions of `mx.sym.np`."""

from mxcy.base import integer_types
from mxcy.numpy._calls.general import operate
from mxcy.symbol.numpy.shapes import ravel
from mxcy.symbol.symbol import Symbol

__all__ = [
    "argsort",
    "bincount",
    "diag_indices_from",
    "flatnonzero",
    "histogram",
    "may_share_memory",
    "nonzero",
    "shares_memory",
    "sort",
    "take",
    "unravel_index",
]


def take(a, indices, axis=None, mode="raise", out=None):
    """Take elements at indices along an axis.

    Parameters
    ----------
    a, indices : Symbol
    axis : int, optional
        By default, the flattened array is used.
    mode : {'raise', 'clip', 'wrap'}
        Handling of indices out of bounds: an error, clipping, or modulo the size.
    out : optional
        Ignored.

    Returns
    -------
    Symbol

    Raises
    ------
    ValueError
        If the mode is unknown.
    """
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"take: mode must be 'raise', 'clip' or 'wrap', got {mode!r}")
    if axis is None:
        a, axis = ravel(a), 0
    return operate("take", a, indices, axis=axis, mode=mode)


def sort(a, axis=-1, kind=None, order=None, *, descending=False, stable=True):
    """Sort along an axis, NaN last.

    Parameters
    ----------
    a : Symbol
    axis : int or None
        None sorts the flattened array.
    kind, order : optional
        Ignored.
    descending : bool
        Whether to sort in descending order.
    stable : bool
        Ignored: sorting is always stable.

    Returns
    -------
    Symbol
    """
    return operate("sort", a, axis=axis, is_ascend=not descending)


def argsort(a, axis=-1, kind=None, order=None, *, descending=False, stable=True):
    """Return the indices that would sort an array along an axis, as int64.

    Parameters
    ----------
    a : Symbol
    axis : int or None
        None sorts the flattened array.
    kind, order : optional
        Ignored.
    descending : bool
        Whether to sort in descending order.
    stable : bool
        Ignored: sorting is always stable.

    Returns
    -------
    Symbol
    """
    return operate("argsort", a, axis=axis, is_ascend=not descending, dtype="int64")


def nonzero(a):
    """Return the indices of nonzero elements, one row each, as int64."""
    return operate("_npx_nonzero", a)


def flatnonzero(a):
    """Return the indices of nonzero elements of the flattened array."""
    return ravel(operate("_npx_nonzero", ravel(a)))


def unravel_index(indices, shape, order="C"):
    """Convert flat indices to coordinates, one row per axis.

    Parameters
    ----------
    indices : Symbol
    shape : int or tuple of int
    order : {'C'}

    Returns
    -------
    Symbol
    """
    if order != "C":
        raise NotImplementedError(f"unravel_index: symbols only support order 'C', got {order!r}")
    shape = (shape,) if hasattr(shape, "__index__") else tuple(shape)
    return operate("_unravel_index", indices, shape=shape)


def diag_indices_from(arr):
    """Return the coordinates of the diagonal of an array of equal dimensions, one row per axis."""
    return operate("_npi_diag_indices_from", arr)


def bincount(x, weights=None, minlength=0):
    """Count the occurrences of each integer from 0 on, or sum their weights.

    Parameters
    ----------
    x : Symbol
    weights : Symbol, optional
    minlength : int
        Minimum number of elements of the result.

    Returns
    -------
    Symbol
    """
    if minlength < 0:
        raise ValueError("Minlength value should greater than 0")
    optional = () if weights is None else (weights,)
    return operate("_npi_bincount", x, *optional, minlength=minlength, has_weights=bool(optional))


def histogram(a, bins=10, range=None, normed=None, weights=None, density=None):
    """Compute a histogram with half-open bins, the last one closed.

    Parameters
    ----------
    a : Symbol
    bins : int or Symbol
        The number of equal-width bins, or their edges.
    range : (float, float), optional
        The outer edges, required for a number of bins.
    normed, weights, density : optional
        Not supported for symbols.

    Returns
    -------
    list of Symbols
        Counts and bin edges.
    """
    if normed or weights is not None or density:
        raise NotImplementedError(
            "histogram: normed, weights and density are not supported for symbols"
        )
    if isinstance(bins, integer_types):
        if range is None:
            raise NotImplementedError("histogram: a number of bins needs range")
        return operate("_histogram", a, bin_cnt=int(bins), range=tuple(map(float, range)))
    if isinstance(bins, Symbol):
        return operate("_histogram", a, bins)
    raise ValueError("histogram: bins must be an integer or a symbol")


def shares_memory(a, b, max_work=None):
    """Return whether two arrays share memory."""
    return operate("_npi_share_memory", a, b)


may_share_memory = shares_memory
