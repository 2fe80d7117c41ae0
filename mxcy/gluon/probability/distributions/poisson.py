"""The Poisson distribution."""

from mxcy.gluon.probability.distributions.constraint import NonNegativeInteger, Positive
from mxcy.gluon.probability.distributions.exp_family import ExponentialFamily
from mxcy.gluon.probability.functions import exp, gammaln, log, times_log

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """The Poisson distribution: number of independent events.

    Unless values are checked, `log_prob` also accepts non-integers.

    Parameters
    ----------
    rate : float or ndarray
        The mean.
    validate_args : bool, optional
        Check parameters and values.
    """

    support = NonNegativeInteger()
    arg_constraints = {"rate": Positive()}
    _parameters = {"rate": 0}

    def __init__(self, rate=1.0, validate_args=None):
        self._take(rate=rate)
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        return self._drawn_by("_sample_poisson", [self.rate], shape)

    def _log_density(self, value):
        return times_log(value, self.rate) - self.rate - gammaln(value + 1)

    @property
    def mean(self):
        return self._spread(self.rate)

    @property
    def variance(self):
        return self._spread(self.rate)

    def entropy(self):
        raise NotImplementedError("the entropy of a Poisson distribution has no closed form")

    @property
    def _natural_params(self):
        return (self._spread(log(self.rate)),)

    def _log_normalizer(self, x):
        return exp(x)
