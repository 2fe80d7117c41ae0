"""Plans on the native runner: random graphs, with every combination of passes and settings."""

import itertools
import random

import numpy as np
import pytest

import mxcy as mx
from mxcy._execute.planned import Planned, target
from mxcy._library import front
from mxcy.graph.builder import Builder
from mxcy.graph.evaluate import evaluate
from mxcy.graph.gradient import gradient
from mxcy.graph.planning.plan import make_plan
from tests.graph.graphs import FLOAT, random_graph, spec, values_for
from tests.graph.test_mirror import conv_net

SETTINGS = {
    "MXNET_EXEC_ENABLE_INPLACE": "10",
    "NNVM_EXEC_MATCH_RANGE": ("0", "16"),
    "MXNET_ELIMINATE_COMMON_EXPR": "10",
    "MXNET_USE_FUSION": "10",
    "MXNET_BACKWARD_DO_MIRROR": "01",
}


def run(graph, optimized=True, states=None):
    """The outputs of a graph's plan; `states` receives the variables' final values."""
    planned = Planned(graph, mx.cpu(), optimized)
    values = values_for(graph)
    arrays = [front.from_numpy(values[n].copy(), FLOAT, mx.cpu()) for n in planned.variables]
    arrays += planned.new_outputs()
    arena = planned.new_arena()
    planned.forward(arrays, arena)
    planned.backward(arrays, arena)
    if states is not None:
        states.update(zip(planned.variables, (a.numpy_view() for a in arrays), strict=False))
    return [array.numpy_view() for array in arrays[len(planned.variables) :]]


@pytest.mark.parametrize("seed", range(24))
def test_random_graphs(seed, monkeypatch):
    rng = random.Random(1000 + seed)
    graph = random_graph(rng, rng.randrange(5, 30))
    training = gradient(graph, graph.variables(), has_head_grad=[False] * len(graph.outputs))
    wanted = evaluate(training, values_for(training))[0]
    chosen = list(itertools.product(*SETTINGS.values()))
    for values in rng.sample(chosen, 4):
        for name, value in zip(SETTINGS, values, strict=True):
            monkeypatch.setenv(name, value)
        for results in (run(training), run(training, optimized=False), run(graph)):
            for got, want in zip(results, wanted, strict=False):
                np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-4, err_msg=str(values))


@pytest.mark.parametrize("setting", ["MXNET_BACKWARD_DO_MIRROR", "MXNET_MEMORY_OPT"])
def test_mirrored_networks_give_the_same_bits(setting, monkeypatch):
    """Gradients, and running statistics, which are updated once."""
    graph, plain, mirrored = conv_net(), {}, {}
    wanted = run(graph, states=plain)
    monkeypatch.setenv(setting, "1")
    assert Planned(graph, mx.cpu()).describe()["recomputed"]
    actual = run(graph, states=mirrored)
    for got, want in zip([*actual, *mirrored.values()], [*wanted, *plain.values()], strict=True):
        np.testing.assert_array_equal(got, want)
    before = values_for(graph)
    assert not np.array_equal(plain["moving_mean0"], before["moving_mean0"])


@pytest.mark.parametrize("shape", [(0, 3), (), (1,)])
def test_small_and_empty_arrays(shape):
    b = Builder(train=True)
    F, x = b.values, b.value(b.variable("x", spec(*shape)))
    out = F.sin(F.exp(x * 2.0)) + F.square(x)
    graph = gradient(b.finish([out.entry]), [x.entry[0]], has_head_grad=[False])
    wanted = evaluate(graph, values_for(graph))[0]
    for got, want in zip(run(graph), wanted, strict=True):
        assert got.shape == shape
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_each_plan_keeps_its_own_constants():
    pairs = []
    for count, dtype in ((4, "float32"), (3, "float32"), (4, "int32")):
        x = mx.sym.var("x", dtype=dtype)
        out = mx.sym.elemwise_add(x, mx.sym.square(mx.sym.arange(count, dtype=dtype)))
        data = mx.nd.ones((count,), dtype=dtype)
        pairs.append((out.bind(mx.cpu(), {"x": data}), np.arange(count) ** 2 + 1))
    for executor, expected in pairs + pairs:
        assert executor.forward()[0].asnumpy().tolist() == expected.tolist()


@pytest.mark.parametrize("training", [False, True])
def test_reshapes_before_outputs_copy_nothing(training):
    b = Builder(train=True)
    F, x = b.values, b.value(b.variable("x", spec(4, 6)))
    squares, rows = F.square(x), F.Reshape(F.expand_dims(F.exp(x), axis=0), shape=(2, 12))
    again = F.Reshape(squares, shape=(24,))
    graph = b.finish([rows.entry, again.entry, squares.entry])
    if training:
        graph = gradient(graph, [x.entry[0]], has_head_grad=[False] * 3)
    for got, want in zip(run(graph), evaluate(graph, values_for(graph))[0], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)
    steps = make_plan(graph, target(mx.cpu())).steps
    copies = [step for step in steps if step.call.op.identity]
    # exp(x) is read by the backward pass, and squares are an output, too.
    assert len(copies) == (2 if training else 1)


def test_returned_layers_need_little_more_than_their_results():
    x = mx.sym.var("data")
    layers = []
    for number in range(8):
        x = mx.sym.Convolution(x, kernel=(3, 3), pad=(1, 1), num_filter=32, name=f"conv{number}")
        layers.append(x)
    executor = mx.sym.Group(layers).simple_bind(mx.cpu(), data=(1, 32, 32, 32), grad_req="null")
    returned = sum(array.size * 4 for array in executor.outputs)
    assert executor._planned(False, False).plan.arena <= returned // 2
