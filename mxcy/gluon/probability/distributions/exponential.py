"""The exponential distribution."""

from mxcy import numpy as np
from mxcy.gluon.probability.distributions.constraint import NonNegative, Positive
from mxcy.gluon.probability.distributions.exp_family import ExponentialFamily
from mxcy.gluon.probability.distributions.utils import cached_property
from mxcy.gluon.probability.functions import log

__all__ = ["Exponential"]


class Exponential(ExponentialFamily):
    """The exponential distribution.

    Parameters
    ----------
    scale : float or ndarray
        The mean, 1 / rate.
    validate_args : bool, optional
        Check parameters and values.
    """

    has_grad = True
    support = NonNegative()
    arg_constraints = {"scale": Positive()}
    _parameters = {"scale": 0}
    _inner = 1.0

    def __init__(self, scale=1.0, validate_args=None):
        self._take(scale=scale)
        super().__init__(event_dim=0, validate_args=validate_args)

    @cached_property
    def rate(self):
        """1 / scale."""
        return 1 / self.scale

    def _draw(self, shape):
        return np.random.exponential(self.scale, shape, dtype=self._dtype)

    def _log_density(self, value):
        return -value / self.scale - log(self.scale)

    def _cumulative(self, value):
        return -np.expm1(-np.maximum(value, 0.0) / self.scale)

    def _quantile(self, value):
        return -self.scale * np.log1p(-value)

    @property
    def mean(self):
        return self._spread(self.scale)

    @property
    def stddev(self):
        return self._spread(self.scale)

    @property
    def variance(self):
        return self._spread(self.scale * self.scale)

    def entropy(self):
        return self._spread(1 + log(self.scale))

    @property
    def _natural_params(self):
        return (self._spread(-1 / self.scale),)

    def _log_normalizer(self, x):
        return -log(-x)
