"""Timing of asynchronous device work."""

import statistics
import time

__all__ = ["Contest", "seconds_of"]

_LEAST = 0.02  # seconds per measurement
_ROUNDS = 5


def _once(call, wait, count):
    began = time.perf_counter()
    for _ in range(count):
        call()
    wait()
    return (time.perf_counter() - began) / count


def seconds_of(call, wait, is_small=False):
    """The median seconds of a call, of several measurements of many calls each.

    Parameters
    ----------
    call : callable
        Starts the work.
    wait : callable
        Waits until the device has done all of it.
    is_small : bool
        Whether once is enough.
    """
    _once(call, wait, 1)  # compiles and allocates
    if is_small:
        return _once(call, wait, 1)
    alone = max(_once(call, wait, 2), 1e-7)
    count = max(1, min(2000, int(_LEAST / alone)))
    return statistics.median(_once(call, wait, count) for _ in range(_ROUNDS))


class Contest:
    """Contenders that take turns at the same task.

    Parameters
    ----------
    is_small : bool
        Whether one round is enough.
    """

    def __init__(self, is_small=False):
        self._is_small, self._contenders = is_small, {}

    def enter(self, name, call, wait):
        """Add a contender: `call` starts the work, `wait` waits for the device."""
        self._contenders[name] = call, wait

    def times(self):
        """Return the median seconds by name."""
        counts, found = {}, {name: [] for name in self._contenders}
        for name, (call, wait) in self._contenders.items():
            alone = max(_once(call, wait, 1), _once(call, wait, 1), 1e-7)
            counts[name] = 1 if self._is_small else max(1, min(2000, int(_LEAST / alone)))
        for _ in range(1 if self._is_small else _ROUNDS):
            for name, (call, wait) in self._contenders.items():
                found[name].append(_once(call, wait, counts[name]))
        return {name: statistics.median(times) for name, times in found.items()}
