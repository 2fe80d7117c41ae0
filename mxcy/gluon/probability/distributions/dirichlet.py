"""The Dirichlet distribution."""

from mxcy import numpy as np
from mxcy import numpy_extension as npx
from mxcy.gluon.probability.distributions.constraint import Positive, Simplex
from mxcy.gluon.probability.distributions.exp_family import ExponentialFamily
from mxcy.gluon.probability.distributions.gamma import log_of_gamma_samples
from mxcy.gluon.probability.functions import digamma, gammaln, times_log

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """The Dirichlet distribution, over vectors that sum to 1.

    Parameters
    ----------
    alpha : ndarray
        Concentrations, along the last axis; the mean is ``alpha / alpha.sum(-1)``.
    validate_args : bool, optional
        Check parameters and values.
    """

    support = Simplex()
    arg_constraints = {"alpha": Positive()}
    _parameters = {"alpha": 1}

    def __init__(self, alpha, validate_args=None):
        self._take(alpha=alpha)
        super().__init__(event_dim=1, validate_args=validate_args)

    def _draw(self, shape):
        shape = (*shape, self.alpha.shape[-1])
        return npx.softmax(log_of_gamma_samples(self.alpha, shape, self._dtype), axis=-1)

    def _log_density(self, value):
        alpha = self.alpha
        return np.sum(times_log(alpha - 1, value), axis=-1) - self._log_normalizer(alpha)

    @property
    def _total(self):
        return np.sum(self.alpha, axis=-1, keepdims=True)

    @property
    def mean(self):
        return self.alpha / self._total

    @property
    def variance(self):
        mean = self.mean
        return mean * (1 - mean) / (self._total + 1)

    def entropy(self):
        alpha = self.alpha
        total = np.sum(alpha, axis=-1)
        slopes = np.sum((alpha - 1) * digamma(alpha), axis=-1)
        most = (total - alpha.shape[-1]) * digamma(total)
        return self._log_normalizer(alpha) + most - slopes

    @property
    def _natural_params(self):
        return (self.alpha,)

    def _log_normalizer(self, x):
        return np.sum(gammaln(x), axis=-1) - gammaln(np.sum(x, axis=-1))

    def _mean_carrier_measure(self, x):
        return np.sum(digamma(self._total) - digamma(self.alpha), axis=-1)
