"""The Cauchy distribution."""

import math

from mxcy import numpy as np
from mxcy.gluon.probability.distributions.constraint import Positive, Real
from mxcy.gluon.probability.distributions.distribution import Distribution
from mxcy.gluon.probability.functions import log

__all__ = ["Cauchy"]


class Cauchy(Distribution):
    """The Cauchy distribution, which has neither mean nor variance.

    Parameters
    ----------
    loc, scale : float or ndarray
        The median, and half the interquartile range.
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
        return self._quantile(np.random.uniform(size=shape, dtype=self._dtype))

    def _log_density(self, value):
        z = (value - self.loc) / self.scale
        return -np.log1p(z * z) - log(math.pi * self.scale)

    def _cumulative(self, value):
        return 0.5 + np.arctan((value - self.loc) / self.scale) / math.pi

    def _quantile(self, value):
        return self.loc + self.scale * np.tan(math.pi * (value - 0.5))

    @property
    def mean(self):
        return self._spread(math.nan)

    @property
    def variance(self):
        return self._spread(math.nan)

    def entropy(self):
        return self._spread(log(4 * math.pi * self.scale))
