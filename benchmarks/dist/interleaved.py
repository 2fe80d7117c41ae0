"""Times of a store's work and of MPI's for the same bytes, taken in turns."""

import json
import time

__all__ = ["fastest", "report"]


def fastest(work, others, rounds, ready=None):
    """Minimum seconds of two interleaved functions.

    Parameters
    ----------
    work, others : callable
    rounds : int
    ready : callable, optional
        ``ready(function)``, called before each of them, outside of the measured time.

    Returns
    -------
    list of float
    """
    least = [float("inf")] * 2
    for _ in range(rounds):
        for number, way in enumerate((work, others)):
            if ready is not None:
                ready(way)
            began = time.perf_counter()
            way()
            least[number] = min(least[number], time.perf_counter() - began)
    return least


def report(store, what, seconds):
    """Print a line on rank 0."""
    if store.rank == 0:
        ours, raw = seconds
        line = {"what": what, "us": ours * 1e6, "mpi_us": raw * 1e6, "ratio": ours / raw}
        print(json.dumps(line), flush=True)
