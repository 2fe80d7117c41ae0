"""The gamma distribution."""

from mxcy import numpy as np
from mxcy.gluon.probability.distributions.constraint import NonNegative, Positive
from mxcy.gluon.probability.distributions.exp_family import ExponentialFamily
from mxcy.gluon.probability.functions import digamma, gammaln, log, times_log

__all__ = ["Gamma", "log_of_gamma_samples"]


def log_of_gamma_samples(shape, size, dtype):
    """Draw logarithms of gamma samples, which do not underflow for small shapes."""
    more = np.random.gamma(shape + 1, 1.0, size, dtype)
    return np.log(more) + np.log1p(-np.random.uniform(size=size, dtype=dtype)) / shape


class Gamma(ExponentialFamily):
    """The gamma distribution.

    Samples are differentiable with respect to `scale` only.

    Parameters
    ----------
    shape, scale : float or ndarray
        The mean is their product.
    validate_args : bool, optional
        Check parameters and values.
    """

    support = NonNegative()
    arg_constraints = {"shape": Positive(), "scale": Positive()}
    _parameters = {"shape": 0, "scale": 0}
    _inner = 1.0

    def __init__(self, shape, scale=1.0, validate_args=None):
        self._take(shape=shape, scale=scale)
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        return np.random.gamma(self.shape, self.scale, shape, self._dtype)

    def _log_density(self, value):
        z = value / self.scale
        return times_log(self.shape - 1, z) - z - gammaln(self.shape) - log(self.scale)

    @property
    def mean(self):
        return self._spread(self.shape * self.scale)

    @property
    def variance(self):
        return self._spread(self.shape * self.scale * self.scale)

    def entropy(self):
        shape = self.shape
        most = shape + log(self.scale) + gammaln(shape)
        return self._spread(most + (1 - shape) * digamma(shape))

    @property
    def _natural_params(self):
        return self._spread(self.shape - 1), self._spread(-1 / self.scale)

    def _log_normalizer(self, x, y):
        return gammaln(x + 1) - (x + 1) * log(-y)
