"""The beta distribution."""

from mxcy import numpy_extension as npx
from mxcy.gluon.probability.distributions.constraint import Positive, UnitInterval
from mxcy.gluon.probability.distributions.exp_family import ExponentialFamily
from mxcy.gluon.probability.distributions.gamma import log_of_gamma_samples
from mxcy.gluon.probability.functions import digamma, gammaln, lbeta, times_log

__all__ = ["Beta"]


class Beta(ExponentialFamily):
    """The beta distribution.

    Parameters
    ----------
    alpha, beta : float or ndarray
        Shape parameters; the mean is ``alpha / (alpha + beta)``.
    validate_args : bool, optional
        Check parameters and values.
    """

    support = UnitInterval()
    arg_constraints = {"alpha": Positive(), "beta": Positive()}
    _parameters = {"alpha": 0, "beta": 0}
    _inner = 0.5

    def __init__(self, alpha, beta, validate_args=None):
        self._take(alpha=alpha, beta=beta)
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        log_gamma = log_of_gamma_samples(self.alpha, shape, self._dtype)
        return npx.sigmoid(log_gamma - log_of_gamma_samples(self.beta, shape, self._dtype))

    def _log_density(self, value):
        left = times_log(self.alpha - 1, value)
        return left + times_log(self.beta - 1, 1 - value) - lbeta(self.alpha, self.beta)

    @property
    def mean(self):
        return self._spread(self.alpha / (self.alpha + self.beta))

    @property
    def variance(self):
        total = self.alpha + self.beta
        return self._spread(self.alpha / total * (self.beta / total) / (total + 1))

    def entropy(self):
        alpha, beta = self.alpha, self.beta
        total = alpha + beta
        slopes = (alpha - 1) * digamma(alpha) + (beta - 1) * digamma(beta)
        return self._spread(lbeta(alpha, beta) - slopes + (total - 2) * digamma(total))

    @property
    def _natural_params(self):
        return self._spread(self.alpha), self._spread(self.beta)

    def _log_normalizer(self, x, y):
        return gammaln(x) + gammaln(y) - gammaln(x + y)

    def _mean_carrier_measure(self, x):
        total = self.alpha + self.beta
        return 2 * digamma(total) - digamma(self.alpha) - digamma(self.beta)
