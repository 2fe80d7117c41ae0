"""Plans on the native runner: random graphs, with every combination of passes and settings."""

import itertools
import random

import numpy as np
import pytest

import mxcy as mx
from mxcy import _front
from mxcy.graph.evaluate import evaluate
from mxcy.graph.gradient import gradient
from mxcy.planned import Planned
from tests.graph.graphs import FLOAT, random_graph, values_for

SETTINGS = {
    "MXNET_EXEC_ENABLE_INPLACE": "10",
    "NNVM_EXEC_MATCH_RANGE": ("0", "16"),
    "MXNET_ELIMINATE_COMMON_EXPR": "10",
    "MXNET_USE_FUSION": "10",
    "MXNET_BACKWARD_DO_MIRROR": "01",
}


def run(graph, optimized=True):
    """The outputs of a graph by its plan."""
    planned = Planned(graph, mx.cpu(), optimized)
    values = values_for(graph)
    arrays = [_front.from_numpy(values[n].copy(), FLOAT, mx.cpu()) for n in planned.variables]
    arrays += planned.new_outputs()
    arena = planned.new_arena()
    planned.forward(arrays, arena)
    planned.backward(arrays, arena)
    return [array.numpy_view() for array in arrays[len(planned.variables) :]]


@pytest.mark.parametrize("seed", range(24))
def test_random_graphs(seed, monkeypatch):
    rng = random.Random(1000 + seed)
    graph = random_graph(rng, rng.randrange(5, 30))
    training = gradient(graph, graph.variables(), given=[False] * len(graph.outputs))
    wanted = evaluate(training, values_for(training))[0]
    chosen = list(itertools.product(*SETTINGS.values()))
    for values in rng.sample(chosen, 4):
        for name, value in zip(SETTINGS, values, strict=True):
            monkeypatch.setenv(name, value)
        for made in (run(training), run(training, optimized=False), run(graph)):
            for got, want in zip(made, wanted, strict=False):
                np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-4, err_msg=str(values))
