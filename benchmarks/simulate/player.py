"""A program in a process of its own, run really or by one thread that plays a team.

``python -m benchmarks.simulate.player WHAT`` is told in JSON what to do, and which file to write.
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
    """A region of ``team.c``."""

    _fields_ = [
        ("began", ctypes.c_int64),
        ("longest", ctypes.c_int64),
        ("first", ctypes.c_int64),
        ("ranks", ctypes.c_int32),
        ("unused", ctypes.c_int32),
    ]


class Team:
    """One thread that plays a team.

    Parameters
    ----------
    library : str
        ``team.c``, compiled; the process was started with it.
    about : dict
        The size of the team, the model of its barrier, bytes to sweep over before each rank.
    """

    def __init__(self, library, about):
        self._library = library = ctypes.CDLL(library)
        library.simulate_regions.restype = ctypes.c_int64
        numbers = [ctypes.c_int32, ctypes.c_double, ctypes.c_double, ctypes.c_int64]
        library.simulate_begin.argtypes = numbers
        library.simulate_begin(about["team"], about["fixed"], about["each"], about["sweep"])

    def play(self, step):
        """Run `step`.

        Returns
        -------
        dict
            When it began and ended by the simulated clock, and its regions: when they began, what
            they took, the times of their ranks. All in nanoseconds.
        """
        library = self._library
        library.simulate_log(1)
        began = time.perf_counter_ns()
        step()
        ended = time.perf_counter_ns()
        library.simulate_log(0)
        regions, took = ctypes.POINTER(Region)(), ctypes.POINTER(ctypes.c_float)()
        count = library.simulate_regions(ctypes.byref(regions), ctypes.byref(took))
        found = [(r.began, r.longest, took[r.first : r.first + r.ranks]) for r in regions[:count]]
        return {"began": began, "ended": ended, "regions": found}


def _operators(file):
    """The operators in a trace, in the order of time: begin, end in nanoseconds, name, arrays."""
    with open(file, encoding="utf-8") as text:
        events = json.load(text)["traceEvents"]
    begun, found = {}, []
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
            found.append((began, at, event["name"], about.get("node", ""), arrays))
    return sorted(found, key=lambda operator: operator[0])


def _played(mx, step, team, rounds):
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder, "trace.json"))
        mx.profiler.set_config(profile_symbolic=True, profile_imperative=True, filename=file)
        mx.profiler.set_state("run")
        plays = [team.play(step) for _ in range(rounds)]
        mx.profiler.set_state("stop")
        mx.profiler.dump()
        return {"plays": plays, "operators": _operators(file)}


def _measured(step, rounds):
    times = []
    for _ in range(rounds):
        began = time.perf_counter_ns()
        step()
        times.append(time.perf_counter_ns() - began)
    return {"times": times}


def main(what):
    """Do `what` and write what was measured."""
    team = Team(os.environ["LD_PRELOAD"], what["play"]) if what["play"] else None
    import mxcy as mx
    from benchmarks.simulate.programs import make

    step = make(mx, what["program"], what["batch"])
    for _ in range(3):
        outputs = step().asnumpy().tolist()
    if team:
        result = _played(mx, step, team, what["rounds"])
    else:
        result = _measured(step, what["rounds"])
    result["outputs"] = outputs
    with open(what["file"], "w", encoding="utf-8") as text:
        json.dump(result, text)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
