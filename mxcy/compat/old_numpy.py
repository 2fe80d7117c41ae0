"""Names removed from NumPy that old MXNet programs use."""

import numpy as np

__all__ = ["restore"]


def _asscalar(a):
    return a.item()


def _asfarray(a, dtype=np.float64):
    return np.asarray(a, dtype if np.issubdtype(dtype, np.inexact) else np.float64)


#: names removed in NumPy 1.24 and 2.0 -> replacement
_NAMES = {
    "Inf": np.inf,
    "Infinity": np.inf,
    "NINF": -np.inf,
    "NaN": np.nan,
    "PINF": np.inf,
    "alltrue": np.all,
    "asfarray": _asfarray,
    "asscalar": _asscalar,
    "cfloat": np.complex128,
    "complex": complex,
    "complex_": np.complex128,
    "cumproduct": np.cumprod,
    "float": float,
    "float_": np.float64,
    "in1d": np.isin,
    "infty": np.inf,
    "int": int,
    "mat": np.asmatrix,
    "object": object,
    "product": np.prod,
    "round_": np.round,
    "row_stack": np.vstack,
    "sometrue": np.any,
    "str": str,
    "string_": np.bytes_,
    "unicode_": np.str_,
}


def restore():
    """Restore the names that NumPy lacks.

    Returns
    -------
    list of str
        The restored names.
    """
    missing = [name for name in _NAMES if name not in vars(np)]
    for name in missing:
        setattr(np, name, _NAMES[name])
    return missing
