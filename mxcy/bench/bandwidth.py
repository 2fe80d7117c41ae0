"""Bandwidth of memory-bound operators, relative to a copy by NumPy."""

import numpy as np

import mxcy as mx
from mxcy.bench import clock

__all__ = ["CASES", "cells"]

#: title -> (function of x, y and out, number of arrays read and written)
CASES = {
    "copy": (lambda x, y, out: x.copyto(out), 2),
    "a + b": (lambda x, y, out: mx.nd.elemwise_add(x, y, out=out), 3),
    "relu": (lambda x, y, out: mx.nd.relu(x, out=out), 2),
    "exp": (lambda x, y, out: mx.nd.exp(x, out=out), 2),
    "sum, axis 0": (lambda x, y, out: mx.nd.sum(x, axis=0), 1),
    "sum, axis 1": (lambda x, y, out: mx.nd.sum(x, axis=1), 1),
    "transpose": (lambda x, y, out: mx.nd.transpose(x, out=out), 2),
}


def cells(options):
    """Time the cases with one thread and with all.

    Parameters
    ----------
    options : argparse.Namespace
        Options `megabytes`, the size of an array, and `seconds`.

    Returns
    -------
    list of dict
    """
    n = max(16, int((options.megabytes * 1e6 / 4) ** 0.5))
    x, y = (mx.nd.random.uniform(shape=(n, n)) for _ in range(2))
    out, source, target = mx.nd.empty((n, n)), np.ones((n, n), "f"), np.zeros((n, n), "f")
    teams, results = sorted({1, mx.env.omp_threads()}), []
    copied = clock.seconds_of(lambda: np.copyto(target, source), options.seconds, wait=False)
    moved = 2 * source.nbytes / copied["seconds"]
    for threads in teams:
        before = mx.util.set_num_threads(threads)
        try:
            for title, (run, arrays) in clock.progress(list(CASES.items()), "bandwidth"):
                taken = clock.seconds_of(lambda run=run: run(x, y, out), options.seconds)
                speed = arrays * source.nbytes / taken["seconds"]
                cell = {"case": title, "threads": threads, "bytes": source.nbytes, **taken}
                cell |= {"bytes_per_second": speed, "of_a_copy": speed / moved}
                results.append(cell)
        finally:
            mx.util.set_num_threads(before)
    return results


def lines(results):
    """Format the table."""
    yield f"{'GB/s':<28}{'threads':>8}{'best':>10}{'of a copy':>12}"
    for cell in results:
        speed, share = cell["bytes_per_second"] / 1e9, cell["of_a_copy"]
        yield f"{cell['case']:<28}{cell['threads']:>8}{speed:>10.1f}{share:>12.2f}"
