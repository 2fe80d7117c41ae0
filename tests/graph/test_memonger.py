"""mx.contrib.memonger: stages of a symbol."""

import math

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError


def mlp(layers, width=64, stage_every=None):
    x = mx.sym.Variable("data")
    for i in range(layers):
        x = mx.sym.FullyConnected(x, num_hidden=width, name=f"fc{i}")
        x = mx.sym.Activation(x, act_type="tanh", name=f"act{i}")
        if stage_every and i % stage_every == 0:
            x._set_attr(mirror_stage="True")
    return mx.sym.LinearRegressionOutput(x, mx.sym.Variable("label"), name="out")


SHAPES = {"data": (1024, 64), "label": (1024, 64)}  # a quarter of a megabyte per layer


def test_memory_grows_with_the_root():
    cost = {n: mx.contrib.memonger.get_cost(mlp(n), **SHAPES) for n in (16, 64, 256)}
    planned = {
        n: mx.contrib.memonger.get_cost(mx.contrib.memonger.search_plan(mlp(n), **SHAPES), **SHAPES)
        for n in cost
    }
    assert planned[64] < 0.5 * cost[64]
    assert 0.35 <= math.log(planned[256] / planned[16]) / math.log(16) <= 0.65


def marks(sym):
    return {name: attrs.get("__force_mirroring__") for name, attrs in sym.attr_dict().items()}


def test_only_borders_are_kept():
    actual = marks(mx.contrib.memonger.search_plan(mlp(16), **SHAPES))
    kept = [name for name, mark in actual.items() if mark == "False"]
    assert 2 <= len(kept) <= 6
    assert "__force_mirroring__" not in mlp(16).attr_dict().get("fc1", {})


def test_marked_stages_are_where_stages_end():
    plan_info = {}
    planned = mx.contrib.memonger.make_mirror_plan(
        mlp(16, stage_every=3), 1, plan_info=plan_info, **SHAPES
    )
    kept = {name for name, mark in marks(planned).items() if mark == "False"}
    assert kept and kept <= {f"act{i}" for i in range(0, 16, 3)}
    assert plan_info["max_size"] >= 1 and plan_info["save_size"] <= len(kept)


def test_gradients_are_the_same_bits():
    symbol, shapes = mlp(9, 8), {"data": (4, 8), "label": (4, 8)}
    planned = mx.contrib.memonger.make_mirror_plan(symbol, 0, **shapes)
    assert "True" in marks(planned).values()
    collected = []
    for each in (symbol, planned):
        executor = each.simple_bind(mx.cpu(), **shapes)
        rng = np.random.default_rng(1)
        for array in executor.arg_arrays:
            array[:] = mx.nd.array(rng.uniform(-1, 1, array.shape))
        executor.forward(is_train=True)
        executor.backward()
        collected.append([g.asnumpy() for g in executor.grad_arrays if g is not None])
    for got, want in zip(*collected, strict=True):
        np.testing.assert_array_equal(got, want)


def test_unknown_arguments_are_refused():
    with pytest.raises(MXNetError, match="no argument dta"):
        mx.contrib.memonger.search_plan(mlp(2), dta=(2, 64))


def trained_block(mirror):
    """A hybridized block's gradients and the bytes of its plan."""
    mx.random.seed(5)
    net = mx.gluon.nn.HybridSequential()
    for _ in range(36):
        net.add(mx.gluon.nn.Dense(16, activation="tanh", in_units=16))
    net.initialize()
    net.hybridize(mirror=mirror)
    x = mx.nd.array(np.random.default_rng(2).uniform(-1, 1, (256, 16)))
    parameters = list(net.collect_params().values())
    with mx.autograd.record():
        loss = net(x).sum()
    loss.backward()
    (traced,) = (traced for _, traced in net._calls._traced)
    with mx.autograd.record():
        actual = traced._cached.plan(x, *(p.data() for p in parameters))
    return [p.grad().asnumpy() for p in parameters], actual.arena


def test_hybridized_blocks_in_stages():
    (plain, bytes_plain), (staged, bytes_staged) = trained_block(None), trained_block("sqrt")
    assert bytes_staged < 0.6 * bytes_plain
    for got, want in zip(staged, plain, strict=True):
        np.testing.assert_array_equal(got, want)


def test_other_kinds_of_mirroring_are_refused():
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(4), mx.gluon.nn.Dense(4), mx.gluon.nn.Dense(4))
    net.initialize()
    net.hybridize(mirror="cube")
    with pytest.raises(MXNetError, match="mirror must be None or 'sqrt', got cube"):
        net(mx.nd.ones((2, 3)))
