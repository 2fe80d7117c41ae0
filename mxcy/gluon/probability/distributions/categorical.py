"""The categorical distribution."""

import numpy as onp

from mxcy import numpy as np
from mxcy import numpy_extension as npx
from mxcy.gluon.probability.distributions.constraint import IntegerInterval, dependent_property
from mxcy.gluon.probability.distributions.distribution import Distribution
from mxcy.gluon.probability.distributions.odds import CategoricalOdds

__all__ = ["Categorical"]


class Categorical(CategoricalOdds, Distribution):
    """The categorical distribution: index of one of several events.

    Parameters
    ----------
    num_events : int
    prob, logit : ndarray
        The probabilities along the last axis, or unnormalized log-probabilities; give one.
    validate_args : bool, optional
        Check parameters and values.
    """

    has_enumerate_support = True

    def __init__(self, num_events, prob=None, logit=None, validate_args=None):
        self._take_events(num_events, prob, logit)
        super().__init__(event_dim=0, validate_args=validate_args)

    @dependent_property
    def support(self):
        """The integers from 0 to ``num_events - 1``."""
        return IntegerInterval(0, self.num_events - 1)

    def _settings(self):
        return {"num_events": self.num_events}

    def _draw(self, shape):
        return self._draw_events(shape).astype("int64")

    def _log_density(self, value):
        table = npx.log_softmax(self.logit, axis=-1) if self._has_logit else self.prob
        if table.ndim == 1:
            chances = np.take(table, value)
        else:
            shape = onp.broadcast_shapes(value.shape, table.shape[:-1])
            table = np.broadcast_to(table, (*shape, self.num_events))
            chances = npx.pick(table, np.broadcast_to(value, shape))
        return chances if self._has_logit else np.log(chances)

    def enumerate_support(self):
        events = np.arange(self.num_events, dtype=self._dtype)
        events = np.reshape(events, (-1,) + (1,) * len(self._batch_shape))
        return np.broadcast_to(events, (self.num_events, *self._batch_shape))

    def entropy(self):
        return -self._expected_log(self.prob)
