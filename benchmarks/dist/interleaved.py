"""Times of a store's work and of MPI's for the same bytes, taken in turns."""

import json
import statistics
import time

__all__ = ["measured", "report"]


def measured(work, others, rounds, ready=None):
    """Seconds of two interleaved functions.

    Parameters
    ----------
    work, others : callable
    rounds : int
    ready : callable, optional
        ``ready(function)``, called before each of them, outside of the measured time.

    Returns
    -------
    list of list of float
        Of all rounds of each function.
    """
    seconds = [], []
    for _ in range(rounds):
        for way, taken in zip((work, others), seconds, strict=True):
            if ready is not None:
                ready(way)
            began = time.perf_counter()
            way()
            taken.append(time.perf_counter() - began)
    return seconds


def report(store, what, seconds):
    """Print a line on rank 0: microseconds of the store and of MPI, and ratios of these."""
    if store.rank:
        return
    line = {"what": what}
    for name, of in (("least", min), ("median", statistics.median)):
        ours, raw = (of(taken) * 1e6 for taken in seconds)
        line |= {name: round(ours, 1), f"{name}_mpi": round(raw, 1), f"{name}_ratio": ours / raw}
    print(json.dumps(line), flush=True)
