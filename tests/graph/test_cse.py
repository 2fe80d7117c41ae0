"""Common subexpressions and dead code."""

import pytest

from mxcy.graph.builder import Builder
from mxcy.graph.gradient import gradient
from mxcy.graph.passes import cse, dce
from mxcy.graph.verify import verify
from tests.graph.graphs import spec, target


def squares(operator="exp", **attrs):
    """operator(x) * operator(x), built from three nodes."""
    b = Builder(train=True)
    x = b.variable("x", spec(3, 4))
    both = [b.add(operator, dict(attrs), [x]) for _ in range(2)]
    return b.finish([b.add("elemwise_mul", {}, both)])


def test_equal_nodes_are_merged():
    graph = cse.run(squares(), target())
    verify(graph, "cse")
    assert graph.count_ops() == {"exp": 1, "elemwise_mul": 1}


def test_merging_can_be_switched_off():
    graph = squares()
    assert cse.run(graph, target(MXNET_ELIMINATE_COMMON_EXPR=False)) is graph


def test_merging_continues_with_nodes_that_become_equal():
    b = Builder()
    x = b.variable("x", spec(3, 4))
    ends = [b.add("sin", {}, [b.add("exp", {}, [x])]) for _ in range(3)]
    graph = cse.run(b.finish([b.add("add_n", {}, ends)]), target())
    assert graph.count_ops() == {"exp": 1, "sin": 1, "add_n": 1}


@pytest.mark.parametrize(
    ("operator", "attrs"), [("Dropout", {"p": 0.5}), ("_random_uniform_like", {})]
)
def test_random_nodes_stay(operator, attrs):
    graph = squares(operator, **attrs)
    assert cse.run(graph, target()) is graph


def test_different_attributes_and_numbers_stay():
    b = Builder()
    x = b.variable("x", spec(3, 4))
    entries = [b.add("_mul_scalar", {"scalar": s}, [x]) for s in (2.0, 3.0, 2.0)]
    entries += [b.add("softmax", {"axis": axis}, [x]) for axis in (0, 1)]
    graph = cse.run(b.finish([b.add("add_n", {}, entries)]), target())
    assert graph.count_ops() == {"_mul_scalar": 2, "softmax": 2, "add_n": 1}


def test_readers_of_written_variables_stay():
    b = Builder()
    weight, step, momentum = (b.variable(n, spec(4)) for n in ("weight", "step", "momentum"))
    before = b.add("exp", {}, [momentum])
    moved = b.add("sgd_mom_update", {"lr": 0.1}, [weight, step, momentum])
    after = b.add("exp", {}, [momentum])
    graph = b.finish([before, moved, after])
    assert cse.run(graph, target()) is graph


def test_outputs_stay_apart():
    b = Builder()
    x = b.variable("x", spec(3, 4))
    graph = b.finish([b.add("exp", {}, [x]), b.add("exp", {}, [x])])
    assert cse.run(graph, target()) is graph


def test_backward_nodes_join_forward_ones_that_are_kept_anyway():
    """exp's gradient reads exp's output; sin's gradient computes a separate cosine."""
    b = Builder()
    x = b.variable("x", spec(3, 4))
    y = b.add("exp", {}, [b.add("sin", {}, [x])])
    unused_later = b.add("cos", {}, [x])
    out = b.add("elemwise_add", {}, [y, b.add("BlockGrad", {}, [unused_later])])
    training = gradient(b.finish([out]), [x[0]])
    assert training.count_ops()["cos"] == 2
    assert cse.run(training, target()).count_ops()["cos"] == 2  # the first ends in the forward pass

    b = Builder()
    x = b.variable("x", spec(3, 4))
    cosine = b.add("cos", {}, [x])
    out = b.add("elemwise_mul", {}, [b.add("sin", {}, [x]), b.add("sin", {}, [cosine])])
    training = gradient(b.finish([out]), [x[0]])
    merged = cse.run(training, target())
    # sin(cos(x)) makes the backward pass keep cos(x), which is sin(x)'s derivative as well
    assert merged.count_ops()["cos"] == training.count_ops()["cos"] - 1
    assert merged.forward == training.forward


def test_dead_nodes_are_left_out():
    b = Builder()
    x, unused = b.variable("x", spec(3, 4)), b.variable("unused", spec(3, 4))
    b.add("exp", {}, [unused])
    out = b.add("sin", {}, [x])
    b.add("cos", {}, [out])
    graph = dce.run(b.finish([out]), target())
    verify(graph, "dce")
    assert [node.name for node in graph.nodes] == ["x", "sin_0"]
    assert dce.run(graph, target()) is graph


def test_the_border_of_the_forward_pass_moves_along():
    b = Builder()
    x = b.variable("x", spec(3, 4))
    b.add("exp", {}, [x])
    training = gradient(b.finish([b.add("sin", {}, [x])]), [x[0]])
    graph = dce.run(training)
    assert graph.forward == training.forward - 1
    assert {n.op.name for n in graph.nodes[graph.forward :]} >= {"cos"}


def test_operators_that_write_variables_live():
    b = Builder()
    weight, step, momentum = (b.variable(n, spec(4)) for n in ("weight", "step", "momentum"))
    b.add("sgd_mom_update", {"lr": 0.1}, [weight, step, momentum])
    graph = b.finish([b.add("exp", {}, [weight])])
    assert dce.run(graph) is graph
