"""Timing, and what a figure needs beside it: the machine and its load."""

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
        Called without arguments, twice before anything is timed.
    seconds : float
        About how long all rounds take.
    rounds : int
    wait : bool
        Whether a round ends when the engine has nothing left to do.

    Returns
    -------
    dict
        `seconds` of the shortest round and `median`, both for one call, and `calls` in a round.
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
    """What decides about figures, as a dict for a report."""
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
    """The entries, with a bar of tqdm where it is installed and somebody sees it.

    Parameters
    ----------
    entries : sequence
    text : str
        What stands before the bar.
    """
    if sys.stderr.isatty():
        with contextlib.suppress(ImportError):
            from tqdm import tqdm

            return tqdm(entries, text, leave=False)
    return entries
