"""The half-normal distribution."""

import math

from mxcy import numpy as np
from mxcy.gluon.probability.distributions.constraint import NonNegative, Positive
from mxcy.gluon.probability.distributions.normal import Normal
from mxcy.gluon.probability.distributions.transformed_distribution import TransformedDistribution
from mxcy.gluon.probability.functions import log
from mxcy.gluon.probability.transformation.transformation import AbsTransform

__all__ = ["HalfNormal", "Halved"]


class Halved(TransformedDistribution):
    """The distribution of the absolute value of a variable symmetric around 0.

    Parameters
    ----------
    base_dist : type
        The symmetric distribution, with `scale` as its only parameter.
    scale : float or ndarray
    validate_args : bool, optional
    """

    has_grad = True
    support = NonNegative()
    arg_constraints = {"scale": Positive()}
    _parameters = {"scale": 0}
    _inner = 1.0

    def __init__(self, base_dist, scale, validate_args=None):
        self._take(scale=scale)
        super().__init__(base_dist(0.0, self.scale), AbsTransform(), validate_args)

    def _log_density(self, value):
        return self._base_dist.log_prob(value) + math.log(2)

    def _cumulative(self, value):
        return 2 * self._base_dist.cdf(np.maximum(value, 0.0)) - 1

    def _quantile(self, value):
        return self._base_dist.icdf((value + 1) / 2)


class HalfNormal(Halved):
    """The half-normal distribution: absolute value of a normal variable.

    Parameters
    ----------
    scale : float or ndarray
        Standard deviation of the normal variable.
    validate_args : bool, optional
        Check parameters and values.
    """

    def __init__(self, scale=1.0, validate_args=None):
        super().__init__(Normal, scale, validate_args)

    @property
    def loc(self):
        """The mean of the normal distribution."""
        return self._base_dist.loc

    @property
    def mean(self):
        return self._spread(self.scale * math.sqrt(2 / math.pi))

    @property
    def variance(self):
        return self._spread(self.scale * self.scale * (1 - 2 / math.pi))

    def entropy(self):
        return self._spread(log(self.scale) + 0.5 + 0.5 * math.log(math.pi / 2))
