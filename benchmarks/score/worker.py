"""The process of one contender: told over a pipe, in lines of JSON, what to load and to run.

``python -m benchmarks.score.worker MODULE:CLASS THREADS`` runs in the contender's own environment.
MODULE is one of the ``with_*.py`` beside this file; its classes have in common:

``CLASS(folder, threads)``
    Reads a network (see `material.py`), once per process.
``bind(data)``
    Gets ready for an input of this shape and keeps `data` for the runs to come.
``run()``
    One forward pass, finished when it returns.
``output()``
    The result of the last run as a NumPy array.
``about()``
    A line: versions and modes.
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
    """A line of this process's memory statistics in bytes, such as VmHWM, the peak."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024
    return 0


class Session:
    """What the process has been told so far; each public method is a command."""

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
        """Seconds of each of some runs, after some that warm up: others ran before."""
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
        """The largest memory that this process had in use, in bytes; perhaps count from now on."""
        peak = _memory("VmHWM")
        if forget:
            Path("/proc/self/clear_refs").write_text("5")
        return {"bytes": peak}


def serve(kind, threads, session=Session):
    """Answer commands until the pipe is closed."""
    # Libraries print to stdout as they please, so answers get a channel of their own.
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
