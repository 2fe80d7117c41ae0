"""Dtype promotion and casting rules."""

import numpy as onp

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.ops.core.result_types import default_complex, promote, with_number

__all__ = ["can_cast", "isdtype", "promote_types", "result_type"]

#: the array API's dtype kinds -> NumPy's kind letters
_KINDS = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


def _own(kind):
    return kind.dtype if isinstance(kind, front.NDArrayBase) else onp.dtype(kind)


def can_cast(from_, to, casting="safe"):
    """Return whether NumPy's casting rules allow a cast.

    Parameters
    ----------
    from_ : dtype or ndarray
    to : dtype
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}

    Returns
    -------
    bool
    """
    return onp.can_cast(_own(from_), onp.dtype(to), casting)


def isdtype(dtype, kind):
    """Return whether a dtype is of a kind.

    Parameters
    ----------
    dtype : dtype
    kind : str, dtype, or a tuple of them
        A dtype to compare with, or one of ``'bool'``, ``'signed integer'``,
        ``'unsigned integer'``, ``'integral'``, ``'real floating'``, ``'complex floating'`` and
        ``'numeric'``.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If `kind` is unknown.
    """
    own = dtypes.numpy_dtype(dtype)
    if isinstance(kind, tuple):
        return any([isdtype(own, each_kind) for each_kind in kind])
    if not isinstance(kind, str):
        return own == dtypes.numpy_dtype(kind)
    if kind not in _KINDS:
        raise ValueError(f"isdtype: kind is one of {', '.join(_KINDS)}, got {kind!r}")
    return ("f" if own == dtypes.bfloat16 else own.kind) in _KINDS[kind]


def promote_types(type1, type2):
    """Return the smallest dtype to which two dtypes can be safely cast, by NumPy's rules.

    Parameters
    ----------
    type1, type2 : dtype

    Returns
    -------
    numpy.dtype
    """
    return onp.promote_types(_own(type1), _own(type2))


def result_type(*arrays_and_dtypes):
    """Return the dtype that results from promoting arrays, dtypes and scalars.

    Parameters
    ----------
    *arrays_and_dtypes : ndarray, dtype or number
        At least one array or dtype; Python scalars do not change a dtype of their own kind.

    Returns
    -------
    numpy.dtype
        By MXNet's policy, or by NumPy's if the dtype switch is on.

    Raises
    ------
    ValueError
        If there is neither an array nor a dtype.
    """
    numbers = [x for x in arrays_and_dtypes if isinstance(x, (bool, int, float, complex))]
    kinds = [_own(x) for x in arrays_and_dtypes if not isinstance(x, (bool, int, float, complex))]
    if not kinds:
        raise ValueError("result_type: expected an array or a type among the arguments")
    numpy_types = front.has_numpy_types()
    code = promote(numpy_types, *(dtypes.code_of(kind) for kind in kinds))
    for number in numbers:
        if isinstance(number, complex):
            inexact = dtypes.is_inexact(code)
            code = dtypes.complex_of(code) if inexact else default_complex(numpy_types)
        elif not isinstance(number, bool):
            code = with_number(numpy_types, code, isinstance(number, int))
    return onp.dtype(dtypes.dtype_of(code))
