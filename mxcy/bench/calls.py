"""Cost of small eager calls in nanoseconds."""

import timeit

import mxcy as mx
from mxcy.bench import clock

__all__ = ["STATEMENTS", "cells"]

#: statements over `a`, `b`, `w` (n x n), `bias` (n), and `x`, `y` of mx.np
STATEMENTS = (
    "a + b",
    "a * 2",
    "mx.nd.exp(a)",
    "mx.nd.FullyConnected(a, w, bias, num_hidden={n})",
    "a[1:3]",
    "a[:, 1:3]",
    "a[1, 2] = 3",
    "a.reshape((2, -1))",
    "a.shape",
    "a.asnumpy()",
    "mx.nd.zeros(({n}, {n}))",
    "x + y",
    "mx.np.exp(x)",
    "x @ y",
    "mx.np.sum(x, axis=0)",
    "chain()",
)
_TITLES = {"chain()": "50 operations and backward"}


def _names(n):
    a, b, w = (mx.nd.random.uniform(shape=(n, n)) for _ in range(3))
    weight = mx.nd.random.uniform(shape=(n, n))
    weight.attach_grad()

    def chain():
        with mx.autograd.record():
            result = weight
            for _ in range(10):
                result = mx.nd.tanh(result * w + b) * 0.5 - a
        result.backward()

    bias = mx.nd.random.uniform(shape=(n,))
    x, y = a.copy().as_np_ndarray(), b.copy().as_np_ndarray()
    return {"mx": mx, "a": a, "b": b, "w": w, "bias": bias, "x": x, "y": y, "chain": chain}


def cells(options):
    """Time each statement with arrays of 4 x 4 and 64 x 64.

    Parameters
    ----------
    options : argparse.Namespace
        Option `seconds` per statement.

    Returns
    -------
    list of dict
    """
    cases = [(n, text) for n in (4, 64) for text in STATEMENTS]
    results = []
    for n, text in clock.progress(cases, "calls"):
        timer = timeit.Timer(text.format(n=n), globals=_names(n))
        timer.timeit(3)
        number = max(1, int(options.seconds / 10 / max(timer.timeit(3) / 3, 1e-8)))
        taken = []
        for _ in range(10):
            taken.append(timer.timeit(number) / number)
            mx.nd.waitall()
        cell = {"statement": _TITLES.get(text, text.format(n=n)), "n": n, "seconds": min(taken)}
        results.append(cell)
    return results


def lines(results):
    """Format the table."""
    yield f"{'nanoseconds of a call':<52}{'4 x 4':>10}{'64 x 64':>10}"
    small, large = ([c for c in results if c["n"] == n] for n in (4, 64))
    for a, b in zip(small, large, strict=True):
        yield f"{a['statement']:<52}{a['seconds'] * 1e9:>10.0f}{b['seconds'] * 1e9:>10.0f}"
