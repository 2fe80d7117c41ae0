"""Learning rates as functions of the number of updates.

A scheduler keeps its current rate in `base_lr`, so that an optimizer (or a user) may change it
during training; the step schedulers continue from there.
"""

import logging
from math import cos, pi

from mxcy._base.listing import listing
from mxcy._base.suggestions import module_getattr

__all__ = [
    "LRScheduler",
    "FactorScheduler",
    "MultiFactorScheduler",
    "PolyScheduler",
    "CosineScheduler",
]

__getattr__ = module_getattr(__name__)
__dir__ = listing(__name__, ("pi",))  # as in MXNet

_WARMUP_MODES = ("linear", "constant")


class LRScheduler:
    """Base of all schedulers: holds the rate and the warm-up.

    Parameters
    ----------
    base_lr : float
        The rate after the warm-up.
    warmup_steps : int
        Number of warm-up updates.
    warmup_begin_lr : float
        The rate at the start of the warm-up.
    warmup_mode : {'linear', 'constant'}
        Raise the rate linearly from `warmup_begin_lr` to `base_lr`, or keep it constant.

    Raises
    ------
    ValueError
        For a negative `warmup_steps`, a `warmup_begin_lr` above `base_lr` or an unknown mode.
    """

    def __init__(self, base_lr=0.01, warmup_steps=0, warmup_begin_lr=0, warmup_mode="linear"):
        assert isinstance(warmup_steps, int), "warmup_steps must be an integer"
        if warmup_begin_lr > base_lr:
            raise ValueError("Base lr has to be higher than warmup_begin_lr")
        if warmup_steps < 0:
            raise ValueError("Warmup steps has to be positive or 0")
        self.base_lr = base_lr
        self.warmup_steps = warmup_steps
        self.warmup_final_lr = base_lr
        self.warmup_begin_lr = warmup_begin_lr
        self.warmup_mode = warmup_mode
        self._check_warmup_mode()

    def _check_warmup_mode(self):
        if self.warmup_mode not in _WARMUP_MODES:
            raise ValueError("Supports only linear and constant modes of warmup")

    def get_warmup_lr(self, num_update):
        """Return the rate of update `num_update`, which must be in the warm-up.

        Parameters
        ----------
        num_update : int
            The number of the update, from 0.

        Returns
        -------
        float
        """
        assert num_update < self.warmup_steps, (
            f"update {num_update} is not one of the {self.warmup_steps} warm-up steps"
        )
        self._check_warmup_mode()
        if self.warmup_mode == "constant":
            return self.warmup_begin_lr
        rise = self.warmup_final_lr - self.warmup_begin_lr
        return self.warmup_begin_lr + rise * float(num_update) / float(self.warmup_steps)

    def __call__(self, num_update):
        """Return the rate of update `num_update`.

        Parameters
        ----------
        num_update : int
            The largest number of updates of any weight.

        Returns
        -------
        float
        """
        raise NotImplementedError(f"{type(self).__name__} does not implement __call__")


def _check_factor(factor):
    if factor > 1.0:
        raise ValueError("Factor must be no more than 1 to make lr reduce")


class FactorScheduler(LRScheduler):
    """Multiplies the rate by `factor` after every `step` updates.

    Parameters
    ----------
    step : int
        Number of updates between changes.
    factor : float
        The multiplier, at most 1.
    stop_factor_lr : float
        Lower bound of the rate.
    base_lr, warmup_steps, warmup_begin_lr, warmup_mode
        See `LRScheduler`.
    """

    def __init__(
        self,
        step,
        factor=1,
        stop_factor_lr=1e-8,
        base_lr=0.01,
        warmup_steps=0,
        warmup_begin_lr=0,
        warmup_mode="linear",
    ):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if step < 1:
            raise ValueError("Schedule step must be greater or equal than 1 round")
        _check_factor(factor)
        self.step = step
        self.factor = factor
        self.stop_factor_lr = stop_factor_lr
        self.count = 0

    def __call__(self, num_update):
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while num_update > self.count + self.step:
            self.count += self.step
            self.base_lr *= self.factor
            if self.base_lr < self.stop_factor_lr:
                self.base_lr = self.stop_factor_lr
                message = "Update[%d]: now learning rate arrived at %0.5e, will not change any more"
            else:
                message = "Update[%d]: Change learning rate to %0.5e"
            logging.info(message, num_update, self.base_lr)
        return self.base_lr


class MultiFactorScheduler(LRScheduler):
    """Multiplies the rate by `factor` at given numbers of updates.

    Parameters
    ----------
    step : list of int
        Numbers of updates, strictly increasing.
    factor : float
        The multiplier, at most 1.
    base_lr, warmup_steps, warmup_begin_lr, warmup_mode
        See `LRScheduler`.
    """

    def __init__(
        self, step, factor=1, base_lr=0.01, warmup_steps=0, warmup_begin_lr=0, warmup_mode="linear"
    ):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        assert isinstance(step, list) and step, "step must be a list with at least one number"
        for before, after in zip([float("-inf"), *step], step, strict=False):
            if after <= before:
                raise ValueError("Schedule step must be an increasing integer list")
            if after < 1:
                raise ValueError("Schedule step must be greater or equal than 1 round")
        _check_factor(factor)
        self.step = step
        self.cur_step_ind = 0
        self.factor = factor
        self.count = 0

    def __call__(self, num_update):
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while self.cur_step_ind < len(self.step) and num_update > self.step[self.cur_step_ind]:
            self.count = self.step[self.cur_step_ind]
            self.cur_step_ind += 1
            self.base_lr *= self.factor
            logging.info("Update[%d]: Change learning rate to %0.5e", num_update, self.base_lr)
        return self.base_lr


class _Annealer(LRScheduler):
    """Decays the rate from `base_lr` to `final_lr` along a curve."""

    def __init__(self, max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        assert isinstance(max_update, int), "max_update must be an integer"
        if max_update < 1:
            raise ValueError("maximum number of updates must be strictly positive")
        self.base_lr_orig = base_lr
        self.max_update = max_update
        self.final_lr = final_lr
        self.max_steps = max_update - warmup_steps

    def _rest(self, drop, done):
        """The remaining part of `drop` after `done` updates."""
        raise NotImplementedError

    def __call__(self, num_update):
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        if num_update <= self.max_update:
            drop = self.base_lr_orig - self.final_lr
            self.base_lr = self.final_lr + self._rest(drop, num_update - self.warmup_steps)
        return self.base_lr


class PolyScheduler(_Annealer):
    """Decays the rate along ``(1 - done / max_update) ** pwr``.

    Parameters
    ----------
    max_update : int
        The update that reaches `final_lr`.
    base_lr : float
        The rate at the start (after the warm-up).
    pwr : int
        The power.
    final_lr : float
        The rate at the end.
    warmup_steps, warmup_begin_lr, warmup_mode
        See `LRScheduler`.
    """

    def __init__(
        self,
        max_update,
        base_lr=0.01,
        pwr=2,
        final_lr=0,
        warmup_steps=0,
        warmup_begin_lr=0,
        warmup_mode="linear",
    ):
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        self.power = pwr

    def _rest(self, drop, done):
        return drop * pow(1 - float(done) / float(self.max_steps), self.power)


class CosineScheduler(_Annealer):
    """Decays the rate along half a cosine wave.

    Parameters
    ----------
    max_update : int
        The update that reaches `final_lr`.
    base_lr : float
        The rate at the start (after the warm-up).
    final_lr : float
        The rate at the end.
    warmup_steps, warmup_begin_lr, warmup_mode
        See `LRScheduler`.
    """

    def __init__(
        self,
        max_update,
        base_lr=0.01,
        final_lr=0,
        warmup_steps=0,
        warmup_begin_lr=0,
        warmup_mode="linear",
    ):
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)

    def _rest(self, drop, done):
        return drop * (1 + cos(pi * done / self.max_steps)) / 2
