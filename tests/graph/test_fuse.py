"""Pointwise fusion: groups, their limits, and unchanged results."""

import numpy as np
import pytest

from mxcy.graph.builder import Builder
from mxcy.graph.evaluate import evaluate
from mxcy.graph.gradient import gradient
from mxcy.graph.passes import fuse
from mxcy.graph.verify import verify
from mxcy.ops.fused.pointwise import MAX_INPUTS, MAX_OUTPUTS
from tests.graph.graphs import spec, target, values_for


def fused(graph, **settings):
    """Run the pass, check that outputs are unchanged, and return the graph."""
    rewritten = verify(fuse.run(graph, target(**settings)), "fuse")
    values = values_for(graph)
    for got, want in zip(evaluate(rewritten, values)[0], evaluate(graph, values)[0], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    return rewritten


def groups(graph):
    """The names of the nodes in each fused group."""
    return [n.extra[fuse.FUSED].split() for n in graph.nodes if fuse.FUSED in n.extra]


def start(*shape, train=False):
    b = Builder(train)
    return b, b.values, b.value(b.variable("x", spec(*(shape or (3, 4)))))


def test_a_chain_becomes_one_operator():
    b, F, x = start()
    for _ in range(5):
        x = F.sin(x * 2.0)
    fused_graph = fused(b.finish([x.entry]))
    assert fused_graph.count_ops() == {"_fused_pointwise": 1}
    assert [len(names) for names in groups(fused_graph)] == [10]


def test_fusion_can_be_switched_off():
    b, F, x = start()
    graph = b.finish([F.sin(F.exp(x)).entry])
    assert fuse.run(graph, target(MXNET_USE_FUSION=False)) is graph


def test_a_single_operator_stays():
    b, F, x = start()
    graph = b.finish([F.sin(F.dot(F.exp(x), x, transpose_b=True)).entry])
    assert fuse.run(graph, target()) is graph


def test_paths_that_leave_and_come_back_are_not_closed():
    """exp and the sum must not be one program: the softmax between them needs exp."""
    b, F, x = start()
    y = F.exp(x)
    z = F.sin(F.softmax(y) + y)
    fused_graph = fused(b.finish([z.entry]))
    assert [sorted(names) for names in groups(fused_graph)] == [["broadcast_add_0", "sin_0"]]


def test_results_that_others_read_are_returned():
    b, F, x = start()
    y = F.exp(x)
    z = F.sin(y * 3.0)
    graph = b.finish([F.softmax(y).entry, z.entry])
    fused_graph = fused(graph)
    (node,) = (n for n in fused_graph.nodes if fuse.FUSED in n.extra)
    assert node.count == 2


def test_shapes_part_groups_and_vectors_are_repeated():
    b, F, x = start(3, 4)
    v = b.value(b.variable("v", spec(1, 4)))
    scale = F.exp(F.sin(v))
    fused_graph = fused(b.finish([F.relu(F.broadcast_add(F.broadcast_mul(x, scale), v)).entry]))
    assert sorted(len(names) for names in groups(fused_graph)) == [2, 3]


def test_a_short_branch_waits_for_its_reader():
    b, F, x = start()
    early = x * 2.0
    late = F.softmax(F.softmax(x))
    fused_graph = fused(b.finish([F.sin(late + early).entry]))
    assert [len(names) for names in groups(fused_graph)] == [3]


def test_long_branches_wait_for_their_only_reader():
    """The parts of clip's gradient: two masks of the data, times a gradient that comes late."""
    b, F, x = start()
    late = F.softmax(F.softmax(x))
    inside = (1 - (x < -0.5)) * (1 - (x > 0.5))
    fused_graph = fused(b.finish([(late * inside).entry]))
    assert [len(names) for names in groups(fused_graph)] == [6]


def test_branches_with_other_readers_do_not_wait():
    """exp and sin go into the softmax, on which the sum depends."""
    b, F, x = start()
    early = F.sin(F.exp(x))
    fused_graph = fused(b.finish([F.cos(F.softmax(early) + early).entry]))
    assert sorted(len(names) for names in groups(fused_graph)) == [2, 2]


def test_types_part_groups():
    b, F, x = start()
    fused_graph = fused(b.finish([F.sin(F.exp(F.cast(F.sin(F.exp(x)), dtype="float64"))).entry]))
    assert (
        all(len({*names}) == 2 for names in groups(fused_graph)) and len(groups(fused_graph)) == 2
    )


def test_the_border_of_the_forward_pass_is_kept():
    b, F, x = start(train=True)
    graph = b.finish([F.sin(F.exp(F.tanh(x))).entry])
    training = gradient(graph, [x.entry[0]], has_head_grad=[False])
    fused_graph = fused(training)
    assert fused_graph.forward < len(fused_graph.nodes)
    forward = {n.name for n in graph.nodes}
    for names in groups(fused_graph):
        assert forward.issuperset(names) or not forward & {*names}


def test_random_operators_keep_their_order():
    b, F, x = start(train=True)
    first = F.exp(x * 2.0)
    dropped = [F.Dropout(first + float(i), p=0.5) for i in range(3)]
    graph = b.finish([F.add_n(*(F.sin(d) for d in dropped)).entry])
    rewritten = verify(fuse.run(graph, target()), "fuse")

    def order(g):
        return [n.name for n in g.nodes if n.op is not None and n.op.name == "Dropout"]

    assert order(rewritten) == order(graph) and groups(rewritten)


def test_readers_of_written_variables_are_not_moved():
    b, F, x = start(4)
    momentum = b.value(b.variable("momentum", spec(4)))
    before = F.sin(F.exp(momentum))
    moved = F.sgd_mom_update(x, x, momentum, lr=0.5)
    after = F.sin(F.exp(momentum))
    fused_graph = fused(b.finish([before.entry, moved.entry, after.entry]))
    assert fused_graph.count_ops()["exp"] == 2


@pytest.mark.parametrize("inputs", [MAX_INPUTS, MAX_INPUTS + 5, 3 * MAX_INPUTS])
def test_many_inputs_are_spread_over_programs(inputs):
    b, F, x = start()
    for i in range(inputs - 1):
        x = x + b.value(b.variable(f"v{i}", spec(3, 4)))
    fused_graph = fused(b.finish([x.entry]))
    assert all(len(n.inputs) <= MAX_INPUTS for n in fused_graph.nodes)
    assert len(groups(fused_graph)) == -(-(inputs - 1) // (MAX_INPUTS - 1))


def test_many_steps_and_outputs_are_spread_over_programs():
    b, F, x = start()
    outputs = []
    for i in range(100):
        x = F.sin(x)
        if i % 4 == 0:
            outputs.append(x.entry)
    fused_graph = fused(b.finish(outputs))
    assert set(fused_graph.count_ops()) <= {"_fused_pointwise", "sin"}
    assert all(n.count <= MAX_OUTPUTS for n in fused_graph.nodes)


def test_programs_are_printed_on_demand(capfd):
    b, F, x = start()
    graph = b.finish([F.sin(F.exp(x)).entry, F.sin(F.exp(F.softmax(x))).entry])
    fuse.run(graph, target(MXNET_RTC_VERBOSE=True))
    assert capfd.readouterr().err.count("exp 0; sin 1; -> 2") == 1
