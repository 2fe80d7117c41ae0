"""CUDA graphs: segments of plans are captured once and replayed, with the same results."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd, gluon
from mxcy.gpu import graphs
from tests.gpu.device.test_launches import counts
from tests.gpu.standin.seam import is_chosen

GPU = mx.gpu(0)
ROOT = str(Path(__file__).resolve().parents[3])


@pytest.fixture
def enabled(monkeypatch):
    monkeypatch.setenv("MXNET_ENABLE_CUDA_GRAPHS", "1")


def dense(ctx=GPU, layers=3):
    """Return layers with the same weights on all contexts."""
    net = gluon.nn.HybridSequential()
    for _ in range(layers):
        net.add(gluon.nn.Dense(6, in_units=6, activation="tanh"))
    net.initialize(mx.init.Zero(), ctx=ctx)
    rng = np.random.default_rng(0)
    for parameter in net.collect_params().values():
        parameter.set_data(mx.nd.array(rng.standard_normal(parameter.shape)))
    net.hybridize(static_alloc=True, static_shape=True)
    return net


def given(seed, rows=4):
    return np.random.default_rng(seed).standard_normal((rows, 6)).astype("float32")


def since(call):
    """Return the stand-in's counts during a call, and its result."""
    before, graphs_before = counts(), graphs.stats()
    result = call()
    after, graphs_after = counts(), graphs.stats()
    names = [name for name, _ in before._fields_]
    found = {name: getattr(after, name) - getattr(before, name) for name in names}
    return {**found, **{k: graphs_after[k] - graphs_before[k] for k in graphs_after}}, result


def trained(ctx, steps):
    """Return losses of training steps, and the stand-in's counts in each."""
    net, losses, told = dense(ctx), [], []
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})
    data = mx.nd.array(given(1), ctx=ctx)

    def step():
        with autograd.record():
            loss = (net(data) ** 2).sum()
        loss.backward()
        trainer.step(1)
        return float(loss.asscalar())

    for _ in range(steps):
        work, loss = since(step) if is_chosen() else ({}, step())
        losses.append(loss)
        told.append(work)
    return losses, told


def test_graphs_are_replayed(enabled):
    net, x = dense(), mx.nd.array(given(2), ctx=GPU)
    expected = dense(mx.cpu())(mx.nd.array(given(2))).asnumpy()
    results, told = [], []
    for _ in range(4):
        work, result = since(lambda: net(x).asnumpy())
        results.append(result)
        told.append(work)
    for result in results:
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
    assert told[0]["captured"] == told[0]["graphs"] == 0
    assert told[1]["captured"] == told[1]["graphs"] == 1
    for work in told[2:]:
        assert (work["captured"], work["replayed"], work["graphs"]) == (0, 1, 1)
        assert work["launches"] < told[0]["launches"]
        assert work["taken"] == 0


def test_without_the_variable_nothing_is_captured():
    net, x = dense(), mx.nd.array(given(2), ctx=GPU)
    work, _ = since(lambda: [net(x).asnumpy() for _ in range(3)])
    assert work["captured"] == work["graphs"] == 0


def test_training(enabled):
    losses, told = trained(GPU, 5)
    np.testing.assert_allclose(losses, trained(mx.cpu(), 5)[0], rtol=1e-5)
    assert losses[-1] < losses[0]
    if is_chosen():
        for work in told[2:]:  # the first two steps allocate
            assert work["replayed"] >= 2  # forward and backward
            assert work["launches"] < told[0]["launches"]
            assert work["captured"] == work["taken"] == 0


def test_writes_between_replays_are_seen(enabled):
    """A replay sees data copied and weights set since the capture."""
    net, x = dense(layers=4), mx.nd.array(given(2), ctx=GPU)
    other, host = dense(mx.cpu(), layers=4), mx.nd.array(given(2))
    for seed in range(6):
        for array, one in ((x, net), (host, other)):
            array[:] = given(seed)
            one[0].weight.set_data(one[0].weight.data(array.context) * 0.5)
        np.testing.assert_allclose(net(x).asnumpy(), other(host).asnumpy(), rtol=1e-5, atol=1e-6)


def test_other_addresses_and_shapes_have_graphs_of_their_own(enabled):
    net, other = dense(), dense(mx.cpu())
    arrays = [mx.nd.array(given(seed, rows), ctx=GPU) for seed, rows in ((1, 4), (2, 4), (3, 5))]
    for _ in range(4):
        for x in arrays:
            expected = other(x.as_in_context(mx.cpu())).asnumpy()
            np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-5, atol=1e-6)


def test_two_addresses_in_turn(enabled):
    """The second run also captures the addresses of the first."""
    net, other = dense(), dense(mx.cpu())
    arrays = [mx.nd.array(given(seed), ctx=GPU) for seed in (1, 2)]
    expected = [other(x.as_in_context(mx.cpu())).asnumpy() for x in arrays]
    before = graphs.stats()
    for i in range(6):
        result = net(arrays[i % 2]).asnumpy()
        np.testing.assert_allclose(result, expected[i % 2], rtol=1e-5, atol=1e-6)
    after = graphs.stats()
    assert after["captured"] - before["captured"] == 2
    assert after["replayed"] - before["replayed"] == 4


def test_addresses_that_always_change_are_not_captured_for_ever(enabled):
    net, kept = dense(), []
    before = graphs.stats()["captured"]
    for seed in range(40):
        kept.append(mx.nd.array(given(seed), ctx=GPU))
        net(kept[-1]).wait_to_read()
    assert graphs.stats()["captured"] - before <= 17


def test_executors(enabled):
    a = mx.sym.var("a")
    symbol = mx.sym.dot(mx.sym.tanh(mx.sym.dot(a, a)), a)
    values = given(4, 6)
    results = {}
    for ctx in (mx.cpu(), GPU):
        executor = symbol.bind(
            ctx, {"a": mx.nd.array(values, ctx=ctx)}, {"a": mx.nd.zeros((6, 6), ctx=ctx)}
        )
        for _ in range(4):
            executor.forward(is_train=True)
            executor.backward(mx.nd.ones((6, 6), ctx=ctx))
        results[ctx] = [executor.outputs[0].asnumpy(), executor.grad_arrays[0].asnumpy()]
    for result, expected in zip(results[GPU], results[mx.cpu()], strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_graphs_wait_for_other_streams(enabled, seed):
    """Replays are ordered with work of other threads' streams."""
    from concurrent.futures import ThreadPoolExecutor

    from tests.gpu.device.test_streams import run_in

    net, other = dense(), dense(mx.cpu())
    x, host = mx.nd.array(given(7), ctx=GPU), mx.nd.array(given(7))
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: (x + 0).wait_to_read()).result()
        run_in(f"random:{seed}")
        for _ in range(6):
            pool.submit(mx.nd.broadcast_mul, x, mx.nd.full((1, 1), 0.5, ctx=GPU), out=x).result()
            y = net(x)
            z = pool.submit(lambda y=y: y * 2).result()
            host *= 0.5
            expected = 2 * other(host).asnumpy()
            np.testing.assert_allclose(z.asnumpy(), expected, rtol=1e-5, atol=1e-6)
        run_in("lazy")


PROGRAM = """
import sys
sys.path.insert(0, {root!r})
from tests.gpu.standin.seam import put_under_cupy
put_under_cupy()
import mxcy as mx
from tests.gpu.device.test_graphs import dense, given
for _ in range(3):
    net, x = dense(), mx.nd.array(given(2), ctx=mx.gpu(0))
    for _ in range(3):
        net(x).wait_to_read()
"""


def told(**variables):
    """Return what a process with three networks prints about graphs."""
    environment = {**os.environ, "MXNET_ENABLE_CUDA_GRAPHS": "1", **variables}
    program = [sys.executable, "-c", PROGRAM.format(root=ROOT)]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=True)
    return [line for line in done.stderr.splitlines() if "CUDA graph" in line]


def test_messages():
    lines = told(MXNET_CUDA_GRAPHS_VERBOSE="1")
    assert len(lines) == 3
    assert "CUDA graph 1 on gpu(0), inf: " in lines[0]
    assert "FullyConnected" in lines[0]
    assert len(told(MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES="2")) == 2
    assert told() == []


def test_files(tmp_path):
    for flags, name in (("", "all"), ("0", "few")):
        variables = {"MXNET_CUDA_GRAPHS_DBG_FILE": str(tmp_path / name)}
        told(**variables, MXNET_CUDA_GRAPHS_DBG_FILE_FLAGS=flags)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names[:3] == [f"all-dev0-inf.{number}.dot" for number in range(3)]
    texts = [(tmp_path / f"{name}-dev0-inf.0.dot").read_text("utf-8") for name in ("all", "few")]
    assert all(text.startswith("digraph") for text in texts)
    assert len(texts[1]) < len(texts[0])
