"""The Bernoulli distribution."""

from mxcy import numpy as np
from mxcy.gluon.probability.distributions.constraint import Boolean
from mxcy.gluon.probability.distributions.exp_family import ExponentialFamily
from mxcy.gluon.probability.distributions.odds import BinaryOdds
from mxcy.gluon.probability.functions import softplus

__all__ = ["Bernoulli"]


class Bernoulli(BinaryOdds, ExponentialFamily):
    """The Bernoulli distribution, of one with a probability and zero otherwise.

    Unless values are checked, `log_prob` takes those between zero and one as well: it is then the
    negative cross entropy.

    Parameters
    ----------
    prob, logit : float or ndarray
        The probability of one, or its log odds: one of them.
    validate_args : bool, optional
        Whether parameters and values are checked.
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
