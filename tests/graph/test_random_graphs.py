"""Passes on and off give the same outputs and gradients on random graphs."""

import random

import numpy as np
import pytest

from mxcy.graph.evaluate import evaluate
from mxcy.graph.gradient import gradient
from mxcy.graph.passes import cse, dce, fold, fuse, mirror, simplify
from mxcy.graph.verify import verify
from tests.graph.graphs import random_graph, target, values_for

#: passes of all graphs; in inference also `simplify`
PASSES = {each.__name__.rpartition(".")[2]: each.run for each in (cse, dce, fold, fuse, mirror)}
MACHINE = target(MXNET_BACKWARD_DO_MIRROR=True)
GRAPHS = 200


def training_graph(seed):
    rng = random.Random(seed)
    graph = random_graph(rng, rng.randrange(5, 25))
    return graph, gradient(graph, graph.variables(), has_head_grad=[False] * len(graph.outputs))


def results(graph):
    return evaluate(graph, values_for(graph))[0]


def assert_same(actual, wanted, after):
    for got, want in zip(actual, wanted, strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5, err_msg=after)


@pytest.mark.parametrize("first", range(0, GRAPHS, 20))
def test_passes_keep_outputs_and_gradients(first):
    for seed in range(first, first + 20):
        graph, training = training_graph(seed)
        rng = random.Random(seed)
        plain, both = results(graph), results(training)
        assert_same(both[: len(plain)], plain, "gradient")
        for name, run in [*PASSES.items(), ("simplify", simplify.run)]:
            changed = verify(run(graph, MACHINE), name)
            assert_same(results(changed), plain, f"{name}, seed {seed}")
        for name, run in PASSES.items():
            changed = verify(run(training, MACHINE), name)
            assert_same(results(changed), both, f"{name}, seed {seed}")
        order = rng.sample(sorted(PASSES), len(PASSES))
        for name in order:
            training = verify(PASSES[name](training, MACHINE), name)
        assert_same(results(training), both, f"{order}, seed {seed}")
