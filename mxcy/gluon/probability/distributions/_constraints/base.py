"""Base class of constraints, and constraints to real numbers and booleans."""

import numpy as onp

from mxcy import _deferred_compute
from mxcy import numpy_extension as npx
from mxcy.gluon.probability.functions import as_parameter
from mxcy.numpy._calls.operands import is_array

__all__ = ["Boolean", "Constraint", "Real", "dependent_property", "is_dependent"]


class Constraint:
    """A set of allowed values.

    Subclasses define `holds` and `__str__`, or `check`.
    """

    def holds(self, value):
        """Return whether values (or the vectors or matrices that count as one value) are allowed.

        Parameters
        ----------
        value : float or ndarray

        Returns
        -------
        bool or ndarray
        """
        raise NotImplementedError(f"{type(self).__name__} does not define holds")

    def check(self, value):
        """Check that values are allowed.

        Parameters
        ----------
        value : float or ndarray

        Returns
        -------
        float or ndarray
            The value. In a graph, the check is part of the graph.

        Raises
        ------
        ValueError
            If a value is not allowed.
        """
        return self.check_named(value, "value")

    def check_named(self, value, name):
        """Check that values are allowed, naming them in the message.

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
            If a value is not allowed.
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
    """A constraint that depends on other parameters and cannot be checked without them."""

    def check(self, value):
        raise ValueError("cannot check a constraint that depends on other parameters")

    check.__doc__ = Constraint.check.__doc__


class dependent_property(property, _Dependent):  # noqa: N801 - its name in MXNet
    """A property with the support of an instance; on the class it is `_Dependent`."""


def is_dependent(constraint):
    """Return whether a constraint depends on the parameters of a distribution.

    Parameters
    ----------
    constraint : Constraint

    Returns
    -------
    bool
    """
    return isinstance(constraint, _Dependent)


class Real(Constraint):
    """Any number except nan."""

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
