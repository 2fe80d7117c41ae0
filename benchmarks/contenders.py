"""Time one statement in several libraries, interleaved.

The machine may be shared and noisy, so contenders alternate and the best round of each counts. A
library with a separate environment (PyTorch) is timed by a worker process there.
"""

import json
import os
import statistics
import subprocess
import sys
import time
import timeit
from pathlib import Path

__all__ = ["Local", "Worker", "race"]


class Local:
    """A contender of this process.

    Parameters
    ----------
    setup : str
        Defines the names that statements use.
    clock : callable
        Measures time; `time.process_time` excludes the time of other programs.
    """

    def __init__(self, setup, clock=time.perf_counter):
        self._names, self._clock = {}, clock
        exec(setup, self._names)

    def time(self, statement, number):
        """Time `number` runs of the statement, including mxcy's pending operations, in seconds."""
        timer = timeit.Timer(statement, timer=self._clock, globals=self._names)
        if "mx" not in self._names:
            return timer.timeit(number)
        start = self._clock()
        timer.timeit(number)
        self._names["mx"].nd.waitall()
        return self._clock() - start

    def close(self):
        """Do nothing: there is no process to end."""


class Worker:
    """A contender in another Python environment, controlled over a pipe.

    Parameters
    ----------
    python, setup : str
    threads : int, optional
        Size of its OpenMP teams.
    """

    def __init__(self, python, setup, threads=None):
        environment = {} if threads is None else {"OMP_NUM_THREADS": str(threads)}
        self._process = subprocess.Popen(
            [python, "-W", "ignore", str(Path(__file__)), "--worker"],
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._ask({"setup": setup})

    def _ask(self, message):
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("the benchmark's worker process ended early")
        return json.loads(answer)

    def run(self, code):
        """Run more setup."""
        self._ask({"setup": code})

    def value(self, expression):
        """Evaluate an expression whose value JSON can represent."""
        return self._ask({"expression": expression})

    def time(self, statement, number):
        """Time `number` runs of the statement, in seconds."""
        return self._ask({"statement": statement, "number": number})

    def close(self):
        """End the process."""
        self._process.stdin.close()
        self._process.wait(timeout=10)
        self._process.stdout.close()


def race(contenders, statements, rounds=15, seconds=0.02):
    """Time each contender's statement in alternation.

    Parameters
    ----------
    contenders : dict of name to Local or Worker
    statements : dict of name to str
    rounds : int
    seconds : float
        Approximate time of a contender per round.

    Returns
    -------
    dict of name to (best, median) seconds per run
    """
    numbers = {}
    for name, statement in statements.items():
        once = min(contenders[name].time(statement, 1) for _ in range(3))
        numbers[name] = max(1, min(200_000, int(seconds / max(once, 1e-7))))
    taken = {name: [] for name in statements}
    for _ in range(rounds):
        for name, statement in statements.items():
            taken[name].append(contenders[name].time(statement, numbers[name]) / numbers[name])
    return {name: (min(times), statistics.median(times)) for name, times in taken.items()}


def _serve():
    names = {}
    for line in sys.stdin:
        message = json.loads(line)
        if "setup" in message:
            exec(message["setup"], names)
            answer = None
        elif "expression" in message:
            answer = eval(message["expression"], names)
        else:
            timer = timeit.Timer(message["statement"], globals=names)
            answer = timer.timeit(message["number"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _serve()
