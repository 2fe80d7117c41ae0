"""Products, norms and differences of `mx.sym.np`."""

from mxcy.numpy._calls.general import operate
from mxcy.symbol.numpy.shapes import concatenate, reshape

__all__ = ["diff", "inner", "outer", "vdot"]


def _flat(array):
    return reshape(array, (-1,))


def inner(a, b):
    """Return the inner product over the last axes of two arrays with at least one axis."""
    return operate("_npi_tensordot", a, b, a_axes_summed=(-1,), b_axes_summed=(-1,))


def outer(a, b):
    """Return the outer product of two flattened arrays."""
    return operate("_npi_tensordot_int_axes", _flat(a), _flat(b), axes=0)


def vdot(a, b):
    """Return the dot product of two flattened arrays."""
    return operate("_npi_tensordot_int_axes", _flat(a), _flat(b), axes=1)


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Compute differences of adjacent elements.

    Parameters
    ----------
    a : Symbol
    n : int
        Number of times to apply it.
    axis : int
    prepend, append : Symbol, optional
        Values to prepend and append first.

    Returns
    -------
    Symbol
    """
    parts = [x for x in (prepend, a, append) if x is not None]
    extended = a if len(parts) == 1 else concatenate(parts, axis)
    return operate("_npi_diff", extended, n=n, axis=axis)
