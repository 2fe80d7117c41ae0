"""The geometric distribution."""

from mxcy import numpy as np
from mxcy.gluon.probability.distributions.constraint import NonNegativeInteger
from mxcy.gluon.probability.distributions.distribution import Distribution
from mxcy.gluon.probability.distributions.odds import BinaryOdds

__all__ = ["Geometric"]


class Geometric(BinaryOdds, Distribution):
    """The geometric distribution: number of failures before the first success.

    Parameters
    ----------
    prob, logit : float or ndarray
        The probability of success, or its log odds; give exactly one.
    validate_args : bool, optional
        Check parameters and values.
    """

    support = NonNegativeInteger()
    _inner = 0.0

    def __init__(self, prob=None, logit=None, validate_args=None):
        self._take(**self._take_one(prob=prob, logit=logit))
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        uniform = np.random.uniform(size=shape, dtype=self._dtype)
        return np.floor(np.log1p(-uniform) / self._log_failure)

    def _log_density(self, value):
        return self._log_of_zero(value) + self._log_of_one(1)

    def _cumulative(self, value):
        return -np.expm1(self._log_of_zero(np.maximum(np.floor(value) + 1, 0.0)))

    @property
    def mean(self):
        return self._spread(self._failure / self.prob)

    @property
    def variance(self):
        return self._spread(self._failure / self.prob / self.prob)

    def entropy(self):
        return self._spread(self._bit_entropy() / self.prob)
