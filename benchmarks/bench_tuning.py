"""Operator tuning's choice against one thread always and the team always (float32).

The three run in processes of their own, turn by turn. What is tuned must never be more than 20 %
slower than the better of the others.
"""

import sys

import pytest

from benchmarks.contenders import Worker, race

#: contender -> the environment it starts with
CONTENDERS = {
    "serial": {"OMP_NUM_THREADS": "1"},
    "parallel": {"MXNET_CPU_PARALLEL_SIZE": "0"},
    "tuned": {"MXNET_OPERATOR_TUNING_CACHE": "0"},
}
SETUP = """
import os
os.environ.update({environment})
import mxcy as mx
nd = mx.nd
"""
SIZES = (100, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 10_000_000)
#: arrays of n elements, then the statement
CASES = {
    "exp": ("x, out = nd.ones({n}), nd.empty({n})", "nd.exp(x, out=out)"),
    "tanh": ("x, out = nd.ones({n}), nd.empty({n})", "nd.tanh(x, out=out)"),
    "add": ("x, out = nd.ones({n}), nd.empty({n})", "nd.elemwise_add(x, x, out=out)"),
    "cast to float16": (
        "x, out = nd.ones({n}), nd.empty({n}, dtype='float16')",
        "nd.cast(x, dtype='float16', out=out)",
    ),
    "sum": ("x, out = nd.ones({n}), nd.empty(1)", "nd.sum(x, out=out)"),
    "sum of rows": (
        "x, out = nd.ones(({n} // 100, 100)), nd.empty({n} // 100)",
        "nd.sum(x, axis=1, out=out)",
    ),
    "sum of columns": ("x, out = nd.ones(({n} // 100, 100)), nd.empty(100)",
                       "nd.sum(x, axis=0, out=out)"),
    "max of rows": ("x, out = nd.ones(({n} // 50, 50)), nd.empty({n} // 50)",
                    "nd.max(x, axis=1, out=out)"),
    "softmax": ("x = nd.ones(({n} // 100, 100)); out = nd.empty(x.shape)",
                "nd.softmax(x, out=out)"),
}  # fmt: skip


@pytest.fixture(scope="module")
def workers():
    """The contenders, started once."""
    found = {
        name: Worker(sys.executable, SETUP.format(environment=environment))
        for name, environment in CONTENDERS.items()
    }
    yield found
    for worker in found.values():
        worker.close()


@pytest.fixture(scope="module")
def table(announce):
    """Lines of the report: microseconds, the ratio to the better one, and what was chosen."""
    lines, ratios = [], []
    yield lines, ratios
    worst, good = max(ratios), sum(ratio <= 1.1 for ratio in ratios) / len(ratios)
    lines.append(f"worst ratio {worst:.2f}; {100 * good:.0f} % of the choices within 10 %")
    announce(f"{'':16}{'elements':>10}{'serial':>12}{'parallel':>12}{'tuned':>12}  ratio", lines)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("n", SIZES)
def test_tuning(benchmark, request, workers, table, case, n):
    setup, statement = CASES[case]
    for worker in workers.values():
        worker.run(setup.format(n=n))
    rounds = request.config.getoption("--rounds")
    times = race(workers, dict.fromkeys(workers, statement), rounds, 0.01)
    best = {name: least for name, (least, _) in times.items()}
    ratio = best["tuned"] / min(best["serial"], best["parallel"])
    cells = "".join(f"{best[name] * 1e6:>12.2f}" for name in CONTENDERS)
    lines, ratios = table
    lines.append(f"{case:16}{n:>10}{cells}  {ratio:5.2f}")
    ratios.append(ratio)
    benchmark.extra_info.update(best, ratio=ratio)
    benchmark.pedantic(workers["tuned"].time, (statement, 1), rounds=3)
    assert ratio <= 1.2
