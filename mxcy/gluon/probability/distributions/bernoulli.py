"""The Bernoulli distribution."""

from mxcy import numpy as np
from mxcy.gluon.probability.distributions.constraint import Boolean
from mxcy.gluon.probability.distributions.exp_family import ExponentialFamily
from mxcy.gluon.probability.distributions.odds import BinaryOdds
from mxcy.gluon.probability.functions import softplus

__all__ = ["Bernoulli"]


class Bernoulli(BinaryOdds, ExponentialFamily):
    """The Bernoulli distribution: 1 with a given probability, otherwise 0.

    Unless values are checked, `log_prob` also accepts values between 0 and 1, for which it is the
    negative cross entropy.

    Parameters
    ----------
    prob, logit : float or ndarray
        The probability of 1, or its log odds; give exactly one.
    validate_args : bool, optional
        Check parameters and values.
    """

    support = Boolean()

    def __init__(self, prob=None, logit=None, validate_args=None):
        self._take(**self._take_one(prob=prob, logit=logit))
        super().__init__(event_dim=0, validate_args=validate_args)

    def _draw(self, shape):
        parameters = {name: getattr(self, name) for name in self._taken}
        return np.random.bernoulli(**parameters, size=shape, dtype=self._dtype)

    def _log_density(self, value):
        if self._has_logit:
            return value * self.logit - softplus(self.logit)
        return self._log_of_one(value) + self._log_of_zero(1 - value)

    @property
    def mean(self):
        return self._spread(self.prob)

    @property
    def variance(self):
        return self._spread(self.prob * self._failure)

    def entropy(self):
        return self._spread(self._bit_entropy())

    @property
    def _natural_params(self):
        return (self._spread(self.logit),)

    def _log_normalizer(self, x):
        return softplus(x)
