"""Arithmetic and comparisons between symbols and numbers.

Two symbols must have equal shapes (see ``broadcast_add`` etc. for others).
"""

import math

from mxcy.base import NotImplementedForSymbol, numeric_types
from mxcy.symbol.register import F
from mxcy.symbol.symbol import Symbol

__all__ = ["add_operators", "hypot", "maximum", "minimum", "pow", "power"]

#: method -> (operators for symbol and symbol, symbol and number, number and symbol), from which
#: names of new symbols are derived
_OPERATORS = {
    "add": ("_Plus", "_PlusScalar", "_PlusScalar"),
    "sub": ("_Minus", "_MinusScalar", "_RMinusScalar"),
    "mul": ("_Mul", "_MulScalar", "_MulScalar"),
    "truediv": ("_Div", "_DivScalar", "_RDivScalar"),
    "mod": ("_Mod", "_ModScalar", "_RModScalar"),
    "pow": ("_Power", "_PowerScalar", "_rpower_scalar"),
    "eq": ("_equal", "_equal_scalar", None),
    "ne": ("_not_equal", "_not_equal_scalar", None),
    "gt": ("_greater", "_greater_scalar", None),
    "ge": ("_greater_equal", "_greater_equal_scalar", None),
    "lt": ("_lesser", "_lesser_scalar", None),
    "le": ("_lesser_equal", "_lesser_equal_scalar", None),
}
_POWER = ("_Power", "_PowerScalar", "_RPowerScalar")
_MAXIMUM = ("_Maximum", "_MaximumScalar", "_MaximumScalar")
_MINIMUM = ("_Minimum", "_MinimumScalar", "_MinimumScalar")
_HYPOT = ("_Hypot", "_HypotScalar", "_HypotScalar")


def _with(symbol, other, names):
    if isinstance(other, Symbol):
        return getattr(F, names[0])(symbol, other)
    if isinstance(other, numeric_types):
        return getattr(F, names[1])(symbol, scalar=other)
    raise TypeError(f"type {type(other)} not supported")


def _after(symbol, other, names):
    if isinstance(other, numeric_types):
        return getattr(F, names[2])(symbol, scalar=other)
    raise TypeError(f"type {type(other)} not supported")


def _in_place_refused(name, alias):
    def refuse(self, other):
        raise NotImplementedForSymbol(getattr(self, name), alias, self, other)

    return refuse


def add_operators(cls):
    """Add Python's operators to a class."""
    for name, names in _OPERATORS.items():
        left = lambda self, other, names=names: _with(self, other, names)  # noqa: E731
        setattr(cls, f"__{name}__", left)
        if names[2] is not None:
            right = lambda self, other, names=names: _after(self, other, names)  # noqa: E731
            setattr(cls, f"__r{name}__", right)
    cls.__div__, cls.__rdiv__ = cls.__truediv__, cls.__rtruediv__
    for name, alias in (("add", "+="), ("sub", "-="), ("mul", "*="), ("truediv", "/=")):
        setattr(cls, f"__i{name}__", _in_place_refused(f"__i{name}__", alias))
    cls.__idiv__ = cls.__itruediv__
    cls.__neg__ = lambda self: F._MulScalar(self, scalar=-1.0)
    cls.__abs__ = lambda self: F.abs(self)
    cls.__hash__ = None


def _combine(names, left, right, numbers):
    """Apply the operator of `names` for the operands' types; `numbers` combines two numbers."""
    if isinstance(left, Symbol):
        if isinstance(right, (Symbol, *numeric_types)):
            return _with(left, right, names)
    elif isinstance(left, numeric_types):
        if isinstance(right, Symbol):
            return _after(right, left, names)
        if isinstance(right, numeric_types):
            return numbers(left, right)
    raise TypeError(f"types ({type(left)}, {type(right)}) not supported")


def pow(base, exp):
    """Raise `base` to the power of `exp`.

    Parameters
    ----------
    base, exp : Symbol or number

    Returns
    -------
    Symbol or number
    """
    return _combine(_POWER, base, exp, lambda x, y: x**y)


def power(base, exp):
    """Raise `base` to the power of `exp`, like `pow`.

    Parameters
    ----------
    base, exp : Symbol or number

    Returns
    -------
    Symbol or number
    """
    return pow(base, exp)


def maximum(left, right):
    """Return the elementwise maximum.

    Parameters
    ----------
    left, right : Symbol or number

    Returns
    -------
    Symbol or number
    """
    return _combine(_MAXIMUM, left, right, lambda x, y: x if x > y else y)


def minimum(left, right):
    """Return the elementwise minimum.

    Parameters
    ----------
    left, right : Symbol or number

    Returns
    -------
    Symbol or number
    """
    return _combine(_MINIMUM, left, right, lambda x, y: x if x < y else y)


def hypot(left, right):
    """Return the length of the hypotenuse, ``sqrt(left ** 2 + right ** 2)``.

    Parameters
    ----------
    left, right : Symbol or number

    Returns
    -------
    Symbol or number
    """
    return _combine(_HYPOT, left, right, math.hypot)
