"""Which element types meet in which, and which may become which."""

import numpy as onp

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.ops.core.result_types import default_complex, promote, with_number

__all__ = ["can_cast", "isdtype", "promote_types", "result_type"]

#: kinds of element types as the array API calls them -> NumPy's letters for them
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
    """Whether NumPy's rules allow a conversion.

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
    """Whether an element type is of a kind.

    Parameters
    ----------
    dtype : dtype
    kind : str, dtype, or a tuple of them
        A type stands for itself; the kinds are ``'bool'``, ``'signed integer'``,
        ``'unsigned integer'``, ``'integral'``, ``'real floating'``, ``'complex floating'`` and
        ``'numeric'``.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        When there is no such kind.
    """
    own = dtypes.numpy_dtype(dtype)
    if isinstance(kind, tuple):
        return any([isdtype(own, one) for one in kind])
    if not isinstance(kind, str):
        return own == dtypes.numpy_dtype(kind)
    if kind not in _KINDS:
        raise ValueError(f"isdtype: kind is one of {', '.join(_KINDS)}, got {kind!r}")
    return ("f" if own == dtypes.bfloat16 else own.kind) in _KINDS[kind]


def promote_types(type1, type2):
    """The smallest type into which two others convert safely, by NumPy's rules.

    Parameters
    ----------
    type1, type2 : dtype

    Returns
    -------
    numpy.dtype
    """
    return onp.promote_types(_own(type1), _own(type2))


def result_type(*arrays_and_dtypes):
    """The element type in which arithmetic of arrays, types and numbers computes.

    Parameters
    ----------
    *arrays_and_dtypes : ndarray, dtype or number
        At least one array or type; Python's numbers do not change a type of their own kind.

    Returns
    -------
    numpy.dtype
        By MXNet's policy, or by NumPy's where the dtype switch is on.

    Raises
    ------
    ValueError
        When there is neither an array nor a type.
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
