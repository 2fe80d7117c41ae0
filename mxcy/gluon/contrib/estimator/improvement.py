"""Detection of improvements of a metric."""

import math
import warnings

import numpy as np

__all__ = ["Improvement", "Monitoring"]


class Improvement:
    """Tracks the best value of a metric.

    Parameters
    ----------
    monitor : EvalMetric
        The metric.
    mode : {'auto', 'min', 'max'}
        Whether to minimize or maximize; 'auto' maximizes metrics with "acc" or "f1" in their
        names and minimizes all others.
    who : str
        Name of the handler, for a warning about an unknown mode.
    """

    def __init__(self, monitor, mode, who):
        if mode not in ("auto", "min", "max"):
            warnings.warn(
                f"{who} mode {mode} is unknown, fallback to auto mode.",
                RuntimeWarning,
                stacklevel=3,
            )
            mode = "auto"
        if mode == "auto":
            name = str(monitor.get()[0]).lower()
            mode = "max" if "acc" in name or "f1" in name else "min"
        self._sign = 1 if mode == "max" else -1
        self.best = -self._sign * math.inf

    @property
    def compare(self):
        """numpy.ufunc: ``compare(value, best)`` tells an improvement."""
        return np.greater if self._sign > 0 else np.less

    def reset(self, best=None):
        """Restart from an initial best value, or from none."""
        self.best = -self._sign * math.inf if best is None else best

    def update(self, value, least=0):
        """Record a value; return whether it beats the best by more than `least`."""
        if self._sign * (value - self.best) <= least:
            return False
        self.best = value
        return True


class Monitoring:
    """What handlers that watch a metric show of it, under MXNet's names."""

    _improvement = None

    @property
    def best(self):
        """float: the best value so far."""
        return self._improvement.best

    @property
    def monitor_op(self):
        """numpy.ufunc: greater or less; ``monitor_op(value, best)`` tells an improvement."""
        return self._improvement.compare
