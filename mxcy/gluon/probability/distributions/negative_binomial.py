"""The negative binomial distribution."""

from mxcy import numpy as np
from mxcy.gluon.probability.distributions.constraint import GreaterThanEq, NonNegativeInteger
from mxcy.gluon.probability.distributions.distribution import Distribution
from mxcy.gluon.probability.distributions.odds import BinaryOdds
from mxcy.gluon.probability.functions import gammaln
from mxcy.numpy._calls.general import operate

__all__ = ["NegativeBinomial"]


class NegativeBinomial(BinaryOdds, Distribution):
    """The negative binomial distribution, with MXNet's inconsistent use of `prob`.

    `log_prob` is for the number of failures before `n` successes, as in SciPy. Mean
    ``n * prob / (1 - prob)``, variance and samples are for the number of successes before `n`
    failures.

    Parameters
    ----------
    n : float or ndarray
        Number of events at which counting stops.
    prob, logit : float or ndarray
        The probability of success, or its log odds; give exactly one.
    validate_args : bool, optional
        Check parameters and values.
    """

    support = NonNegativeInteger()
    arg_constraints = {"n": GreaterThanEq(0), **BinaryOdds.arg_constraints}
    _parameters = {"n": 0, **BinaryOdds._parameters}

    def __init__(self, n, prob=None, logit=None, validate_args=None):
        self._take(n=n, **self._take_one(prob=prob, logit=logit))
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        rate = np.random.gamma(self.n, self.prob / self._failure, shape, self._dtype)
        return operate("_sample_poisson", rate, shape=(), dtype=str(rate.dtype))

    def _log_density(self, value):
        choices = gammaln(self.n + value) - gammaln(value + 1) - gammaln(self.n)
        return choices + self._log_of_one(self.n) + self._log_of_zero(value)

    @property
    def mean(self):
        return self._spread(self.n * self.prob / self._failure)

    @property
    def variance(self):
        return self._spread(self.n * self.prob / (self._failure * self._failure))
