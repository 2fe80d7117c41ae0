"""Work grows linearly with the number of nodes: all passes and planning, on long chains.

What is counted are executed lines of Python, which do not depend on how busy the machine is.
"""

import sys

import pytest

from mxcy.graph.control import expand
from mxcy.graph.gradient import gradient
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer
from mxcy.graph.node import SymbolNode
from mxcy.graph.passes import cse, dce, fold, fuse, mirror, simplify
from mxcy.graph.planning.plan import make_plan
from mxcy.graph.verify import verify
from mxcy.ops.core.record import find
from tests.graph.graphs import spec, target

SHORT, TIMES = 300, 8


@pytest.fixture(autouse=True)
def _no_packing_by_size(monkeypatch):
    """Disable packing by size, which is quadratic but used only for few storages."""
    monkeypatch.setattr("mxcy.graph.planning.packing._MANY", 0)


def lines(work):
    """The number of Python lines that a function executes."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def assert_linear(work, count=SHORT):
    """`work(count)` executes about eight times as many lines for eight times as many nodes."""
    work(count)  # caches filled from now on must not count
    short, long = lines(lambda: work(count)), lines(lambda: work(TIMES * count))
    assert long <= 1.25 * TIMES * short


def chain(count, operators):
    """Linked nodes, one after the other."""
    records = [(find(name), attrs) for name, attrs in operators]
    entry = (SymbolNode(None, "x"), 0)
    for number in range(count):
        record, attrs = records[number % len(records)]
        entry = (SymbolNode(record, f"n{number}", attrs, [entry]), 0)
    return entry


def training_graph(entry):
    graph = expand(infer(from_entries([entry], train=True), {"x": spec(4, 4)}))
    return gradient(graph, [0], has_head_grad=[False])


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize(
    "operators",
    [
        (("Activation", {"act_type": "relu"}), ("_mul_scalar", {"scalar": "1.5"})),
        (("softmax", {}), ("Reshape", {"shape": "(2,8)"}), ("Reshape", {"shape": "(4,4)"})),
    ],
    ids=["fused", "apart"],
)
def test_planning(operators, training):
    def work(count):
        entry, machine = chain(count, operators), target()
        if training:
            graph, passes = training_graph(entry), (dce, fold, cse, mirror, fuse)
        else:
            graph = expand(infer(from_entries([entry]), {"x": spec(4, 4)}))
            passes = (simplify, fold, cse, dce, fuse)
        for each in passes:
            graph = each.run(graph, machine)
        assert make_plan(verify(graph), machine).steps

    assert_linear(work)


@pytest.mark.parametrize("setting", ["MXNET_BACKWARD_DO_MIRROR", "MXNET_MEMORY_OPT"])
def test_mirroring(setting):
    def work(count):
        graph = training_graph(chain(count, (("sin", {}), ("softmax", {}))))
        mirror.run(graph, target(**{setting: True}))

    assert_linear(work, 60)
