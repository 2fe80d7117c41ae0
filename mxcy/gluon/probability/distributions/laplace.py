"""The Laplace distribution."""

import math

from mxcy import numpy as np
from mxcy.gluon.probability.distributions.constraint import Positive, Real
from mxcy.gluon.probability.distributions.distribution import Distribution
from mxcy.gluon.probability.functions import log

__all__ = ["Laplace"]


class Laplace(Distribution):
    """The Laplace distribution, with two exponential tails.

    Parameters
    ----------
    loc, scale : float or ndarray
        Mean, and mean absolute deviation.
    validate_args : bool, optional
        Check parameters and values.
    """

    has_grad = True
    support = Real()
    arg_constraints = {"loc": Real(), "scale": Positive()}
    _parameters = {"loc": 0, "scale": 0}

    def __init__(self, loc=0.0, scale=1.0, validate_args=None):
        self._take(loc=loc, scale=scale)
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        return np.random.laplace(self.loc, self.scale, shape, self._dtype)

    def _log_density(self, value):
        return -np.abs(value - self.loc) / self.scale - log(2 * self.scale)

    def _cumulative(self, value):
        z = (value - self.loc) / self.scale
        return 0.5 - 0.5 * np.sign(z) * np.expm1(-np.abs(z))

    def _quantile(self, value):
        side = value - 0.5
        return self.loc - self.scale * (np.sign(side) * np.log1p(-2 * np.abs(side)))

    @property
    def mean(self):
        return self._spread(self.loc)

    @property
    def stddev(self):
        return self._spread(math.sqrt(2) * self.scale)

    @property
    def variance(self):
        return self._spread(2 * self.scale * self.scale)

    def entropy(self):
        return self._spread(1 + log(2 * self.scale))
