"""The one-hot categorical distribution."""

from mxcy import numpy as np
from mxcy import numpy_extension as npx
from mxcy.gluon.probability.distributions.constraint import Simplex
from mxcy.gluon.probability.distributions.distribution import Distribution
from mxcy.gluon.probability.distributions.odds import CategoricalOdds

__all__ = ["OneHotCategorical"]


class OneHotCategorical(CategoricalOdds, Distribution):
    """The categorical distribution over one-hot vectors.

    Parameters
    ----------
    num_events : int
    prob, logit : ndarray
        The probabilities along the last axis, or unnormalized log-probabilities; give one.
    validate_args : bool, optional
        Check parameters and values.
    """

    has_enumerate_support = True
    support = Simplex()

    def __init__(self, num_events, prob=None, logit=None, validate_args=None):
        self._take_events(num_events, prob, logit)
        super().__init__(event_dim=1, validate_args=validate_args)

    def _settings(self):
        return {"num_events": self.num_events}

    def _draw(self, shape):
        dtype = self._dtype or "float32"
        return npx.one_hot(self._draw_events(shape), self.num_events, dtype=dtype)

    def _log_density(self, value):
        return self._expected_log(value)

    def enumerate_support(self):
        events = np.eye(self.num_events, dtype=self._dtype)
        ones = (1,) * len(self._batch_shape)
        events = np.reshape(events, (self.num_events, *ones, self.num_events))
        return np.broadcast_to(events, (self.num_events, *self._rows_shape))

    @property
    def mean(self):
        return self.prob

    @property
    def variance(self):
        return self.prob * (1 - self.prob)

    def entropy(self):
        return -self._expected_log(self.prob)
