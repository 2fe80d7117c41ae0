"""The multinomial distribution."""

from mxcy import numpy as np
from mxcy import numpy_extension as npx
from mxcy.gluon.probability.distributions.constraint import IntegerInterval, dependent_property
from mxcy.gluon.probability.distributions.distribution import Distribution
from mxcy.gluon.probability.distributions.odds import CategoricalOdds
from mxcy.gluon.probability.functions import gammaln

__all__ = ["Multinomial"]


class Multinomial(CategoricalOdds, Distribution):
    """The multinomial distribution: counts of several events in independent trials.

    Parameters
    ----------
    num_events : int
    prob, logit : ndarray
        The probabilities along the last axis, or unnormalized log-probabilities; give one.
    total_count : int
        Number of trials.
    validate_args : bool, optional
        Check parameters and values.
    """

    def __init__(self, num_events, prob=None, logit=None, total_count=1, validate_args=None):
        if total_count != int(total_count) or total_count < 0:
            raise ValueError(
                f"Multinomial: `total_count` should be a non-negative integer, got {total_count}"
            )
        self._take_events(num_events, prob, logit)
        self.total_count = int(total_count)
        super().__init__(event_dim=1, validate_args=validate_args)

    @dependent_property
    def support(self):
        """The integers from 0 to `total_count`."""
        return IntegerInterval(0, self.total_count)

    def _settings(self):
        return {"num_events": self.num_events, "total_count": self.total_count}

    def _draw(self, shape):
        events = self._draw_events(shape, (self.total_count,))
        chosen = npx.one_hot(events, self.num_events, dtype=self._dtype or "float32")
        return np.sum(chosen, axis=-2)

    def _log_density(self, value):
        choices = gammaln(float(self.total_count) + 1) - np.sum(gammaln(value + 1), axis=-1)
        return choices + self._expected_log(value)

    @property
    def mean(self):
        return self.total_count * self.prob

    @property
    def variance(self):
        return self.total_count * self.prob * (1 - self.prob)
