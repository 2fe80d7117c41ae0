"""How much numbers of an element type may differ, and other defaults of tests."""

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
    """The context that tests run on: the current one."""
    return current_context()


def set_default_context(ctx):
    """Make `ctx` the context that is used when none is given."""
    Context.default_ctx = ctx


default_device = default_context  #: the name of MXNet 2


def set_default_device(device):
    """`set_default_context` under the name of MXNet 2."""
    set_default_context(device)


def default_dtype():
    """The element type of random arrays: float32."""
    return np.float32


def default_rtols():
    """The relative tolerance of each dtype, dict of numpy.dtype to float."""
    return _by_dtype(1e-2, 1e-4, 1e-5)


def default_atols():
    """The absolute tolerance of each dtype, dict of numpy.dtype to float."""
    return _by_dtype(1e-1, 1e-3, 1e-20)


def default_numeric_eps():
    """The step of finite differences for each dtype; powers of two, so that adding it is exact."""
    steps = (("float16", 6), ("float32", 9), ("float64", 14))
    return {np.dtype(name): 2.0**-exponent for name, exponent in steps}


def effective_dtype(dat):
    """The numpy.dtype whose precision an array has."""
    return np.dtype(dat.dtype)


def get_tolerance(dat, tol, default_tol):
    """The tolerance for an array.

    Parameters
    ----------
    dat : NDArray or numpy.ndarray
        The array.
    tol : float, dict of numpy.dtype to float, or None
        One for all, or by dtype.
    default_tol : dict of numpy.dtype to float
        For dtypes that `tol` lacks.

    Returns
    -------
    float
    """
    if isinstance(tol, numbers.Number):
        return tol
    dtype = effective_dtype(dat)
    return (tol or {}).get(dtype, default_tol.get(dtype, 0))


def get_tols(x, y, rtol, atol):
    """The tolerances for comparing two arrays or numbers: the larger ones of both.

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
    """`atol`, or the default of a dtype when it is None."""
    return default_atols()[dtype] if atol is None else atol


def get_rtol(rtol=None, dtype=np.dtype(np.float64)):  # noqa: B008
    """`rtol`, or the default of a dtype when it is None."""
    return default_rtols()[dtype] if rtol is None else rtol


def get_etol(etol=None):
    """`etol`, the share of elements that may differ, or 0 when it is None."""
    return 0 if etol is None else etol
