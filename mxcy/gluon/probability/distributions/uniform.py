"""The uniform distribution."""

import math

from mxcy import numpy as np
from mxcy.gluon.probability.distributions.constraint import Interval, Real, dependent_property
from mxcy.gluon.probability.distributions.distribution import Distribution
from mxcy.gluon.probability.functions import log

__all__ = ["Uniform"]


class Uniform(Distribution):
    """The uniform distribution between two bounds.

    Parameters
    ----------
    low, high : float or ndarray
        The bounds.
    validate_args : bool, optional
        Check parameters and values.
    """

    has_grad = True
    arg_constraints = {"low": Real(), "high": Real()}
    _parameters = {"low": 0, "high": 0}

    def __init__(self, low=0.0, high=1.0, validate_args=None):
        self._take(low=low, high=high)
        super().__init__(event_dim=0, validate_args=validate_args)

    @dependent_property
    def support(self):
        """The interval between the bounds."""
        return Interval(self.low, self.high)

    @property
    def _inner(self):
        return self.low

    @property
    def _width(self):
        return self.high - self.low

    def _draw(self, shape):
        return np.random.uniform(self.low, self.high, shape, self._dtype)

    def _log_density(self, value):
        return 0 * value - log(self._width)

    def _cumulative(self, value):
        return np.clip((value - self.low) / self._width, 0, 1)

    def _quantile(self, value):
        return self.low + self._width * value

    @property
    def mean(self):
        return self._spread((self.low + self.high) / 2)

    @property
    def stddev(self):
        return self._spread(self._width / math.sqrt(12))

    @property
    def variance(self):
        return self._spread(self._width * self._width / 12)

    def entropy(self):
        return self._spread(log(self._width))
