"""Constant folding."""

import numpy as np
import pytest

from mxcy.graph.builder import Builder
from mxcy.graph.evaluate import evaluate
from mxcy.graph.passes import fold
from mxcy.graph.planning.plan import ONCE
from mxcy.graph.verify import verify
from tests.graph.graphs import spec, target, values_for


def folded(b, *outputs):
    graph = b.finish(list(outputs))
    rewritten = verify(fold.run(graph, target()), "fold")
    values = values_for(graph)
    for got, want in zip(evaluate(rewritten, values)[0], evaluate(graph, values)[0], strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
    return rewritten


def test_ranges_become_constants():
    b = Builder()
    x = b.variable("x", spec(5))
    steps = b.add("_arange", {"start": 0, "stop": 5}, [])
    folded_graph = folded(b, b.add("elemwise_add", {}, [x, b.add("square", {}, [steps])]))
    assert folded_graph.count_ops() == {"_constant": 1, "elemwise_add": 1}
    (constant,) = (node for node in folded_graph.nodes if node.op and node.op.name == "_constant")
    assert ONCE in constant.extra


def test_equal_elements_become_full():
    b = Builder()
    x = b.variable("x", spec(3, 4))
    two = b.add("_mul_scalar", {"scalar": 2.0}, [b.add("_ones", {"shape": (3, 4)}, [])])
    folded_graph = folded(b, b.add("elemwise_add", {}, [x, two]))
    assert folded_graph.count_ops() == {"_full": 1, "elemwise_add": 1}


def test_arrays_read_for_their_shape_are_not_computed():
    b = Builder()
    x = b.variable("x", spec(3, 4))
    zeros = b.add("zeros_like", {}, [b.add("exp", {}, [x])])
    folded_graph = folded(b, b.add("elemwise_add", {}, [x, zeros]))
    assert folded_graph.count_ops() == {"_full": 1, "elemwise_add": 1}


def test_several_outputs():
    b = Builder()
    x = b.variable("x", spec(2))
    steps = b.add("_arange", {"start": 0, "stop": 4}, [])
    number, _ = b.add("SliceChannel", {"num_outputs": 2, "axis": 0}, [steps])
    total = b.add("elemwise_add", {}, [(number, 1), x])
    folded_graph = folded(b, total, b.add("elemwise_mul", {}, [(number, 0), total]))
    assert folded_graph.count_ops() == {"_constant": 2, "elemwise_add": 1, "elemwise_mul": 1}


def test_an_output_does_not_run_only_once():
    b = Builder()
    folded_graph = folded(b, b.add("square", {}, [b.add("_arange", {"start": 0, "stop": 5}, [])]))
    assert folded_graph.count_ops() == {"_constant": 1} and ONCE not in folded_graph.nodes[0].extra


@pytest.mark.parametrize("what", ["variable", "random", "large", "nothing"])
def test_nodes_that_are_not_folded(what):
    b = Builder()
    if what == "variable":
        out = b.add("exp", {}, [b.variable("x", spec(3))])
    elif what == "random":
        out = b.add("exp", {}, [b.add("_random_uniform", {"shape": (3,)}, [])])
    elif what == "large":
        out = b.add("exp", {}, [b.add("_arange", {"start": 0, "stop": 10000}, [])])
    else:
        out = b.add("_ones", {"shape": (3,)}, [])
    graph = b.finish([out])
    assert fold.run(graph, target()) is graph


def test_long_results_stay():
    b = Builder()
    out = b.add("exp", {}, [b.add("_arange", {"start": 0, "stop": 2000}, [])])
    graph = b.finish([out])
    assert fold.run(graph, target()) is graph
