"""The element types of results of `mx.np`: one rule per family, each for both policies.

Policies: MXNet's, in which a floating type wins over any integer one and float32 stands for "some
floating type", and NumPy's, with its promotion and float64; complex types go with the floating ones
of their parts. Records name a rule and leave the
policy to it: ``RULE(a, *specs)`` tells the code of the result, None where an input's is unknown.
Rules also tell in which type kernels compute, since many results (of comparisons) have another.
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
#: kernels have no rows for these: another type whose bits or values do
_ROWS = {
    _BOOL: _CODE["uint8"],
    _CODE["int16"]: _CODE["int32"],
    _CODE["uint16"]: _CODE["int32"],
    _CODE["uint32"]: _LONG,
}


def asked(word: str, spec: Spec) -> int:
    """The element type that a call asks for with `dtype`, which hides no imaginary parts."""
    code = dtypes.code_of(word)
    require(
        spec.dtype is None or dtypes.is_complex(code) or not dtypes.is_complex(spec.dtype),
        f"dtype: {dtypes.name_of(spec.dtype or 0)} cannot become {word}: take .real",
    )
    return code


def row_type(code: int) -> int:
    """The element type in which kernels compute on arrays of another."""
    return _ROWS.get(code, code)


def default_float(numpy_types: bool) -> int:
    """The floating type of what comes without one."""
    return _DOUBLE if numpy_types else _SINGLE


def default_complex(numpy_types: bool) -> int:
    """The complex type of what comes without one."""
    return dtypes.complex_of(default_float(numpy_types))


@lru_cache(1024)
def promote(numpy_types: bool, *codes: int) -> int:
    """The element type in which arrays of several types meet."""
    if len(set(codes)) == 1:
        return codes[0]
    floats = {code for code in codes if dtypes.is_inexact(code)}
    if _BFLOAT16 in floats:  # which NumPy does not know
        if any(map(dtypes.is_complex, floats)):
            return promote(numpy_types, *floats - {_BFLOAT16})
        return _BFLOAT16 if len(floats) == 1 else promote(numpy_types, *floats - {_BFLOAT16})
    if floats and not numpy_types:
        codes = tuple(floats)
    return dtypes.code_of(np.result_type(*map(dtypes.dtype_of, codes)))


@lru_cache(1024)
def real_type(numpy_types: bool, code: int) -> int:
    """The floating type of a function of real numbers, which complex ones may be as well."""
    if dtypes.is_inexact(code):
        return code
    if not numpy_types:
        return _HALF if code in _NARROW else _SINGLE
    return dtypes.code_of(np.result_type(dtypes.dtype_of(code), np.float16))


def with_number(numpy_types: bool, code: int, is_int: bool) -> int:
    """The element type in which an array meets a Python number, which is weak."""
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
    """How element types of inputs decide that of the result.

    Parameters
    ----------
    result : callable
        ``result(numpy_types, computed)``, the result's code, from the one that is computed in.
    computed : callable
        ``computed(numpy_types, *codes)``, in which type to compute.
    number : callable
        ``number(numpy_types, code, is_int)``, the same for an array and a number.
    check : callable
        ``check(*codes)`` refuses types by raising InferError.
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
        """The type in which inputs of known types are computed."""
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
        _refuse(code, "b", "arrays of booleans")


def _no_two_bools(*codes: int) -> None:
    two = len(codes) == 2 and all(code == _BOOL for code in codes)
    require(not two, "two arrays of booleans are not supported")


def _only_integers(*codes: int) -> None:
    require(not any(map(dtypes.is_inexact, codes)), "floating types are not supported")
    signed = dtypes.is_float(promote(True, *codes))
    require(not signed, "no integer type holds both the signed and the unsigned operand")


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
    """The type of numbers times powers of two, which decide nothing if they are integers."""
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


#: functions of real numbers: integers become floating
REAL = TypeRule(computed=real_type)
#: the input's own type
KEEP = TypeRule()
#: the input's own type, of complex numbers that of their parts
MAGNITUDE = TypeRule(_part)
#: the input's own type, which is no boolean
NUMBERS = TypeRule(check=_no_bool)
#: where two arrays, or an array and a number, meet
PROMOTE = TypeRule()
#: the same, refusing two arrays of booleans
SUBTRACT = TypeRule(check=_no_two_bools)
#: quotients
DIVIDE = TypeRule(computed=_quotient, number=_quotient_number)
#: where two arrays meet in a floating type
FLOATING = TypeRule(computed=_floating, number=_floating_number)
#: where two arrays meet, of functions that MXNet has for integers too
SIGNED = TypeRule(computed=_signed, number=_signed_number)
#: the same, but NumPy's types are those of the first operand
SCALE = TypeRule(computed=_scaled, number=_signed_number)
#: functions that round: integers stay
WHOLE = TypeRule(computed=_whole)
#: the same, but MXNet makes integers floating
FIX = TypeRule(computed=lambda numpy_types, code: code if numpy_types else real_type(False, code))
#: tests of one array's elements: booleans
TEST = TypeRule(_truth)
#: comparisons: booleans, computed where no operand loses anything
COMPARE = TypeRule(_truth, lambda numpy_types, *codes: promote(True, *codes), _compared_number)
#: integers and booleans
BITS = TypeRule(number=_whole_number, check=_only_integers)
#: integers
SHIFT = TypeRule(number=_whole_number, check=_shiftable)
#: sums and products of many: NumPy widens integers, MXNet booleans only
ACCUMULATE = TypeRule(computed=_sum)
#: means: floating types stay, others become the default one
MEAN = TypeRule(computed=_quotient)
