"""What distributions have in common whose parameter is a probability or a logit."""

from numbers import Number

from mxcy import numpy as np
from mxcy import numpy_extension as npx
from mxcy.gluon.probability.distributions.constraint import Interval, Real, Simplex
from mxcy.gluon.probability.distributions.utils import cached_property, logit2prob, prob2logit
from mxcy.gluon.probability.functions import log1p, softplus, times_log

__all__ = ["BinaryOdds", "CategoricalOdds"]


class _Odds:
    """Attributes `prob` and `logit`, of which one is given and the other follows."""

    _binary = True

    @cached_property
    def prob(self):
        """The probability."""
        return logit2prob(self.logit, self._binary)

    @cached_property
    def logit(self):
        """The logarithm of the odds, or of weights where there are several events."""
        return prob2logit(self.prob, self._binary)

    @property
    def _has_logit(self):
        return "logit" in self._taken


class BinaryOdds(_Odds):
    """Of one event that happens or not."""

    arg_constraints = {"prob": Interval(0, 1), "logit": Real()}
    _parameters = {"prob": 0, "logit": 0}

    def _log_of_one(self, count):
        """How much as many events contribute to the logarithm of a probability."""
        if self._has_logit:
            return -count * softplus(-self.logit)
        return times_log(count, self.prob)

    def _log_of_zero(self, count):
        """The same of events that do not happen."""
        if self._has_logit:
            return -count * softplus(self.logit)
        return times_log(count, 1 - self.prob)

    @property
    def _log_failure(self):
        """The logarithm of the probability that the event does not happen."""
        return -softplus(self.logit) if self._has_logit else log1p(-self.prob)

    @property
    def _failure(self):
        """The probability that the event does not happen."""
        return logit2prob(-self.logit) if self._has_logit else 1 - self.prob

    def _bit_entropy(self):
        """The entropy of whether the event happens."""
        return -(self._log_of_one(self.prob) + self._log_of_zero(self._failure))


class CategoricalOdds(_Odds):
    """Of several events of which one happens, along the last axis."""

    arg_constraints = {"prob": Simplex(), "logit": Real()}
    _parameters = {"prob": 1, "logit": 1}
    _binary = False

    def _take_events(self, num_events, prob, logit):
        """Keep the number of events, and `prob` or `logit`."""
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
        """The logarithms of the probabilities."""
        return npx.log_softmax(self.logit, axis=-1) if self._has_logit else np.log(self.prob)

    def _expected_log(self, weights):
        """The sum of the probabilities' logarithms with weights along the last axis."""
        if self._has_logit:
            return np.sum(weights * npx.log_softmax(self.logit, axis=-1), axis=-1)
        return np.sum(times_log(weights, self.prob), axis=-1)

    def _draw_events(self, shape, count=()):
        """Numbers of events, of a shape that ends in the batch shape, `count` for each behind."""
        batch = self._batch_shape
        lead, tail = shape[: len(shape) - len(batch)], shape[len(shape) - len(batch) :]
        prob = np.broadcast_to(self.prob, (*tail, self.num_events))
        drawn = npx.random.categorical(prob, shape=lead + count)
        if not shape + count:  # one row gives one number as an array of one
            drawn = np.squeeze(drawn)
        order = (*range(len(tail), len(tail) + len(lead)), *range(len(tail)))
        if count:  # what was drawn is of the shape tail + lead + count
            order += (drawn.ndim - 1,)
        return np.transpose(drawn, order) if lead and tail else drawn
