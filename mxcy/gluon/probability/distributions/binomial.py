"""The binomial distribution."""

from numbers import Number

from mxcy.gluon.probability.distributions.constraint import NonNegativeInteger
from mxcy.gluon.probability.distributions.distribution import Distribution
from mxcy.gluon.probability.distributions.odds import BinaryOdds
from mxcy.gluon.probability.functions import gammaln

__all__ = ["Binomial"]


class Binomial(BinaryOdds, Distribution):
    """The binomial distribution: number of successes in independent trials.

    Parameters
    ----------
    n : int or ndarray
        The number of trials.
    prob, logit : float or ndarray
        The probability of success, or its log odds; give exactly one.
    validate_args : bool, optional
        Check parameters and values.
    """

    support = NonNegativeInteger()
    arg_constraints = {"n": NonNegativeInteger(), **BinaryOdds.arg_constraints}
    _parameters = {"n": 0, **BinaryOdds._parameters}

    def __init__(self, n=1, prob=None, logit=None, validate_args=None):
        self._take(n=n, **self._take_one(prob=prob, logit=logit))
        if isinstance(self.n, Number) and (self.n < 0 or self.n != int(self.n)):
            raise ValueError(f"Binomial: `n` should be a non-negative integer, got {n}")
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        return self._drawn_by("_sample_binomial", [self.n, self.prob], shape)

    def _log_density(self, value):
        failures = self.n - value
        choices = gammaln(self.n + 1) - gammaln(value + 1) - gammaln(failures + 1)
        return choices + self._log_of_one(value) + self._log_of_zero(failures)

    @property
    def mean(self):
        return self._spread(self.n * self.prob)

    @property
    def variance(self):
        return self._spread(self.n * self.prob * self._failure)
