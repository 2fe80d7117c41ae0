"""Base classes of distributions parametrized by a probability or a logit."""

from numbers import Number

from mxcy import numpy as np
from mxcy import numpy_extension as npx
from mxcy.gluon.probability.distributions.constraint import Interval, Real, Simplex
from mxcy.gluon.probability.distributions.utils import cached_property, logit2prob, prob2logit
from mxcy.gluon.probability.functions import log1p, softplus, times_log

__all__ = ["BinaryOdds", "CategoricalOdds"]


class _Odds:
    """Attributes `prob` and `logit`; one is given, the other computed."""

    _binary = True

    @cached_property
    def prob(self):
        """The probability."""
        return logit2prob(self.logit, self._binary)

    @cached_property
    def logit(self):
        """The log odds; for several events, unnormalized log-probabilities."""
        return prob2logit(self.prob, self._binary)

    @property
    def _has_logit(self):
        return "logit" in self._taken


class BinaryOdds(_Odds):
    """Base of distributions of binary events."""

    arg_constraints = {"prob": Interval(0, 1), "logit": Real()}
    _parameters = {"prob": 0, "logit": 0}

    def _log_of_one(self, count):
        """Contribution of `count` events to a log-probability."""
        if self._has_logit:
            return -count * softplus(-self.logit)
        return times_log(count, self.prob)

    def _log_of_zero(self, count):
        """Contribution of `count` non-events to a log-probability."""
        if self._has_logit:
            return -count * softplus(self.logit)
        return times_log(count, 1 - self.prob)

    @property
    def _log_failure(self):
        """The log-probability that the event does not happen."""
        return -softplus(self.logit) if self._has_logit else log1p(-self.prob)

    @property
    def _failure(self):
        """The probability that the event does not happen."""
        return logit2prob(-self.logit) if self._has_logit else 1 - self.prob

    def _bit_entropy(self):
        """The entropy of the binary event."""
        return -(self._log_of_one(self.prob) + self._log_of_zero(self._failure))


class CategoricalOdds(_Odds):
    """Base of distributions over one of several events, along the last axis."""

    arg_constraints = {"prob": Simplex(), "logit": Real()}
    _parameters = {"prob": 1, "logit": 1}
    _binary = False

    def _take_events(self, num_events, prob, logit):
        """Store the number of events, and `prob` or `logit`."""
        name = type(self).__name__
        if not isinstance(num_events, Number) or num_events != int(num_events) or num_events < 1:
            raise ValueError(
                f"{name}: `num_events` should be an integer greater than zero, got {num_events}"
            )
        self.num_events = int(num_events)
        self._take(**self._take_one(prob=prob, logit=logit))
        (taken,) = self._taken
        extent = getattr(self, taken).shape[-1]
        if extent != self.num_events:
            raise ValueError(
                f"{name}: the last axis of `{taken}` should have num_events={self.num_events} "
                f"elements, got {extent}"
            )

    @property
    def _rows_shape(self):
        return (*self._batch_shape, self.num_events)

    @property
    def _log_prob_of_events(self):
        """The log-probabilities of the events."""
        return npx.log_softmax(self.logit, axis=-1) if self._has_logit else np.log(self.prob)

    def _expected_log(self, weights):
        """Weighted sum of the log-probabilities along the last axis."""
        if self._has_logit:
            return np.sum(weights * npx.log_softmax(self.logit, axis=-1), axis=-1)
        return np.sum(times_log(weights, self.prob), axis=-1)

    def _draw_events(self, shape, count=()):
        """Draw event indices of a shape ending in the batch shape, then `count` draws each."""
        batch = self._batch_shape
        lead, tail = shape[: len(shape) - len(batch)], shape[len(shape) - len(batch) :]
        prob = np.broadcast_to(self.prob, (*tail, self.num_events))
        drawn = npx.random.categorical(prob, shape=lead + count)
        if not shape + count:  # the operator returns shape (1,) for a single row
            drawn = np.squeeze(drawn)
        order = (*range(len(tail), len(tail) + len(lead)), *range(len(tail)))
        if count:  # the draws have the shape tail + lead + count
            order += (drawn.ndim - 1,)
        return np.transpose(drawn, order) if lead and tail else drawn
