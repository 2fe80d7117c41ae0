"""Seconds of `launch -n 4` until the first barrier, and of imports; prints JSON.

    python benchmarks/dist/start.py

The launcher starts this program in each process. `imports` is the time of as many processes at once
that import mxcy, which share the cores like the job's. The least of several runs counts.
"""

import argparse
import json
import os
import subprocess
import sys
import time

MARK = "MXCY_BENCHMARK_BEGAN"


def join():
    """Be a worker: meet the others and report the time since the launcher began."""
    import mxcy as mx

    store = mx.kv.create("dist_sync")
    store._barrier()
    if store.rank == 0:
        print(time.monotonic() - float(os.environ[MARK]), flush=True)


def seconds_of_job(workers):
    """Seconds from the start of the launcher until all workers have met."""
    line = [sys.executable, "-m", "mxcy.tools.launch", "-n", str(workers), "-s", "0"]
    environment = {**os.environ, MARK: str(time.monotonic())}
    ended = subprocess.run(
        [*line, sys.executable, __file__], env=environment, capture_output=True, check=True
    )
    return float(ended.stdout)


def seconds_of_imports(processes):
    """Seconds of so many processes at once that import mxcy."""
    began, line = time.monotonic(), [sys.executable, "-c", "import mxcy"]
    for process in [subprocess.Popen(line) for _ in range(processes)]:
        process.wait()
    return time.monotonic() - began


def main():
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=4)
    arguments = parser.parse_args()
    ways = {
        "job": lambda: seconds_of_job(arguments.workers),
        "import": lambda: seconds_of_imports(1),
        "imports": lambda: seconds_of_imports(arguments.workers),
    }
    least = dict.fromkeys(ways, float("inf"))
    for _ in range(arguments.rounds):
        for way, seconds in ways.items():
            least[way] = min(least[way], seconds())
    line = {"what": f"{arguments.workers} workers until their first barrier", **least}
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    join() if MARK in os.environ else main()
