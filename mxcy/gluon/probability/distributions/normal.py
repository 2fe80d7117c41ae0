"""The normal distribution."""

import math

from mxcy import numpy as np
from mxcy import numpy_extension as npx
from mxcy.gluon.probability.distributions.constraint import Positive, Real
from mxcy.gluon.probability.distributions.exp_family import ExponentialFamily
from mxcy.gluon.probability.functions import log

__all__ = ["Normal"]


class Normal(ExponentialFamily):
    """The normal distribution.

    Parameters
    ----------
    loc, scale : float or ndarray
        The mean and the standard deviation.
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
        return np.random.normal(self.loc, self.scale, shape, self._dtype)

    def _log_density(self, value):
        z = (value - self.loc) / self.scale
        return -0.5 * z * z - log(self.scale) - 0.5 * math.log(2 * math.pi)

    def _cumulative(self, value):
        return 0.5 * (1 + npx.erf((value - self.loc) / (self.scale * math.sqrt(2))))

    def _quantile(self, value):
        return self.loc + self.scale * (math.sqrt(2) * npx.erfinv(2 * value - 1))

    @property
    def mean(self):
        return self._spread(self.loc)

    @property
    def stddev(self):
        return self._spread(self.scale)

    @property
    def variance(self):
        return self._spread(self.scale * self.scale)

    def entropy(self):
        return self._spread(0.5 + 0.5 * math.log(2 * math.pi) + log(self.scale))

    @property
    def _natural_params(self):
        square = self.scale * self.scale
        return self._spread(self.loc / square), self._spread(-0.5 / square)

    def _log_normalizer(self, x, y):
        return -0.25 * x * x / y + 0.5 * log(-math.pi / y)
