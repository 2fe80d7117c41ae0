"""Seconds of `launch -n 4` until the first barrier, and of an import alone; prints JSON.

    python benchmarks/dist/start.py

The launcher starts this program in each process. The least of several jobs counts.
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


def seconds_of_import():
    """Seconds of a process that imports mxcy."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", "import mxcy"], check=True)
    return time.monotonic() - began


def main():
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=4)
    arguments = parser.parse_args()
    least = {"job": float("inf"), "import": float("inf")}
    for _ in range(arguments.rounds):
        least["job"] = min(least["job"], seconds_of_job(arguments.workers))
        least["import"] = min(least["import"], seconds_of_import())
    line = {"what": f"{arguments.workers} workers until their first barrier", **least}
    print(json.dumps({**line, "more": least["job"] - least["import"]}), flush=True)


if __name__ == "__main__":
    join() if MARK in os.environ else main()
