"""What values a parameter or a sample may have."""

import operator

import numpy as onp

from mxcy import _deferred_compute
from mxcy import numpy as np
from mxcy import numpy_extension as npx
from mxcy.gluon.probability.functions import as_parameter
from mxcy.numpy._calls.operands import is_array

__all__ = [
    "Boolean",
    "Cat",
    "Constraint",
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
    "LowerCholesky",
    "LowerTriangular",
    "NonNegative",
    "NonNegativeInteger",
    "OpenInterval",
    "Positive",
    "PositiveDefinite",
    "PositiveInteger",
    "Real",
    "Simplex",
    "Stack",
    "UnitInterval",
    "dependent_property",
    "is_dependent",
]


class Constraint:
    """What values are allowed.

    Subclasses define `holds` and `__str__`, or `check`.
    """

    def holds(self, value):
        """Whether values, or the vectors or matrices that are judged as one, are allowed.

        Parameters
        ----------
        value : float or ndarray

        Returns
        -------
        bool or ndarray
        """
        raise NotImplementedError(f"{type(self).__name__} does not say which values are allowed")

    def check(self, value):
        """Let allowed values pass.

        Parameters
        ----------
        value : float or ndarray

        Returns
        -------
        float or ndarray
            The value. Where it becomes part of a graph, the check does, too.

        Raises
        ------
        ValueError
            When not all are allowed.
        """
        return self.check_named(value, "value")

    def check_named(self, value, name):
        """As `check`, with a name of the value for the message.

        Parameters
        ----------
        value : float or ndarray
        name : str

        Returns
        -------
        float or ndarray

        Raises
        ------
        ValueError
            When not all are allowed.
        """
        value = as_parameter(value, name)
        holds = self.holds(value)
        message = f"Constraint violated: {name} should be {self}"
        if not is_array(holds):
            if not holds:
                raise ValueError(f"{message}, got {value}")
            return value
        if _deferred_compute.is_deferred_compute():
            return value * npx.constraint_check(holds, message)
        wrong = onp.argwhere(~holds.asnumpy())
        if len(wrong):
            first = tuple(int(i) for i in wrong[0])
            where = f" at {list(first)} ({len(wrong)} of {holds.size})" if first else ""
            raise ValueError(f"{message}, got {value.asnumpy()[first]}{where}")
        return value


class _Dependent(Constraint):
    """Depends on other parameters, and is not checked before these are known."""

    def check(self, value):
        raise ValueError("cannot check a constraint that depends on other parameters")

    check.__doc__ = Constraint.check.__doc__


class dependent_property(property, _Dependent):  # noqa: N801 - its name in MXNet
    """A property that is the support of an instance; of its class, that support is unknown."""


def is_dependent(constraint):
    """Whether a constraint depends on the parameters of a distribution.

    Parameters
    ----------
    constraint : Constraint

    Returns
    -------
    bool
    """
    return isinstance(constraint, _Dependent)


class Real(Constraint):
    """Any number but nan."""

    def __str__(self):
        return "a real number"

    def holds(self, value):
        return value == value  # noqa: PLR0124 - nan is not


class Boolean(Constraint):
    """0 or 1."""

    def __str__(self):
        return "0 or 1"

    def holds(self, value):
        return (value == 0) | (value == 1)


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
        found = value % 1 == 0 if self._integers else True
        for test, bound in self._sides():
            inside = _TESTS[test](value, bound)
            found = inside if found is True else found & inside
        return found


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


class Simplex(Constraint):
    """Vectors of numbers not below zero whose sum is one."""

    def __str__(self):
        return "numbers >= 0 that sum up to 1 along the last axis"

    def holds(self, value):
        rounding = max(1e-5, 16 * float(onp.finfo(value.dtype).eps))
        close = np.abs(np.sum(value, axis=-1) - 1) <= rounding
        return np.all(value >= 0, axis=-1) & close


class _Matrices(Constraint):
    """Square matrices, whose elements are judged together."""

    def check_named(self, value, name):
        value = as_parameter(value, name)
        if not is_array(value) or value.ndim < 2 or value.shape[-1] != value.shape[-2]:
            shape = f"the shape {value.shape}" if is_array(value) else value
            raise ValueError(f"Constraint violated: {name} should be {self}, got {shape}")
        return super().check_named(value, name)


class LowerTriangular(_Matrices):
    """Square matrices with zeros above the diagonal."""

    def __str__(self):
        return "square lower triangular matrices"

    def holds(self, value):
        return np.all(np.tril(value) == value, axis=(-2, -1))


class LowerCholesky(LowerTriangular):
    """Lower triangular matrices whose diagonals are positive."""

    def __str__(self):
        return f"{super().__str__()} with positive diagonals"

    def holds(self, value):
        diagonal = np.diagonal(value, axis1=-2, axis2=-1)
        return super().holds(value) & np.all(diagonal > 0, axis=-1)


class PositiveDefinite(_Matrices):
    """Symmetric matrices with positive eigenvalues."""

    def __str__(self):
        return "symmetric positive definite matrices"

    def holds(self, value):
        mirrored = np.swapaxes(value, -1, -2)
        symmetric = np.abs(value - mirrored) <= 1e-6 + 1e-5 * np.abs(value)
        positive = np.linalg.eigvalsh(value) > 0
        return np.all(symmetric, axis=(-2, -1)) & np.all(positive, axis=-1)


class Cat(Constraint):
    """Parts of a tensor along an axis that have constraints of their own.

    Parameters
    ----------
    constraint_seq : list of Constraint
    axis : int
    lengths : list of int, optional
        The parts' extents; 1 each by default.
    """

    def __init__(self, constraint_seq, axis=0, lengths=None):
        if not all(isinstance(constraint, Constraint) for constraint in constraint_seq):
            raise TypeError(f"expected a list of constraints, got {constraint_seq}")
        lengths = [1] * len(constraint_seq) if lengths is None else list(lengths)
        if len(lengths) != len(constraint_seq):
            raise ValueError(f"got {len(constraint_seq)} constraints and {len(lengths)} lengths")
        self._constraint_seq, self._axis, self._lengths = list(constraint_seq), axis, lengths

    def check_named(self, value, name):
        parts = np.split(value, list(onp.cumsum(self._lengths)), axis=self._axis)
        checked = [
            constraint.check_named(part, name)
            for constraint, part in zip(self._constraint_seq, parts, strict=False)
        ]
        return np.concatenate([*checked, *parts[len(checked) :]], axis=self._axis)


class Stack(Constraint):
    """Slices of a tensor along an axis that have constraints of their own.

    Parameters
    ----------
    constraint_seq : list of Constraint
    axis : int
    """

    def __init__(self, constraint_seq, axis=0):
        if not all(isinstance(constraint, Constraint) for constraint in constraint_seq):
            raise TypeError(f"expected a list of constraints, got {constraint_seq}")
        self._constraint_seq, self._axis = list(constraint_seq), axis

    def check_named(self, value, name):
        count = value.shape[self._axis]
        if count != len(self._constraint_seq):
            raise ValueError(
                f"Constraint violated: {name} should have {len(self._constraint_seq)} slices "
                f"along axis {self._axis}, got {count}"
            )
        parts = np.split(value, count, axis=self._axis)
        checked = [
            constraint.check_named(np.squeeze(part, axis=self._axis), name)
            for constraint, part in zip(self._constraint_seq, parts, strict=True)
        ]
        return np.stack(checked, axis=self._axis)
