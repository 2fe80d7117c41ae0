"""Time grows linearly with the number of nodes: all passes and planning, on long chains."""

import time

import pytest

from mxcy.graph.gradient import gradient
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer
from mxcy.graph.node import SymbolNode
from mxcy.graph.passes import cse, dce, fold, fuse, mirror, simplify
from mxcy.graph.plan import make_plan
from mxcy.graph.verify import verify
from mxcy.ops.record import find
from tests.graph.graphs import spec, target

SHORT, LONG = 1_000, 8_000


def chain(count, operators):
    """Linked nodes, one after the other."""
    records = [(find(name), attrs) for name, attrs in operators]
    entry = (SymbolNode(None, "x"), 0)
    for number in range(count):
        record, attrs = records[number % len(records)]
        entry = (SymbolNode(record, f"n{number}", attrs, [entry]), 0)
    return entry


def plan(entry, training):
    """Everything from linked nodes to the plan; returns the CPU time."""
    machine = target()
    begin = time.process_time()
    graph = infer(from_entries([entry], train=training), {"x": spec(4, 4)})
    if training:
        graph = gradient(graph, [0], given=[False])
    passes = (fold, cse, dce, mirror, fuse) if training else (simplify, fold, cse, dce, fuse)
    for each in passes:
        graph = each.run(graph, machine)
    made = make_plan(graph, machine)
    assert made.steps
    elapsed = time.process_time() - begin
    verify(graph)
    return elapsed


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize(
    "operators",
    [
        (("Activation", {"act_type": "relu"}), ("_mul_scalar", {"scalar": "1.5"})),
        (("softmax", {}), ("Reshape", {"shape": "(2,8)"}), ("Reshape", {"shape": "(4,4)"})),
    ],
    ids=["fused", "apart"],
)
def test_planning_is_linear(operators, training):
    short = min(plan(chain(SHORT, operators), training) for _ in range(3))
    long = plan(chain(LONG, operators), training)
    assert long <= 2.5 * (LONG / SHORT) * short, f"{short:.3f} s and {long:.3f} s"


def test_mirroring_is_linear():
    def elapsed(count):
        entry = chain(count, (("sin", {}), ("softmax", {})))
        graph = infer(from_entries([entry], train=True), {"x": spec(4, 4)})
        graph = gradient(graph, [0], given=[False])
        begin = time.process_time()
        mirror.run(graph, target(MXNET_BACKWARD_DO_MIRROR=True))
        return time.process_time() - begin

    short, long = min(elapsed(500) for _ in range(3)), elapsed(4000)
    assert long <= 2.5 * 8 * short, f"{short:.3f} s and {long:.3f} s"
