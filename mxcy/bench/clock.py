"""Timing, and a description of the machine and its load."""

import contextlib
import math
import os
import statistics
import sys
import time

import mxcy as mx

__all__ = ["machine", "progress", "seconds_of"]


def seconds_of(run, seconds=0.5, rounds=5, wait=True):
    """Time a function in rounds.

    Parameters
    ----------
    run : callable
        Function without arguments, called twice before the measurement.
    seconds : float
        Approximate duration of all rounds.
    rounds : int
    wait : bool
        Whether a round waits for the engine to become idle.

    Returns
    -------
    dict
        `seconds` per call of the shortest round, `median` per call, and `calls` per round.
    """
    finish = mx.nd.waitall if wait else bool
    run()
    finish()
    began = time.perf_counter()
    run()
    finish()
    once = max(time.perf_counter() - began, 1e-7)
    calls = max(1, math.ceil(seconds / rounds / once))
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        for _ in range(calls):
            run()
        finish()
        taken.append((time.perf_counter() - began) / calls)
    return {"seconds": min(taken), "median": statistics.median(taken), "calls": calls}


def machine():
    """Describe the machine and its load, as a dict for a report."""
    known = mx.runtime.threads()
    return {
        "mxcy": mx.__version__,
        "cpu": known["cpu"],
        "cores": known["physical"],
        "threads": known["team"],
        "onednn": mx.runtime.Features().is_enabled("ONEDNN"),
        "load_average": round(os.getloadavg()[0], 2),
    }


def progress(entries, text):
    """Iterate over the entries, with a tqdm bar if it is installed and stderr is a terminal.

    Parameters
    ----------
    entries : sequence
    text : str
        Title of the bar.
    """
    if sys.stderr.isatty():
        with contextlib.suppress(ImportError):
            from tqdm import tqdm

            return tqdm(entries, text, leave=False)
    return entries
