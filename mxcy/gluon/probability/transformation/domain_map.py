"""Transformations from the real numbers to the domain of a constraint."""

from mxcy.gluon.probability.distributions import constraint as constraints
from mxcy.gluon.probability.transformation.transformation import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    SigmoidTransform,
    SoftmaxTransform,
)

__all__ = ["biject_to", "domain_map", "transform_to"]


class domain_map:  # noqa: N801 - its name in MXNet
    """Registry of transformation factories by constraint type."""

    def __init__(self):
        self._factories = {}

    def register(self, constraint, factory=None):
        """Register a factory for a constraint type.

        Parameters
        ----------
        constraint : Constraint or type
            The type, including subclasses without a factory of their own.
        factory : callable, optional
            Creates a transformation from a constraint; if omitted, returns a decorator.

        Returns
        -------
        callable

        Raises
        ------
        TypeError
            If `constraint` is neither a constraint nor a constraint type.
        """
        if factory is None:
            return lambda function: self.register(constraint, function)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not (isinstance(kind, type) and issubclass(kind, constraints.Constraint)):
            raise TypeError(f"expected a constraint or a type of constraints, got {constraint!r}")
        self._factories[kind] = factory
        return factory

    def __call__(self, constraint):
        """Return a transformation to the domain of a constraint.

        Parameters
        ----------
        constraint : Constraint

        Returns
        -------
        Transformation

        Raises
        ------
        NotImplementedError
            If none is registered.
        """
        for kind in type(constraint).__mro__:
            if kind in self._factories:
                return self._factories[kind](constraint)
        raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")


biject_to = domain_map()
transform_to = domain_map()


def _register(*kinds):
    """Decorator that registers a factory in both registries."""

    def register(factory):
        for kind in kinds:
            biject_to.register(kind, factory)
            transform_to.register(kind, factory)
        return factory

    return register


@_register(constraints.Real)
def _to_real(constraint):
    return ComposeTransform([])


@_register(constraints.Positive, constraints.NonNegative)
def _to_positive(constraint):
    return ExpTransform()


@_register(constraints.GreaterThan, constraints.GreaterThanEq)
def _to_above(constraint):
    return ComposeTransform([ExpTransform(), AffineTransform(constraint._lower_bound, 1)])


@_register(constraints.LessThan, constraints.LessThanEq)
def _to_below(constraint):
    return ComposeTransform([ExpTransform(), AffineTransform(constraint._upper_bound, -1)])


@_register(constraints.Interval, constraints.HalfOpenInterval, constraints.OpenInterval)
def _to_interval(constraint):
    low, high = constraint._lower_bound, constraint._upper_bound
    if isinstance(constraint, constraints.UnitInterval) or (
        not hasattr(low, "shape") and not hasattr(high, "shape") and (low, high) == (0, 1)
    ):
        return SigmoidTransform()
    return ComposeTransform([SigmoidTransform(), AffineTransform(low, high - low)])


@transform_to.register(constraints.Simplex)
def _to_simplex(constraint):
    return SoftmaxTransform()
