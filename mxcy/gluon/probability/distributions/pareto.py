"""The Pareto distribution."""

import math

from mxcy import numpy as np
from mxcy.gluon.probability.distributions.constraint import (
    GreaterThanEq,
    Positive,
    dependent_property,
)
from mxcy.gluon.probability.distributions.exponential import Exponential
from mxcy.gluon.probability.distributions.transformed_distribution import TransformedDistribution
from mxcy.gluon.probability.functions import log, where
from mxcy.gluon.probability.transformation.transformation import AffineTransform, ExpTransform

__all__ = ["Pareto"]


class Pareto(TransformedDistribution):
    """The Pareto distribution, with density proportional to ``x ** -(alpha + 1)`` above `scale`.

    Parameters
    ----------
    alpha : float or ndarray
        Tail exponent.
    scale : float or ndarray
        Minimum value.
    validate_args : bool, optional
        Check parameters and values.
    """

    has_grad = True
    arg_constraints = {"alpha": Positive(), "scale": Positive()}
    _parameters = {"alpha": 0, "scale": 0}

    def __init__(self, alpha, scale=1.0, validate_args=None):
        self._take(alpha=alpha, scale=scale)
        transforms = [ExpTransform(), AffineTransform(0, self.scale)]
        super().__init__(Exponential(1 / self.alpha), transforms, validate_args)

    @dependent_property
    def support(self):
        """Numbers greater than or equal to `scale`."""
        return GreaterThanEq(self.scale)

    @property
    def _inner(self):
        return self.scale

    def _log_density(self, value):
        ratio = np.log(value / self.scale)
        return log(self.alpha) - log(self.scale) - (self.alpha + 1) * ratio

    def _cumulative(self, value):
        return super()._cumulative(np.maximum(value, self.scale))

    @property
    def mean(self):
        alpha = where(self.alpha > 1, self.alpha, 2.0)
        return self._spread(where(self.alpha > 1, self.scale * alpha / (alpha - 1), math.inf))

    @property
    def variance(self):
        alpha = where(self.alpha > 2, self.alpha, 3.0)
        ratio = self.scale / (alpha - 1)
        return self._spread(where(self.alpha > 2, ratio * ratio * alpha / (alpha - 2), math.inf))

    def entropy(self):
        return self._spread(log(self.scale) - log(self.alpha) + 1 + 1 / self.alpha)
