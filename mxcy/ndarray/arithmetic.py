"""Arithmetic and comparisons between arrays and numbers.

The in-place operators and the functions of `mx.nd` (`add`, `maximum`...) use the same operators as
``+ - * / % ** == != > >= < <=``.
"""

import operator

from mxcy._library import front
from mxcy.base import numeric_types
from mxcy.ndarray.register import F
from mxcy.ops.core.operators import TABLE

__all__ = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "true_divide",
    "modulo",
    "power",
    "maximum",
    "minimum",
    "equal",
    "not_equal",
    "greater",
    "greater_equal",
    "lesser",
    "lesser_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
]

_MAXIMUM = ("broadcast_maximum", "_maximum_scalar", "_maximum_scalar")
_MINIMUM = ("broadcast_minimum", "_minimum_scalar", "_minimum_scalar")
_LOGICAL_AND = ("broadcast_logical_and", "_logical_and_scalar", "_logical_and_scalar")
_LOGICAL_OR = ("broadcast_logical_or", "_logical_or_scalar", "_logical_or_scalar")
_LOGICAL_XOR = ("broadcast_logical_xor", "_logical_xor_scalar", "_logical_xor_scalar")


#: the operators of the first rows of `TABLE`, for arrays of equal shape
_ELEMENTWISE = ("elemwise_add", "elemwise_sub", "elemwise_mul", "elemwise_div")


def _combine(names, lhs, rhs, numbers=None, out=None):
    """Apply the operator of `names` for the operands' types; `numbers` combines two numbers."""
    if isinstance(lhs, numeric_types):
        if isinstance(rhs, numeric_types) and numbers is not None:
            return numbers(lhs, rhs)
        if isinstance(rhs, front.NDArrayBase):
            return getattr(F, names[2])(rhs, scalar=float(lhs), out=out)
    elif isinstance(lhs, front.NDArrayBase):
        if isinstance(rhs, front.NDArrayBase):
            return getattr(F, names[0])(lhs, rhs, out=out)
        if isinstance(rhs, numeric_types):
            return getattr(F, names[1])(lhs, scalar=float(rhs), out=out)
    stranger = rhs if isinstance(lhs, (front.NDArrayBase, *numeric_types)) else lhs
    raise TypeError(f"type {type(stranger)} not supported")


def combine(operation, lhs, rhs):
    """Apply an operator to sparse operands: arrays of equal shape are not broadcast."""
    same = isinstance(lhs, front.NDArrayBase) and isinstance(rhs, front.NDArrayBase)
    names = TABLE[operation]
    if same and lhs.shape == rhs.shape:
        names = (_ELEMENTWISE[operation], *names[1:])
    return _combine(names, lhs, rhs)


def unusual_operands(operation, lhs, rhs):
    """Handle operands that are neither arrays nor plain Python numbers, for the fronts."""
    return _combine(TABLE[operation], lhs, rhs)


def in_place(operation, array, other):
    """Compute ``array = array <operation> other`` in place.

    Raises
    ------
    ValueError
        When `array` is read-only.
    TypeError
        When `other` is neither an array nor a number.
    """
    if not array.writable:
        raise ValueError("trying to write to a readonly NDArray")
    return _combine(TABLE[operation], array, other, out=array)


# --- functions -----------------------------------------------------------------------------------


def _function(name, names, numbers, does):
    """Make a function of `mx.nd` whose operands are arrays or numbers."""
    # only power has different parameter names
    first, second = ("base", "exp") if name == "power" else ("lhs", "rhs")
    call = f"_combine(_names, {first}, {second}, _numbers)"
    source = f"def {name}({first}, {second}):\n    return {call}\n"
    scope = {"_combine": _combine, "_names": names, "_numbers": numbers}
    exec(compile(source, f"<{__name__}.{name}>", "exec"), scope)
    function = scope[name]
    function.__module__ = __name__
    function.__doc__ = f"""{does}, elementwise with broadcasting.

    Parameters
    ----------
    {first}, {second} : NDArray or number

    Returns
    -------
    NDArray, or a number when both operands are numbers

    Raises
    ------
    TypeError
        When an operand is neither an array nor a number.
    """
    return function


def _flag(compare):
    return lambda lhs, rhs: int(bool(compare(lhs, rhs)))


add = _function("add", TABLE[0], operator.add, "The sum")
subtract = _function("subtract", TABLE[1], operator.sub, "The difference")
multiply = _function("multiply", TABLE[2], operator.mul, "The product")
divide = _function("divide", TABLE[3], operator.truediv, "The quotient")
true_divide = divide
modulo = _function("modulo", TABLE[4], operator.mod, "The remainder, with the sign of the divisor")
power = _function("power", TABLE[5], operator.pow, "The power")
maximum = _function("maximum", _MAXIMUM, max, "The larger operand")
minimum = _function("minimum", _MINIMUM, min, "The smaller operand")
equal = _function("equal", TABLE[6], _flag(operator.eq), "1 where the operands are equal, else 0")
not_equal = _function(
    "not_equal", TABLE[7], _flag(operator.ne), "1 where the operands differ, else 0"
)
greater = _function("greater", TABLE[8], _flag(operator.gt), "1 where lhs > rhs, else 0")
greater_equal = _function(
    "greater_equal", TABLE[9], _flag(operator.ge), "1 where lhs >= rhs, else 0"
)
lesser = _function("lesser", TABLE[10], _flag(operator.lt), "1 where lhs < rhs, else 0")
lesser_equal = _function(
    "lesser_equal", TABLE[11], _flag(operator.le), "1 where lhs <= rhs, else 0"
)
logical_and = _function(
    "logical_and",
    _LOGICAL_AND,
    _flag(lambda a, b: a and b),
    "1 where both operands are not 0, else 0",
)
logical_or = _function(
    "logical_or", _LOGICAL_OR, _flag(lambda a, b: a or b), "1 where an operand is not 0, else 0"
)
logical_xor = _function(
    "logical_xor",
    _LOGICAL_XOR,
    _flag(lambda a, b: bool(a) != bool(b)),
    "1 where exactly one operand is not 0, else 0",
)
