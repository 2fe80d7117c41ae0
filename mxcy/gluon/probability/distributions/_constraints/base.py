"""What constraints are, and those of all numbers and of truth values."""

import numpy as onp

from mxcy import _deferred_compute
from mxcy import numpy_extension as npx
from mxcy.gluon.probability.functions import as_parameter
from mxcy.numpy._calls.operands import is_array

__all__ = ["Boolean", "Constraint", "Real", "dependent_property", "is_dependent"]


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
