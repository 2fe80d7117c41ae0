"""Python operators between `mx.np` arrays and other operands."""

import math
import sys

import numpy as onp

from mxcy._library import front
from mxcy.numpy._calls.operands import as_operands, from_onp, is_array
from mxcy.ops.core import homes
from mxcy.ops.core.record import find

__all__ = ["NAMES", "apply", "function", "in_place", "records", "unusual"]

#: functions behind the operators, those of `mxcy.ops.core.operators.TABLE` first
NAMES = (
    "add",
    "subtract",
    "multiply",
    "true_divide",
    "mod",
    "power",
    "equal",
    "not_equal",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "floor_divide",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "left_shift",
    "right_shift",
)
_NUMBERS = {name: i for i, name in enumerate(NAMES)}
_EQUAL, _NOT_EQUAL = _NUMBERS["equal"], _NUMBERS["not_equal"]
_LESS_EQUAL = _NUMBERS["less_equal"]
_functions = {}


def records():
    """Return each operator's records for (array, array), (array, scalar) and (scalar, array)."""
    homed = homes.numpy_homes()
    records_of = []
    for name in NAMES:
        record, public = homed["", name]
        records_of.append((record, find(public.number), find(public.number_first)))
    return records_of


def function(name):
    """Return a function of `mx.np` by name."""
    known = _functions.get(name)
    if known is None:
        known = _functions[name] = getattr(sys.modules["mxcy.numpy"], name)
    return known


def apply(name, lhs, rhs):
    """Apply an operator that is not in `NAMES`; NotImplemented for unsupported operands."""
    if not _is_operand(lhs) or not _is_operand(rhs):
        return NotImplemented
    return function(name)(lhs, rhs)


def in_place(name, array, other):
    """Compute ``array = array <operator> other`` in the memory of `array`.

    Raises
    ------
    ValueError
        If `array` is read-only.
    MXNetError
        If the result has another shape, or a dtype that cannot be cast.
    """
    if not array.writable:
        raise ValueError("output array is read-only")
    if not _is_operand(other):
        return NotImplemented
    return function(name)(array, other, out=array)


def _is_operand(value):
    return is_array(value) or isinstance(
        value, (bool, int, float, complex, onp.generic, onp.ndarray, list, tuple)
    )


def unusual(operation, lhs, rhs):
    """Apply an operator to operands other than arrays and Python scalars; called by the fronts."""
    other = rhs if is_array(lhs) else lhs
    if not _is_operand(other):
        if operation in (_EQUAL, _NOT_EQUAL) and (other is None or isinstance(other, str)):
            array = lhs if is_array(lhs) else rhs
            shape, differs = array.shape, operation == _NOT_EQUAL
            return from_onp(onp.full(shape, differs), ctx=array.context)
        return NotImplemented
    try:
        kind, operands = as_operands(lhs, rhs, NAMES[operation].startswith("bitwise"))
    except TypeError:
        return NotImplemented
    except OverflowError:  # integers compare with out-of-range values
        if not _EQUAL <= operation <= _LESS_EQUAL or not isinstance(other, int):
            raise
        beyond = math.copysign(math.inf, other)
        operands = (lhs, beyond) if other is rhs else (beyond, rhs)
        return front.numpy_arithmetic(operation, *operands)
    if not kind:
        return front.numpy_arithmetic(operation, *operands)
    array, number = operands
    if kind == "number":
        return front.numpy_arithmetic(operation, array, number)
    return front.numpy_arithmetic(operation, number, array)
