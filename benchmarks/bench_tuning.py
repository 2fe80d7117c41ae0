"""Operator tuning compared with always using one thread and always using the team (float32).

The three run interleaved in separate processes. The tuned choice must never be more than 20 %
slower than the better of the others. On a busy machine, OMP_PROC_BIND=true keeps the system from
putting two threads of a team on one CPU.
"""

import sys

import pytest

from benchmarks.contenders import Worker, race

#: contender -> its environment variables
CONTENDERS = {
    "serial": {"OMP_NUM_THREADS": "1"},
    "parallel": {"MXNET_CPU_PARALLEL_SIZE": "0"},
    "tuned": {"MXNET_OPERATOR_TUNING_CACHE": "0"},
}
SETUP = """
import os
os.environ.update({environment})
import mxcy as mx
from mxcy._library import front
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.prepare import prepare
from mxcy.ops.core.record import find


def choice(name, ins, attrs):
    '''Which of the others an operator is run like.'''
    specs = [Spec(x.shape, x.dtype_code) for x in ins]
    call = prepare(find(name), find(name).schema.intern(name, attrs), specs, front)
    return "serial" if call.threads == 1 else "parallel"
"""
CASE = """
ins = [mx.nd.ones({shape}, dtype="float32") for _ in range({count})]
attrs = {attrs}
out = mx.nd.{name}(*ins, **attrs)
"""
SIZES = (100, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 10_000_000)
#: operator, number of inputs, extent of a row (0: no rows), attributes
CASES = {
    "exp": ("exp", 1, 0, {}),
    "tanh": ("tanh", 1, 0, {}),
    "add": ("elemwise_add", 2, 0, {}),
    "cast to float16": ("cast", 1, 0, {"dtype": "float16"}),
    "sum": ("sum", 1, 0, {}),
    "sum of rows": ("sum", 1, 100, {"axis": 1}),
    "sum of columns": ("sum", 1, 100, {"axis": 0}),
    "max of rows": ("max", 1, 50, {"axis": 1}),
    "softmax": ("softmax", 1, 100, {}),
}


@pytest.fixture(scope="module")
def workers():
    """The contenders' processes, started once."""
    found = {
        name: Worker(sys.executable, SETUP.format(environment=environment))
        for name, environment in CONTENDERS.items()
    }
    yield found
    for worker in found.values():
        worker.close()


@pytest.fixture(scope="module")
def table(announce):
    """Lines of the report: microseconds, and the cost of the choice relative to the better one."""
    lines, ratios = [], []
    yield lines, ratios
    good = sum(ratio <= 1.1 for ratio in ratios) / max(len(ratios), 1)
    lines.append(
        f"worst choice {max(ratios, default=1):.2f}; {100 * good:.0f} % are within 10 % of the "
        "better one"
    )
    heads = "".join(f"{name:>12}" for name in CONTENDERS)
    announce(f"{'':16}{'elements':>10}{heads}  chosen    cost", lines)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("n", SIZES)
def test_tuning(benchmark, request, workers, table, case, n):
    name, count, row, attrs = CASES[case]
    shape = (n // row, row) if row else (n,)
    for worker in workers.values():
        worker.run(CASE.format(name=name, shape=shape, count=count, attrs=attrs))
    statement = f"mx.nd.{name}(*ins, out=out, **attrs).wait_to_read()"
    rounds = request.config.getoption("--rounds")
    times = race(workers, dict.fromkeys(workers, statement), rounds, 0.01)
    best = {contender: least for contender, (least, _) in times.items()}
    chosen = workers["tuned"].value(f"choice({name!r}, ins, attrs)")
    cost = best[chosen] / min(best["serial"], best["parallel"])
    lines, ratios = table
    cells = "".join(f"{best[contender] * 1e6:>12.2f}" for contender in CONTENDERS)
    lines.append(f"{case:16}{n:>10}{cells}  {chosen:8}{cost:6.2f}")
    ratios.append(cost)
    benchmark.extra_info.update(best, chosen=chosen, cost=cost)
    benchmark.pedantic(workers["tuned"].time, (statement, 1), rounds=3)
    assert cost <= 1.2
