"""Default tolerances by dtype, and other defaults of tests."""

import numbers

import numpy as np

from mxcy.context import Context, current_context

__all__ = [
    "default_atols",
    "default_context",
    "default_device",
    "default_dtype",
    "default_numeric_eps",
    "default_rtols",
    "effective_dtype",
    "get_atol",
    "get_etol",
    "get_rtol",
    "get_tolerance",
    "get_tols",
    "set_default_context",
    "set_default_device",
]

_EXACT = ("bool", "int8", "uint8", "int32", "uint32", "int64", "uint64")


def _by_dtype(half, single, double):
    by_dtype = {np.dtype("float16"): half, np.dtype("float32"): single, np.dtype("float64"): double}
    by_dtype.update((np.dtype(name), 0) for name in _EXACT)
    return by_dtype


def default_context():
    """Return the context that tests run on: the current one."""
    return current_context()


def set_default_context(ctx):
    """Make `ctx` the default context."""
    Context.default_ctx = ctx


default_device = default_context  #: MXNet 2's name


def set_default_device(device):
    """Alias of `set_default_context`, MXNet 2's name."""
    set_default_context(device)


def default_dtype():
    """Return the dtype of random arrays: float32."""
    return np.float32


def default_rtols():
    """Return the relative tolerances, a dict of numpy.dtype to float."""
    return _by_dtype(1e-2, 1e-4, 1e-5)


def default_atols():
    """Return the absolute tolerances, a dict of numpy.dtype to float."""
    return _by_dtype(1e-1, 1e-3, 1e-20)


def default_numeric_eps():
    """Return the finite difference steps by dtype: powers of two, so that adding them is exact."""
    steps = (("float16", 6), ("float32", 9), ("float64", 14))
    return {np.dtype(name): 2.0**-exponent for name, exponent in steps}


def effective_dtype(dat):
    """Return the numpy.dtype that describes an array's precision."""
    return np.dtype(dat.dtype)


def get_tolerance(dat, tol, default_tol):
    """Return the tolerance for an array.

    Parameters
    ----------
    dat : NDArray or numpy.ndarray
        Array.
    tol : float, dict of numpy.dtype to float, or None
        Tolerance, or tolerances by dtype.
    default_tol : dict of numpy.dtype to float
        Tolerances of dtypes that `tol` lacks.

    Returns
    -------
    float
    """
    if isinstance(tol, numbers.Number):
        return tol
    dtype = effective_dtype(dat)
    return (tol or {}).get(dtype, default_tol.get(dtype, 0))


def get_tols(x, y, rtol, atol):
    """Return the tolerances for comparing two arrays or numbers: the larger ones of both.

    Returns
    -------
    rtol, atol : float
    """
    x, y = (np.array(value) if isinstance(value, numbers.Number) else value for value in (x, y))
    rtols, atols = default_rtols(), default_atols()
    return (
        max(get_tolerance(x, rtol, rtols), get_tolerance(y, rtol, rtols)),
        max(get_tolerance(x, atol, atols), get_tolerance(y, atol, atols)),
    )


def get_atol(atol=None, dtype=np.dtype(np.float64)):  # noqa: B008
    """Return `atol`, or the default of a dtype if it is None."""
    return default_atols()[dtype] if atol is None else atol


def get_rtol(rtol=None, dtype=np.dtype(np.float64)):  # noqa: B008
    """Return `rtol`, or the default of a dtype if it is None."""
    return default_rtols()[dtype] if rtol is None else rtol


def get_etol(etol=None):
    """Return `etol`, the fraction of elements that may differ, or 0 if it is None."""
    return 0 if etol is None else etol
