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

_SERIAL_RUNS = 5


class Region(ctypes.Structure):
    """``Region`` of ``team.c``."""

    _fields_ = [
        ("began", ctypes.c_int64),
        ("longest", ctypes.c_int64),
        ("first", ctypes.c_int64),
        ("ranks", ctypes.c_int32),
        ("ends", ctypes.c_int32),
    ]


class Team:
    """Simulate a team of threads on one thread.

    Parameters
    ----------
    library : str
        Compiled ``team.c``, preloaded into this process.
    about : dict
        Team size and barrier model.
    """

    def __init__(self, library, about):
        self._library = library = ctypes.CDLL(library)
        library.simulate_regions.restype = ctypes.c_int64
        library.simulate_begin.argtypes = [ctypes.c_int32] + 3 * [ctypes.c_double]
        library.simulate_begin(about["team"], about["fixed"], about["each"], about["inner"])

    def place(self, rank):
        """Have `rank` run on a core of its own from now on; return whether there are two."""
        return bool(self._library.simulate_apart(rank))

    def run(self, step, rank=0):
        """Run `step`, with `rank` on a core of its own.

        Returns
        -------
        dict
            Begin and end on the simulated clock; for each region, or part between barriers, its
            begin, duration, the times of its ranks, whether it ends there; all in nanoseconds. The
            rank with a core of its own (-1: none).
        """
        library = self._library
        apart = rank if self.place(rank) else -1
        library.simulate_log(1)
        began = time.perf_counter_ns()
        step()
        ended = time.perf_counter_ns()
        library.simulate_log(0)
        regions, took = ctypes.POINTER(Region)(), ctypes.POINTER(ctypes.c_float)()
        count = library.simulate_regions(ctypes.byref(regions), ctypes.byref(took))
        log = [
            (r.began, r.longest, took[r.first : r.first + r.ranks], r.ends) for r in regions[:count]
        ]
        return {"began": began, "ended": ended, "regions": log, "apart": apart}


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
    inside = sum(region[1] for region in play["regions"])
    return play["ended"] - play["began"] - inside


def _simulated(mx, step, team, rounds, ranks):
    outside = [_outside(team.run(step)) for _ in range(max(rounds, _SERIAL_RUNS))]
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder, "trace.json"))
        mx.profiler.set_config(profile_symbolic=True, profile_imperative=True, filename=file)
        mx.profiler.set_state("run")
        runs = [team.run(step, rank) for rank in ranks for _ in range(rounds)]
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
    if team:
        team.place(0)
    for _ in range(3):
        outputs = step().asnumpy().tolist()
    if team:
        result = _simulated(mx, step, team, job["rounds"], job["play"]["ranks"])
    else:
        result = _measured(step, job["rounds"])
    result["outputs"] = outputs
    with open(job["file"], "w", encoding="utf-8") as text:
        json.dump(result, text)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
