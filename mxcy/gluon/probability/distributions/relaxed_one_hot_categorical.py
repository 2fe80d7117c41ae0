"""The relaxed categorical distribution."""

from mxcy import numpy as np
from mxcy import numpy_extension as npx
from mxcy.gluon.probability.distributions.constraint import Real, Simplex
from mxcy.gluon.probability.distributions.distribution import Distribution
from mxcy.gluon.probability.distributions.odds import CategoricalOdds
from mxcy.gluon.probability.distributions.transformed_distribution import TransformedDistribution
from mxcy.gluon.probability.functions import gammaln, log, log_sum_exp
from mxcy.gluon.probability.transformation.transformation import ExpTransform

__all__ = ["RelaxedOneHotCategorical"]


class _RelaxedLogs(CategoricalOdds, Distribution):
    """Distribution of the logarithms of relaxed categorical samples."""

    has_grad = True
    support = Real()

    def __init__(self, T, num_events, **arguments):
        self.T = T
        self._take_events(num_events, arguments.get("prob"), arguments.get("logit"))
        super().__init__(event_dim=1, validate_args=False)

    def _draw(self, shape):
        noise = np.random.gumbel(0.0, 1.0, (*shape, self.num_events), dtype=self._dtype)
        return npx.log_softmax((self.logit + noise) / self.T, axis=-1)

    def _log_density(self, value):
        score = self._log_prob_of_events - value * self.T
        constant = gammaln(float(self.num_events)) + (self.num_events - 1) * log(self.T)
        return np.sum(score, axis=-1) - self.num_events * log_sum_exp(score) + constant


class RelaxedOneHotCategorical(CategoricalOdds, TransformedDistribution):
    """The relaxed categorical distribution, over vectors that sum to 1.

    Samples are differentiable and approach one-hot samples as the temperature goes to 0.

    Parameters
    ----------
    T : float
        The temperature.
    num_events : int
    prob, logit : ndarray
        The probabilities along the last axis, or unnormalized log-probabilities; give one.
    validate_args : bool, optional
        Check parameters and values.
    """

    has_grad = True
    support = Simplex()

    def __init__(self, T, num_events, prob=None, logit=None, validate_args=None):
        self._take_events(num_events, prob, logit)
        parameters = {name: getattr(self, name) for name in self._taken}
        base = _RelaxedLogs(T, num_events, **parameters)
        super().__init__(base, _ExpOfVectors(), validate_args)

    @property
    def T(self):  # noqa: N802 - its name in MXNet
        """The temperature."""
        return self._base_dist.T

    def _settings(self):
        return {"T": self.T, "num_events": self.num_events}


class _ExpOfVectors(ExpTransform):
    """Elementwise exponential, with vectors as events."""

    event_dim = 1

    def log_det_jacobian(self, x, y):
        return np.sum(x, axis=-1)
