"""Result dtypes of `mx.np`: one rule per operator family, each for both sets of type rules.

MXNet's rules: floating types take precedence over integers, and float32 is the default floating
type. NumPy's rules: its promotion, with float64. Complex types follow the floating types of their
parts. Records refer to a rule: ``RULE(a, *specs)`` returns the code of the result, or None if an
input's is unknown. Rules also determine the type in which kernels compute, since many results (of
comparisons) have another.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core.infer import Spec, require

__all__ = [
    "ACCUMULATE",
    "BITS",
    "COMPARE",
    "DIVIDE",
    "FIX",
    "FLOATING",
    "KEEP",
    "MAGNITUDE",
    "MEAN",
    "NUMBERS",
    "PROMOTE",
    "REAL",
    "SCALE",
    "SHIFT",
    "SIGNED",
    "SUBTRACT",
    "TEST",
    "TypeRule",
    "WHOLE",
    "asked",
    "default_complex",
    "default_float",
    "promote",
    "real_type",
    "row_type",
    "with_number",
]

_CODE = dtypes.CODES
_BOOL, _HALF, _SINGLE, _DOUBLE = (_CODE[name] for name in ("bool", "float16", "float32", "float64"))
_LONG, _BFLOAT16 = _CODE["int64"], _CODE["bfloat16"]
_NARROW = frozenset(_CODE[name] for name in ("bool", "int8", "uint8", "int16"))
#: types without kernels -> type with compatible bits or values
_ROWS = {
    _BOOL: _CODE["uint8"],
    _CODE["int16"]: _CODE["int32"],
    _CODE["uint16"]: _CODE["int32"],
    _CODE["uint32"]: _LONG,
}


def asked(word: str, spec: Spec) -> int:
    """The dtype requested by attribute `dtype`, which must not discard imaginary parts."""
    code = dtypes.code_of(word)
    require(
        spec.dtype is None or dtypes.is_complex(code) or not dtypes.is_complex(spec.dtype),
        f"dtype: {dtypes.name_of(spec.dtype or 0)} cannot be cast to {word}: use .real",
    )
    return code


def row_type(code: int) -> int:
    """The dtype in which kernels compute for a given dtype."""
    return _ROWS.get(code, code)


def default_float(numpy_types: bool) -> int:
    """The default floating type."""
    return _DOUBLE if numpy_types else _SINGLE


def default_complex(numpy_types: bool) -> int:
    """The default complex type."""
    return dtypes.complex_of(default_float(numpy_types))


@lru_cache(1024)
def promote(numpy_types: bool, *codes: int) -> int:
    """The common dtype of arrays."""
    if len(set(codes)) == 1:
        return codes[0]
    floats = {code for code in codes if dtypes.is_inexact(code)}
    if _BFLOAT16 in floats:  # unknown to NumPy
        if any(map(dtypes.is_complex, floats)):
            return promote(numpy_types, *floats - {_BFLOAT16})
        return _BFLOAT16 if len(floats) == 1 else promote(numpy_types, *floats - {_BFLOAT16})
    if floats and not numpy_types:
        codes = tuple(floats)
    return dtypes.code_of(np.result_type(*map(dtypes.dtype_of, codes)))


@lru_cache(1024)
def real_type(numpy_types: bool, code: int) -> int:
    """The result type of a floating-point function, also for complex inputs."""
    if dtypes.is_inexact(code):
        return code
    if not numpy_types:
        return _HALF if code in _NARROW else _SINGLE
    return dtypes.code_of(np.result_type(dtypes.dtype_of(code), np.float16))


def with_number(numpy_types: bool, code: int, is_int: bool) -> int:
    """The common dtype of an array and a Python number, which is weakly typed."""
    if dtypes.is_inexact(code):
        return code
    if not is_int:
        return _DOUBLE
    return _LONG if code == _BOOL else code


def _refuse(code: int | None, kinds: str, what: str) -> None:
    require(
        code is None or dtypes.is_inexact(code) or dtypes.dtype_of(code).kind not in kinds,
        f"{what} are not supported",
    )


class TypeRule:
    """Maps input dtypes to the result dtype.

    Parameters
    ----------
    result : callable
        ``result(numpy_types, computed)``: the result's code, given the computation's.
    computed : callable
        ``computed(numpy_types, *codes)``: the type of the computation.
    number : callable
        ``number(numpy_types, code, is_int)``: likewise for an array and a number.
    check : callable
        ``check(*codes)``: raises InferError for unsupported types.
    """

    def __init__(
        self,
        result: Callable[..., int] | None = None,
        computed: Callable[..., int] = promote,
        number: Callable[..., int] = with_number,
        check: Callable[..., None] | None = None,
    ) -> None:
        self._result, self._computed, self._number = result, computed, number
        self._check = check

    def computed(self, a: Any, *codes: int) -> int:
        """The type of the computation for known input types."""
        if hasattr(a, "is_int"):
            return self._number(a.numpy_types, codes[0], a.is_int)
        return self._computed(a.numpy_types, *codes)

    def __call__(self, a: Any, *specs: Spec) -> int | None:
        codes = [spec.dtype for spec in specs]
        if None in codes:
            return None
        if self._check is not None:
            self._check(*codes)
        computed = self.computed(a, *codes)
        return computed if self._result is None else self._result(a.numpy_types, computed)


def _no_bool(*codes: int) -> None:
    for code in codes:
        _refuse(code, "b", "boolean arrays")


def _no_two_bools(*codes: int) -> None:
    two = len(codes) == 2 and all(code == _BOOL for code in codes)
    require(not two, "two arrays of booleans are not supported")


def _only_integers(*codes: int) -> None:
    require(not any(map(dtypes.is_inexact, codes)), "floating types are not supported")
    signed = dtypes.is_float(promote(True, *codes))
    require(not signed, "no integer type can represent both the signed and the unsigned operand")


def _shiftable(*codes: int) -> None:
    _only_integers(*codes)
    _no_bool(*codes)


def _whole_number(numpy_types: bool, code: int, is_int: bool) -> int:
    require(is_int, "floating numbers are not supported")
    return with_number(numpy_types, code, is_int)


def _floating(numpy_types: bool, *codes: int) -> int:
    if numpy_types:
        return promote(True, *(real_type(True, code) for code in codes))
    common = promote(False, *codes)
    return common if dtypes.is_inexact(common) else _SINGLE


def _floating_number(numpy_types: bool, code: int, is_int: bool) -> int:
    common = code if numpy_types and code != _BOOL else with_number(numpy_types, code, is_int)
    if dtypes.is_inexact(code):
        return code
    return real_type(True, common) if numpy_types and is_int else default_float(numpy_types)


def _signed(numpy_types: bool, *codes: int) -> int:
    return _floating(True, *codes) if numpy_types else promote(False, *codes)


def _signed_number(numpy_types: bool, code: int, is_int: bool) -> int:
    rule = _floating_number if numpy_types else with_number
    return rule(numpy_types, code, is_int)


def _scaled(numpy_types: bool, *codes: int) -> int:
    """The type of scaling by powers of two: integer exponents are ignored."""
    if numpy_types and not dtypes.is_inexact(codes[-1]):
        return real_type(True, codes[0])
    return _signed(numpy_types, *codes)


def _whole(numpy_types: bool, code: int) -> int:
    return _HALF if code == _BOOL and not numpy_types else code


def _quotient(numpy_types: bool, *codes: int) -> int:
    common = promote(numpy_types, *codes)
    return common if dtypes.is_inexact(common) else default_float(numpy_types)


def _quotient_number(numpy_types: bool, code: int, is_int: bool) -> int:
    return code if dtypes.is_inexact(code) else default_float(numpy_types)


def _compared_number(numpy_types: bool, code: int, is_int: bool) -> int:
    if dtypes.is_inexact(code):
        return code
    return _LONG if is_int and code != _CODE["uint64"] else _DOUBLE


def _truth(numpy_types: bool, computed: int) -> int:
    return _BOOL


def _part(numpy_types: bool, computed: int) -> int:
    return dtypes.real_of(computed)


def _sum(numpy_types: bool, code: int) -> int:
    if code == _BOOL:
        return _LONG
    if numpy_types and not dtypes.is_inexact(code):
        return dtypes.code_of(np.sum(np.zeros(0, dtypes.dtype_of(code))).dtype)
    return code


#: floating-point functions: integers become floating
REAL = TypeRule(computed=real_type)
#: the input's type
KEEP = TypeRule()
#: the input's type, for complex inputs that of their parts
MAGNITUDE = TypeRule(_part)
#: the input's type; booleans are rejected
NUMBERS = TypeRule(check=_no_bool)
#: promotion of two arrays, or an array and a number
PROMOTE = TypeRule()
#: the same, rejecting two boolean arrays
SUBTRACT = TypeRule(check=_no_two_bools)
#: true division
DIVIDE = TypeRule(computed=_quotient, number=_quotient_number)
#: promotion of two arrays to a floating type
FLOATING = TypeRule(computed=_floating, number=_floating_number)
#: promotion, for functions that MXNet also defines on integers
SIGNED = TypeRule(computed=_signed, number=_signed_number)
#: the same, but under NumPy's rules the first operand's type
SCALE = TypeRule(computed=_scaled, number=_signed_number)
#: rounding: integers are unchanged
WHOLE = TypeRule(computed=_whole)
#: the same, but under MXNet's rules integers become floating
FIX = TypeRule(computed=lambda numpy_types, code: code if numpy_types else real_type(False, code))
#: elementwise predicates: boolean
TEST = TypeRule(_truth)
#: comparisons: boolean, computed without loss of precision
COMPARE = TypeRule(_truth, lambda numpy_types, *codes: promote(True, *codes), _compared_number)
#: integers and booleans
BITS = TypeRule(number=_whole_number, check=_only_integers)
#: integers
SHIFT = TypeRule(number=_whole_number, check=_shiftable)
#: sums and products: NumPy widens integers, MXNet only booleans
ACCUMULATE = TypeRule(computed=_sum)
#: means: floating types are unchanged, others become the default one
MEAN = TypeRule(computed=_quotient)
