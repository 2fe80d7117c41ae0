"""Whether a metric has improved."""

import math
import warnings

__all__ = ["Improvement"]


class Improvement:
    """The best value of a metric so far.

    Parameters
    ----------
    monitor : EvalMetric
        The metric.
    mode : {'auto', 'min', 'max'}
        Whether small or large values are good; 'auto' takes large ones of metrics with "acc" or
        "f1" in their names, and small ones of all others.
    who : str
        Who is told of in a warning about another mode.
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

    def reset(self, best=None):
        """Start over, from a value that must be bettered, or from nothing."""
        self.best = -self._sign * math.inf if best is None else best

    def update(self, value, least=0):
        """Take a value; return whether it is better than the best by more than `least`."""
        if self._sign * (value - self.best) <= least:
            return False
        self.best = value
        return True
