"""`mx.misc`: legacy learning rate schedulers, superseded by `mx.lr_scheduler`."""

import logging

from mxcy._base.listing import listing

__all__ = ["FactorScheduler", "LearningRateScheduler"]

__dir__ = listing(__name__)


class LearningRateScheduler:
    """Base of schedulers that compute the learning rate of an iteration.

    Attributes
    ----------
    base_lr : float
        The initial rate.
    """

    def __init__(self):
        self.base_lr = 0.01

    def __call__(self, iteration):
        """Return the learning rate.

        Parameters
        ----------
        iteration : int
            The number of updates so far.

        Returns
        -------
        float
        """
        raise NotImplementedError(f"{type(self).__name__} does not implement __call__")


class FactorScheduler(LearningRateScheduler):
    """Multiplies the learning rate by `factor` every `step` iterations.

    Parameters
    ----------
    step : int
        Number of iterations between changes.
    factor : float
        The multiplier.

    Raises
    ------
    ValueError
        If `step` is less than 1, or `factor` not less than 1.
    """

    def __init__(self, step, factor=0.1):
        super().__init__()
        if step < 1:
            raise ValueError(f"FactorScheduler: step must be at least 1, got {step}")
        if factor >= 1.0:
            raise ValueError(f"FactorScheduler: factor must be less than 1, got {factor}")
        self.step = step
        self.factor = factor
        self._last = None

    def __call__(self, iteration):
        rate = self.base_lr * self.factor ** (iteration // self.step)
        if self._last not in (None, rate):
            logging.info("At iteration %d the learning rate becomes %.5f", iteration, rate)
        self._last = rate
        return rate
