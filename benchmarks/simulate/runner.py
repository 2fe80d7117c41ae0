"""Run a program in a separate process, for real or on one thread that simulates a team.

``python -m benchmarks.simulate.runner JOB``: JOB is JSON with the program and the output file.
"""

import ctypes
import json
import os
import sys
import tempfile
import time
from pathlib import Path

__all__ = ["Region", "Team", "main"]


class Region(ctypes.Structure):
    """``Region`` of ``team.c``."""

    _fields_ = [
        ("began", ctypes.c_int64),
        ("longest", ctypes.c_int64),
        ("first", ctypes.c_int64),
        ("ranks", ctypes.c_int32),
        ("unused", ctypes.c_int32),
    ]


class Team:
    """Simulate a team of threads on one thread.

    Parameters
    ----------
    library : str
        Compiled ``team.c``, preloaded into this process.
    about : dict
        Team size, barrier model, bytes to sweep over before each rank.
    """

    def __init__(self, library, about):
        self._library = library = ctypes.CDLL(library)
        library.simulate_regions.restype = ctypes.c_int64
        numbers = [ctypes.c_int32, ctypes.c_double, ctypes.c_double, ctypes.c_int64]
        library.simulate_begin.argtypes = numbers
        library.simulate_begin(about["team"], about["fixed"], about["each"], about["sweep"])

    def run(self, step):
        """Run `step`.

        Returns
        -------
        dict
            Begin and end on the simulated clock, and for each region its begin, duration and the
            times of its ranks. All in nanoseconds.
        """
        library = self._library
        library.simulate_log(1)
        began = time.perf_counter_ns()
        step()
        ended = time.perf_counter_ns()
        library.simulate_log(0)
        regions, took = ctypes.POINTER(Region)(), ctypes.POINTER(ctypes.c_float)()
        count = library.simulate_regions(ctypes.byref(regions), ctypes.byref(took))
        log = [(r.began, r.longest, took[r.first : r.first + r.ranks]) for r in regions[:count]]
        return {"began": began, "ended": ended, "regions": log}


def _operators(file):
    """List a trace's operators by time: begin and end in nanoseconds, name, node, arrays."""
    with open(file, encoding="utf-8") as text:
        events = json.load(text)["traceEvents"]
    begun, operators = {}, []
    for event in events:
        if event.get("cat") != "operator" or event["name"] == "WaitForVar":
            continue
        at = round(event["ts"] * 1000)
        if event["ph"] == "b":
            begun[event["id"]] = at, event
        elif event["ph"] == "e":
            began, event = begun.pop(event["id"])
            about = event.get("args", {})
            arrays = about.get("inputs", []) + about.get("outputs", [])
            operators.append((began, at, event["name"], about.get("node", ""), arrays))
    return sorted(operators, key=lambda operator: operator[0])


def _outside(play):
    """Nanoseconds of a run outside parallel regions."""
    inside = sum(longest for _, longest, _ in play["regions"])
    return play["ended"] - play["began"] - inside


def _simulated(mx, step, team, rounds):
    outside = [_outside(team.run(step)) for _ in range(rounds)]
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder, "trace.json"))
        mx.profiler.set_config(profile_symbolic=True, profile_imperative=True, filename=file)
        mx.profiler.set_state("run")
        runs = [team.run(step) for _ in range(rounds)]
        mx.profiler.set_state("stop")
        mx.profiler.dump()
        return {"runs": runs, "operators": _operators(file), "outside": outside}


def _measured(step, rounds):
    times = []
    for _ in range(rounds):
        began = time.perf_counter_ns()
        step()
        times.append(time.perf_counter_ns() - began)
    return {"times": times}


def main(job):
    """Run a job and write its measurements."""
    team = Team(os.environ["LD_PRELOAD"], job["play"]) if job["play"] else None
    import mxcy as mx
    from benchmarks.simulate.programs import make

    step = make(mx, job["program"], job["batch"])
    for _ in range(3):
        outputs = step().asnumpy().tolist()
    if team:
        result = _simulated(mx, step, team, job["rounds"])
    else:
        result = _measured(step, job["rounds"])
    result["outputs"] = outputs
    with open(job["file"], "w", encoding="utf-8") as text:
        json.dump(result, text)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
