"""Functions of `mx.sym.np` that pick elements, find them and put them in order."""

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
    """The elements of an array at indices along an axis.

    Parameters
    ----------
    a, indices : Symbol
    axis : int, optional
        By default that of the flattened array.
    mode : {'raise', 'clip', 'wrap'}
        What happens to indices outside: an error, the nearest, or modulo the extent.
    out : optional
        Has no effect.

    Returns
    -------
    Symbol

    Raises
    ------
    ValueError
        When there is no such mode.
    """
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"take: mode must be 'raise', 'clip' or 'wrap', got {mode!r}")
    if axis is None:
        a, axis = ravel(a), 0
    return operate("take", a, indices, axis=axis, mode=mode)


def sort(a, axis=-1, kind=None, order=None, *, descending=False, stable=True):
    """The elements in order along an axis, NaN last.

    Parameters
    ----------
    a : Symbol
    axis : int or None
        None sorts the flattened array.
    kind, order : optional
        Have no effect.
    descending : bool
        The largest first.
    stable : bool
        Equal elements always keep their order.

    Returns
    -------
    Symbol
    """
    return operate("sort", a, axis=axis, is_ascend=not descending)


def argsort(a, axis=-1, kind=None, order=None, *, descending=False, stable=True):
    """The positions that put the elements along an axis in order, as int64.

    Parameters
    ----------
    a : Symbol
    axis : int or None
        None sorts the flattened array.
    kind, order : optional
        Have no effect.
    descending : bool
        The largest first.
    stable : bool
        Equal elements always keep their order.

    Returns
    -------
    Symbol
    """
    return operate("argsort", a, axis=axis, is_ascend=not descending, dtype="int64")


def nonzero(a):
    """The indices of the elements that are not zero, a row for each, as int64."""
    return operate("_npx_nonzero", a)


def flatnonzero(a):
    """The indices of the elements of the flattened array that are not zero."""
    return ravel(operate("_npx_nonzero", ravel(a)))


def unravel_index(indices, shape, order="C"):
    """Coordinates, a row for each axis, from positions in a flattened array.

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
        raise NotImplementedError(f"unravel_index: symbols are in order 'C', got {order!r}")
    shape = (shape,) if hasattr(shape, "__index__") else tuple(shape)
    return operate("_unravel_index", indices, shape=shape)


def diag_indices_from(arr):
    """The coordinates of the diagonal of an array with equal extents, a row for each axis."""
    return operate("_npi_diag_indices_from", arr)


def bincount(x, weights=None, minlength=0):
    """How often each number from 0 occurs, or the sum of its weights.

    Parameters
    ----------
    x : Symbol
    weights : Symbol, optional
    minlength : int
        The result has at least so many elements.

    Returns
    -------
    Symbol
    """
    if minlength < 0:
        raise ValueError("Minlength value should greater than 0")
    optional = () if weights is None else (weights,)
    return operate("_npi_bincount", x, *optional, minlength=minlength, has_weights=bool(optional))


def histogram(a, bins=10, range=None, normed=None, weights=None, density=None):
    """Count the elements in intervals: half-open ones, the last one closed.

    Parameters
    ----------
    a : Symbol
    bins : int or Symbol
        The number of equal intervals, or their bounds.
    range : (float, float), optional
        What the intervals cover: needed for a number of them.
    normed, weights, density : optional
        Not for symbols.

    Returns
    -------
    list of Symbols
        Counts and bounds.
    """
    if normed or weights is not None or density:
        raise NotImplementedError("histogram: symbols take no normed, weights or density")
    if isinstance(bins, integer_types):
        if range is None:
            raise NotImplementedError("histogram: a number of bins needs range")
        return operate("_histogram", a, bin_cnt=int(bins), range=tuple(map(float, range)))
    if isinstance(bins, Symbol):
        return operate("_histogram", a, bins)
    raise ValueError("histogram: bins must be an integer or a symbol")


def shares_memory(a, b, max_work=None):
    """Whether two arrays share memory."""
    return operate("_npi_share_memory", a, b)


may_share_memory = shares_memory
