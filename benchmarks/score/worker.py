"""The process of one contender, controlled over a pipe by lines of JSON.

``python -m benchmarks.score.worker MODULE:CLASS THREADS`` runs in the contender's environment.
MODULE is one of the ``with_*.py`` in this folder. Its classes implement:

``CLASS(folder, threads)``
    Read a network (see `material.py`), once per process.
``bind(data)``
    Prepare for an input of this shape and keep `data` for later runs.
``run()``
    Run one forward pass to its end.
``output()``
    Return the result of the last run as a NumPy array.
``about()``
    Return a line with versions and modes.
"""

import importlib
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

WARM = 0.15  # seconds


def _memory(key):
    """Read one of this process's memory statistics in bytes, such as VmHWM, the peak."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024
    return 0


class Session:
    """State of the process; each public method is a command."""

    package = "benchmarks.score"

    def __init__(self, kind, threads):
        module, name = kind.split(":")
        self._kind = getattr(importlib.import_module(f"{self.package}.{module}"), name)
        self._threads = threads
        self._contender = None

    def load(self, folder):
        """Read the network's description and weights."""
        start = time.perf_counter()
        self._contender = self._kind(folder, self._threads)
        return {"seconds": time.perf_counter() - start, "about": self._contender.about()}

    def bind(self, images, batch, to):
        """Take the first `batch` images of a file, plan, run once, write the result to a file."""
        images = np.array(np.load(images, mmap_mode="r")[:batch])
        start = time.perf_counter()
        self._contender.bind(images)
        self._contender.run()
        seconds = time.perf_counter() - start
        np.save(to, self._contender.output())
        return {"seconds": seconds, "about": self._contender.about()}

    def time(self, runs):
        """Time runs in seconds, after some warm-up runs, since other contenders ran before."""
        seconds = []
        start = time.perf_counter()
        while True:
            self._contender.run()
            if time.perf_counter() - start > WARM:
                break
        for _ in range(runs):
            start = time.perf_counter()
            self._contender.run()
            seconds.append(time.perf_counter() - start)
        return {"seconds": seconds}

    def peak(self, forget=False):
        """Return this process's peak memory in bytes; optionally reset it."""
        peak = _memory("VmHWM")
        if forget:
            Path("/proc/self/clear_refs").write_text("5")
        return {"bytes": peak}


def serve(kind, threads, session=Session):
    """Answer commands until the pipe is closed."""
    # Libraries may print to stdout, so answers use a separate channel.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    session = session(kind, threads)
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = getattr(session, command.pop("do"))(**command)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
