"""Any pass, on or off: the same outputs and gradients, on random graphs."""

import random

import numpy as np
import pytest

from mxcy.graph.evaluate import evaluate
from mxcy.graph.gradient import gradient
from mxcy.graph.passes import cse, dce, fold, simplify
from mxcy.graph.verify import verify
from tests.graph.graphs import random_graph, target, values_for

PASSES = {"cse": cse.run, "dce": dce.run, "fold": fold.run, "simplify": simplify.run}
GRAPHS = 200


def training_graph(seed):
    rng = random.Random(seed)
    graph = random_graph(rng, rng.randrange(5, 25))
    return graph, gradient(graph, graph.variables(), given=[False] * len(graph.outputs))


def results(graph):
    return evaluate(graph, values_for(graph))[0]


def assert_same(found, wanted, after):
    for got, want in zip(found, wanted, strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5, err_msg=after)


@pytest.mark.parametrize("first", range(0, GRAPHS, 20))
def test_passes_keep_outputs_and_gradients(first):
    for seed in range(first, first + 20):
        graph, training = training_graph(seed)
        rng = random.Random(seed)
        plain, both = results(graph), results(training)
        assert_same(both[: len(plain)], plain, "gradient")
        for name, run in PASSES.items():
            if name != "simplify":
                changed = verify(run(training, target()), name)
                assert_same(results(changed), both, f"{name}, seed {seed}")
            changed = verify(run(graph, target()), name)
            assert_same(results(changed), plain, f"{name}, seed {seed}")
        order = [name for name in PASSES if name != "simplify"]
        rng.shuffle(order)
        for name in order:
            training = verify(PASSES[name](training, target()), name)
        assert_same(results(training), both, f"{order}, seed {seed}")
