"""The process of one contender; see `benchmarks.score.worker` for how it is told what to do.

MODULE is one of the ``with_*.py`` beside this file; its classes have in common:

``CLASS(folder, threads)``
    Makes a row's network with its initial weights (see `material.py`), once per process.
``step(number)``
    Trains on one batch, as a program does: the next step may begin before this one is done.
``loss()``
    The mean loss of the last step, before its update.
``finish()``
    Returns when all steps are done.
``about()``
    A line: versions and modes.
"""

import itertools
import sys
import time

from benchmarks.score.worker import WARM, Session, serve


class Training(Session):
    """What the process has been told so far; each public method is a command."""

    package = "benchmarks.train"

    def losses(self, steps):
        """The losses of the first steps, and the seconds until they were there."""
        self._numbers = itertools.count()
        start, losses = time.perf_counter(), []
        for _ in range(steps):
            self._contender.step(next(self._numbers))
            losses.append(float(self._contender.loss()))
        return {"losses": losses, "seconds": time.perf_counter() - start}

    def time(self, runs):
        """Mean seconds of a step, of that many one after another, after some that warm up."""
        start = time.perf_counter()
        while time.perf_counter() - start < WARM:
            self._contender.step(next(self._numbers))
            self._contender.finish()
        start = time.perf_counter()
        for _ in range(runs):
            self._contender.step(next(self._numbers))
        self._contender.finish()
        return {"seconds": [(time.perf_counter() - start) / runs]}


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), Training)
