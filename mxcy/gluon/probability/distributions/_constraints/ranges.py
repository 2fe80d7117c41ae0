"""Numbers between bounds."""

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
    """Numbers between bounds, of which either may be missing; they are numbers or arrays."""

    _above = _below = None  # how values compare with the bounds, keys of _TESTS
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
    """Numbers not below a bound.

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
    """Numbers not above a bound.

    Parameters
    ----------
    upper_bound : float or ndarray
    """

    _below = "<="


class Interval(_Between):
    """Numbers between two bounds, which belong to them.

    Parameters
    ----------
    lower_bound, upper_bound : float or ndarray
    """

    _above, _below = ">=", "<="


class OpenInterval(_Between):
    """Numbers between two bounds, which do not belong to them.

    Parameters
    ----------
    lower_bound, upper_bound : float or ndarray
    """

    _above, _below = ">", "<"


class HalfOpenInterval(_Between):
    """Numbers between two bounds, of which the lower one belongs to them.

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
    """Integers not below a bound.

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
    """Integers not above a bound.

    Parameters
    ----------
    upper_bound : float or ndarray
    """

    _integers = True


class IntegerInterval(Interval):
    """Integers between two bounds, which belong to them.

    Parameters
    ----------
    lower_bound, upper_bound : float or ndarray
    """

    _integers = True


class IntegerOpenInterval(OpenInterval):
    """Integers between two bounds, which do not belong to them.

    Parameters
    ----------
    lower_bound, upper_bound : float or ndarray
    """

    _integers = True


class IntegerHalfOpenInterval(HalfOpenInterval):
    """Integers between two bounds, of which the lower one belongs to them.

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
    """Numbers not below zero."""

    def __init__(self):
        super().__init__(0)


class PositiveInteger(IntegerGreaterThan):
    """Positive integers."""

    def __init__(self):
        super().__init__(0)


class NonNegativeInteger(IntegerGreaterThanEq):
    """Integers not below zero."""

    def __init__(self):
        super().__init__(0)


class UnitInterval(Interval):
    """Numbers between zero and one."""

    def __init__(self):
        super().__init__(0, 1)
