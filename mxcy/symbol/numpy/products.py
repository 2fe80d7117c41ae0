"""Products and norms of `mx.sym.np`, and differences."""

from mxcy.numpy._calls.general import operate
from mxcy.symbol.numpy.shapes import concatenate, reshape

__all__ = ["diff", "inner", "outer", "vdot"]


def _flat(array):
    return reshape(array, (-1,))


def inner(a, b):
    """The sum of products over the last axes of two arrays that have axes."""
    return operate("_npi_tensordot", a, b, a_axes_summed=(-1,), b_axes_summed=(-1,))


def outer(a, b):
    """The products of all pairs of elements of two flattened arrays."""
    return operate("_npi_tensordot_int_axes", _flat(a), _flat(b), axes=0)


def vdot(a, b):
    """The sum of the products of elements at the same place of two flattened arrays."""
    return operate("_npi_tensordot_int_axes", _flat(a), _flat(b), axes=1)


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Differences of neighbours.

    Parameters
    ----------
    a : Symbol
    n : int
        How many times.
    axis : int
    prepend, append : Symbol, optional
        What stands before and behind the elements first.

    Returns
    -------
    Symbol
    """
    parts = [x for x in (prepend, a, append) if x is not None]
    whole = a if len(parts) == 1 else concatenate(parts, axis)
    return operate("_npi_diff", whole, n=n, axis=axis)
