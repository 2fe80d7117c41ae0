"""The process of one contender; see `benchmarks.score.worker` for its protocol.

MODULE is one of the ``with_*.py`` in this folder. Its classes implement:

``CLASS(folder, threads)``
    Create a row's network with its initial weights (see `material.py`), once per process.
``step(number)``
    Train on one batch, as a program does: the next step may begin before this one is done.
``loss()``
    Return the mean loss of the last step, before its update.
``finish()``
    Wait until all steps are done.
``about()``
    Return a line with versions and modes.
"""

import itertools
import sys
import time

from benchmarks.score.worker import WARM, Session, serve


class Training(Session):
    """State of the process; each public method is a command."""

    package = "benchmarks.train"

    def losses(self, steps):
        """Run the first steps; returns their losses and the seconds they took."""
        self._numbers = itertools.count()
        start, losses = time.perf_counter(), []
        for _ in range(steps):
            self._contender.step(next(self._numbers))
            losses.append(float(self._contender.loss()))
        return {"losses": losses, "seconds": time.perf_counter() - start}

    def time(self, runs):
        """Mean seconds per step over that many consecutive steps, after some warm-up steps."""
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
