"""Constraints to intervals."""

import operator

from mxcy.gluon.probability.distributions._constraints.base import Constraint
from mxcy.numpy._calls.operands import is_array

__all__ = [
    "GreaterThan",
    "GreaterThanEq",
    "HalfOpenInterval",
    "IntegerGreaterThan",
    "IntegerGreaterThanEq",
    "IntegerHalfOpenInterval",
    "IntegerInterval",
    "IntegerLessThan",
    "IntegerLessThanEq",
    "IntegerOpenInterval",
    "Interval",
    "LessThan",
    "LessThanEq",
    "NonNegative",
    "NonNegativeInteger",
    "OpenInterval",
    "Positive",
    "PositiveInteger",
    "UnitInterval",
]


_TESTS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}


class _Range(Constraint):
    """Base of intervals; the optional bounds are numbers or arrays."""

    _above = _below = None  # comparison operators with the bounds, keys of _TESTS
    _integers = False
    _lower_bound = _upper_bound = None

    def _sides(self):
        sides = ((self._above, self._lower_bound), (self._below, self._upper_bound))
        return [side for side in sides if side[0]]

    def __str__(self):
        kind = "an integer " if self._integers else ""
        bounds = [
            (test, "an array" if is_array(b) and b.size > 1 else b) for test, b in self._sides()
        ]
        return kind + " and ".join(f"{test} {bound}" for test, bound in bounds)

    def holds(self, value):
        result = value % 1 == 0 if self._integers else True
        for test, bound in self._sides():
            inside = _TESTS[test](value, bound)
            result = inside if result is True else result & inside
        return result


class _Above(_Range):
    def __init__(self, lower_bound):
        self._lower_bound = lower_bound


class _Below(_Range):
    def __init__(self, upper_bound):
        self._upper_bound = upper_bound


class _Between(_Range):
    def __init__(self, lower_bound, upper_bound):
        self._lower_bound, self._upper_bound = lower_bound, upper_bound


class GreaterThan(_Above):
    """Numbers above a bound.

    Parameters
    ----------
    lower_bound : float or ndarray
    """

    _above = ">"


class GreaterThanEq(_Above):
    """Numbers greater than or equal to a bound.

    Parameters
    ----------
    lower_bound : float or ndarray
    """

    _above = ">="


class LessThan(_Below):
    """Numbers below a bound.

    Parameters
    ----------
    upper_bound : float or ndarray
    """

    _below = "<"


class LessThanEq(_Below):
    """Numbers less than or equal to a bound.

    Parameters
    ----------
    upper_bound : float or ndarray
    """

    _below = "<="


class Interval(_Between):
    """Numbers in a closed interval.

    Parameters
    ----------
    lower_bound, upper_bound : float or ndarray
    """

    _above, _below = ">=", "<="


class OpenInterval(_Between):
    """Numbers in an open interval.

    Parameters
    ----------
    lower_bound, upper_bound : float or ndarray
    """

    _above, _below = ">", "<"


class HalfOpenInterval(_Between):
    """Numbers in an interval that contains its lower bound only.

    Parameters
    ----------
    lower_bound, upper_bound : float or ndarray
    """

    _above, _below = ">=", "<"


class IntegerGreaterThan(GreaterThan):
    """Integers above a bound.

    Parameters
    ----------
    lower_bound : float or ndarray
    """

    _integers = True


class IntegerGreaterThanEq(GreaterThanEq):
    """Integers greater than or equal to a bound.

    Parameters
    ----------
    lower_bound : float or ndarray
    """

    _integers = True


class IntegerLessThan(LessThan):
    """Integers below a bound.

    Parameters
    ----------
    upper_bound : float or ndarray
    """

    _integers = True


class IntegerLessThanEq(LessThanEq):
    """Integers less than or equal to a bound.

    Parameters
    ----------
    upper_bound : float or ndarray
    """

    _integers = True


class IntegerInterval(Interval):
    """Integers in a closed interval.

    Parameters
    ----------
    lower_bound, upper_bound : float or ndarray
    """

    _integers = True


class IntegerOpenInterval(OpenInterval):
    """Integers in an open interval.

    Parameters
    ----------
    lower_bound, upper_bound : float or ndarray
    """

    _integers = True


class IntegerHalfOpenInterval(HalfOpenInterval):
    """Integers in an interval that contains its lower bound only.

    Parameters
    ----------
    lower_bound, upper_bound : float or ndarray
    """

    _integers = True


class Positive(GreaterThan):
    """Positive numbers."""

    def __init__(self):
        super().__init__(0)


class NonNegative(GreaterThanEq):
    """Non-negative numbers."""

    def __init__(self):
        super().__init__(0)


class PositiveInteger(IntegerGreaterThan):
    """Positive integers."""

    def __init__(self):
        super().__init__(0)


class NonNegativeInteger(IntegerGreaterThanEq):
    """Non-negative integers."""

    def __init__(self):
        super().__init__(0)


class UnitInterval(Interval):
    """Numbers between zero and one."""

    def __init__(self):
        super().__init__(0, 1)
