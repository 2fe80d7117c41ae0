"""The relaxed Bernoulli distribution."""

from mxcy import numpy as np
from mxcy.gluon.probability.distributions.constraint import OpenInterval, Real
from mxcy.gluon.probability.distributions.distribution import Distribution
from mxcy.gluon.probability.distributions.odds import BinaryOdds
from mxcy.gluon.probability.distributions.transformed_distribution import TransformedDistribution
from mxcy.gluon.probability.functions import log
from mxcy.gluon.probability.transformation.transformation import SigmoidTransform

__all__ = ["RelaxedBernoulli"]


class _RelaxedLogits(BinaryOdds, Distribution):
    """Distribution of the logits of relaxed Bernoulli samples."""

    has_grad = True
    support = Real()
    _parameters = {"T": 0, **BinaryOdds._parameters}

    def __init__(self, T, **parameters):
        self._take(T=T, **parameters)
        super().__init__(event_dim=0, validate_args=False)

    def _draw(self, shape):
        noise = np.random.logistic(0.0, 1.0, shape, dtype=self._dtype)
        return (noise + self.logit) / self.T

    def _log_density(self, value):
        z = self.logit - value * self.T
        return log(self.T) + z - 2 * np.logaddexp(z, 0.0)


class RelaxedBernoulli(BinaryOdds, TransformedDistribution):
    """The relaxed Bernoulli distribution, over numbers between 0 and 1.

    Samples are differentiable and approach Bernoulli samples as the temperature goes to 0.

    Parameters
    ----------
    T : float or ndarray
        The temperature.
    prob, logit : float or ndarray
        The probability of 1, or its log odds; give exactly one.
    validate_args : bool, optional
        Check parameters and values.
    """

    has_grad = True
    support = OpenInterval(0, 1)

    def __init__(self, T, prob=None, logit=None, validate_args=None):
        parameter = self._take_one(prob=prob, logit=logit)
        self._take(**parameter)
        base = _RelaxedLogits(T, **parameter)
        super().__init__(base, SigmoidTransform(), validate_args)

    @property
    def T(self):  # noqa: N802 - its name in MXNet
        """The temperature."""
        return self._base_dist.T

    @property
    def _batch_shape(self):
        return self._base_dist._batch_shape

    def _settings(self):
        return {"T": self.T}
