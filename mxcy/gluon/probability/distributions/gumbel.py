"""The Gumbel distribution."""

import math

import numpy as onp

from mxcy import numpy as np
from mxcy.gluon.probability.distributions.constraint import Positive, Real
from mxcy.gluon.probability.distributions.distribution import Distribution
from mxcy.gluon.probability.functions import log

__all__ = ["Gumbel"]


class Gumbel(Distribution):
    """The Gumbel distribution of maxima.

    Parameters
    ----------
    loc, scale : float or ndarray
        Mode and scale.
    validate_args : bool, optional
        Check parameters and values.
    """

    has_grad = True
    support = Real()
    arg_constraints = {"loc": Real(), "scale": Positive()}
    _parameters = {"loc": 0, "scale": 0}

    def __init__(self, loc, scale=1, validate_args=None):
        self._take(loc=loc, scale=scale)
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        return np.random.gumbel(self.loc, self.scale, shape, dtype=self._dtype)

    def _log_density(self, value):
        z = (value - self.loc) / self.scale
        return -(z + np.exp(-z)) - log(self.scale)

    def _cumulative(self, value):
        return np.exp(-np.exp((self.loc - value) / self.scale))

    def _quantile(self, value):
        return self.loc - self.scale * np.log(-np.log(value))

    @property
    def mean(self):
        return self._spread(self.loc + onp.euler_gamma * self.scale)

    @property
    def stddev(self):
        return self._spread(math.pi / math.sqrt(6) * self.scale)

    @property
    def variance(self):
        return self._spread(math.pi**2 / 6 * self.scale * self.scale)

    def entropy(self):
        return self._spread(log(self.scale) + 1 + onp.euler_gamma)
