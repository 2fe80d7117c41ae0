"""Variables that control how plans are built and run; test_graphs.py has those of passes."""

import math
import warnings

import numpy as np
import pytest

import mxcy as mx
from tests.env.networks import assert_same, chain, convolutions, dense, described, results
from tests.env.run import python

# --- memory -----------------------------------------------------------------------------------


def test_exec_enable_inplace(monkeypatch):
    net, shape = dense(10, 32), {"data": (64, 32)}
    before, values = described(net, True, **shape), results(net, **shape)
    monkeypatch.setenv("MXNET_EXEC_ENABLE_INPLACE", "0")
    after = described(net, True, **shape)
    assert before["inplace"] and not after["inplace"]
    assert after["bytes"] >= before["bytes"]
    assert_same(results(net, **shape), values)


def test_match_range(monkeypatch):
    """MXNet 1.9.1 needs 20 MB without sharing and 1 MB with it, in training 40 and 21."""
    net, shape, bytes_of = dense(), {"data": (512, 256)}, {}
    for most in ("0", "1", "2", "4", "8", "16"):
        monkeypatch.setenv("NNVM_EXEC_MATCH_RANGE", most)
        bytes_of[most] = [described(net, train, **shape)["bytes"] / 2**20 for train in (0, 1)]
    assert bytes_of["0"] == pytest.approx([20, 40], rel=0.03)
    assert bytes_of["16"] == pytest.approx([1, 21], rel=0.03)
    assert all(bytes_of["16"] <= actual for actual in bytes_of.values())
    monkeypatch.delenv("NNVM_EXEC_MATCH_RANGE")
    monkeypatch.setenv("MXNET_EXEC_MATCH_RANGE", "0")
    with warnings.catch_warnings():  # the deprecated name; only its first use in a process warns
        warnings.simplefilter("ignore")
        assert described(net, **shape)["bytes"] / 2**20 == bytes_of["0"][0]


_BRANCHES = """
import json, mxcy as mx
x = mx.sym.var("data")
net = mx.sym.Group([mx.sym.dot(mx.sym.dot(mx.sym.dot(x, x), x), x) for _ in range(2)])
found = net.simple_bind(mx.cpu(), grad_req="null", data=(16, 16)).describe()
print(json.dumps([len(found["buffers"]), found["bytes"]]))
"""


def test_exec_num_temp():
    """Two branches share no memory when there are two paths, and two workers to run them."""
    settings = {"MXNET_ELIMINATE_COMMON_EXPR": "0", "MXNET_EXEC_NUM_TEMP": "2"}
    one = python(_BRANCHES, **settings).value
    two = python(_BRANCHES, MXNET_CPU_WORKER_NTHREADS="2", **settings).value
    assert two[0] > one[0] and two[1] > one[1]
    settings["MXNET_EXEC_NUM_TEMP"] = "1"
    assert python(_BRANCHES, MXNET_CPU_WORKER_NTHREADS="2", **settings).value == one


@pytest.mark.parametrize("variable", ["MXNET_BACKWARD_DO_MIRROR", "MXNET_MEMORY_OPT"])
def test_mirror(monkeypatch, variable):
    """Training needs less memory and gives the same bits, running statistics included."""
    net, shape = convolutions(), {"data": (4, 16, 12, 12)}
    before, values = described(net, True, **shape), results(net, **shape)
    monkeypatch.setenv(variable, "1")
    after = described(net, True, **shape)
    assert {"relu0", "relu1"} <= {*after["recomputed"]} and not before["recomputed"]
    assert not any(name.startswith("conv") for name in after["recomputed"])
    output = 4 * math.prod(shape["data"])  # bytes of a layer's output
    assert after["bytes"] <= before["bytes"] - 2 * output
    assert_same(results(net, **shape), values)


def test_memory_opt_saves_at_least_as_much_as_mirroring(monkeypatch):
    net, shape, actual = convolutions(8), {"data": (4, 16, 12, 12)}, []
    for setting in ({}, {"MXNET_BACKWARD_DO_MIRROR": "1"}, {"MXNET_MEMORY_OPT": "1"}):
        with mx.test_utils.environment(setting):
            actual.append(described(net, True, **shape)["bytes"])
    assert actual[2] <= actual[1] < actual[0]


# --- segments -----------------------------------------------------------------------------------


def segments(is_train):
    pairs = described(chain(), is_train)["segments"]
    return len(pairs["forward"]), len(pairs["backward"])


def pushed(is_train):
    """The number of engine operations in the forward pass over a large array."""
    shape = (4200, 1000)  # heavy enough for a worker
    executor = chain().simple_bind(mx.cpu(), data=shape, grad_req="write" if is_train else "null")
    executor.forward(is_train=is_train)
    mx.nd.waitall()
    before = mx.engine.stats()["run"]
    executor.forward(is_train=is_train)
    mx.nd.waitall()
    return mx.engine.stats()["run"] - before


def test_bulk_inference(monkeypatch):
    monkeypatch.setenv("MXNET_USE_FUSION", "0")
    assert segments(False) == (1, 0) and pushed(False) == 1
    monkeypatch.setenv("MXNET_EXEC_BULK_EXEC_INFERENCE", "0")
    assert segments(False) == (18, 0) and pushed(False) == 18


def test_bulk_training(monkeypatch):
    monkeypatch.setenv("MXNET_USE_FUSION", "0")
    backward = described(chain(), True)["steps"] - 18

    def expected(forward_most, backward_most):
        return math.ceil(18 / forward_most), math.ceil(backward / backward_most)

    assert segments(True) == expected(15, 15) and pushed(True) == 2
    monkeypatch.setenv("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "5")
    assert segments(True) == expected(5, 5) and pushed(True) == 4
    monkeypatch.setenv("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD", "3")
    monkeypatch.setenv("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", "9")
    assert segments(True) == expected(3, 9)
    monkeypatch.setenv("MXNET_EXEC_BULK_EXEC_TRAIN", "0")
    assert segments(True) == expected(1, 1)
    for way in ("MAX_NODE_TRAIN", "MAX_NODE_TRAIN_FWD", "MAX_NODE_TRAIN_BWD"):
        monkeypatch.delenv(f"MXNET_EXEC_BULK_EXEC_{way}")
    monkeypatch.delenv("MXNET_EXEC_BULK_EXEC_TRAIN")
    monkeypatch.setenv("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "0")
    assert segments(True) == expected(1, 1)


# --- what is printed ------------------------------------------------------------------------------


def test_verbose_logging(monkeypatch, capfd):
    x = mx.sym.var("data")
    net = mx.sym.dot(x, x, name="product")
    described(net, data=(4, 4))
    assert capfd.readouterr() == ("", "")
    monkeypatch.setenv("MXNET_EXEC_VERBOSE_LOGGING", "1")
    described(net, data=(4, 4))
    assert "0: dot product by " in capfd.readouterr().err
    monkeypatch.delenv("MXNET_EXEC_VERBOSE_LOGGING")
    monkeypatch.setenv("MXNET_MEM_PLAN_VERBOSE_LOGGING", "1")
    described(net, data=(4, 4))
    assert "total: " in capfd.readouterr().err
    monkeypatch.delenv("MXNET_MEM_PLAN_VERBOSE_LOGGING")
    monkeypatch.setenv("MXCY_VERBOSE", "dispatch,passes")
    described(net, data=(5, 5))
    told = capfd.readouterr().out
    assert "mxcy dispatch dot" in told and "mxcy pass cse" in told and "mxcy plan: " in told


_SENTENCES = """
import json, mxcy as mx
mx.random.seed(4)
net = mx.gluon.rnn.LSTM(6, input_size=5)
net.initialize()
net.hybridize(static_alloc=True, static_shape=True, inline_limit=0)
data = mx.nd.random.uniform(shape=(3, 2, 5))
results = [net(data).asnumpy().ravel().tolist()]
for parameter in net.collect_params().values():
    parameter.set_data(parameter.data() * 2 + 0.3)
results.append(net(data).asnumpy().ravel().tolist())
net.hybridize(False)
results.append(net(data).asnumpy().ravel().tolist())
print(json.dumps(results))
"""


def test_rnn_use_weight_cache():
    """New parameter values count at once; with 1, plans keep those of their first run."""
    for value in "01":
        done = python(_SENTENCES, MXNET_RNN_USE_WEIGHT_CACHE=value)
        before, after, eager = done.value
        assert np.abs(np.subtract(before, eager)).max() > 0.01
        np.testing.assert_allclose(after, before if value == "1" else eager, atol=1e-6)
        assert ("no effect" in done.err) == (value == "1")


# --- caches by signature ------------------------------------------------------------------------

_PLANS = """
import json, mxcy as mx
net = mx.gluon.nn.HybridSequential()
net.add(*(mx.gluon.nn.Dense(2, in_units=2, activation="tanh") for _ in range(3)))
net.initialize()
net.hybridize()
rows = [int(n) for n in {rows!r}.split()]
for n in rows:
    net(mx.nd.ones((n, 2))).wait_to_read()
(_, traced), = net._calls.traced()
plans = traced._cached._plans.values()
print(json.dumps([plan.planned.new_outputs(1)[0].shape[0] for plan in plans]))
"""


def test_cached_plans():
    """The least recently used plan is evicted."""
    assert len(python(_PLANS.format(rows="1 2 3 4 5 6")).value) == 6
    code = _PLANS.format(rows="1 2 3 4 2 5 6")
    assert sorted(python(code, MXCY_CACHED_PLANS="3").value) == [2, 5, 6]
    assert python(code, MXCY_CACHED_PLANS="1").value == [6]


_CALLS = """
import json, mxcy as mx
from mxcy.ops.core.record import find
record, prepared = find("exp"), []
infer = record._infer
record._infer = lambda *given: prepared.append(given) or infer(*given)
data = mx.nd.ones(200)
def new(sizes):
    before = len(prepared)
    for n in sizes:
        mx.nd.exp(data[:n])
    return len(prepared) - before
print(json.dumps([new(range(1, 201)), new(range(150, 201)), new(range(1, 201))]))
"""


def test_cached_calls():
    """Recent calls need no preparation; with a low limit, older ones are prepared again."""
    assert python(_CALLS).value == [200, 0, 0]
    first, lately, again = python(_CALLS, MXCY_CACHED_CALLS="120").value
    assert (first, lately) == (200, 0) and 100 <= again <= 200


_MANY = """
import gc, json, resource, mxcy as mx
net = mx.gluon.nn.HybridSequential()
net.add(*(mx.gluon.nn.Dense(4, flatten=False, in_units=4, activation="tanh") for _ in range(3)))
net.initialize()
if {hybrid}:
    net.hybridize()
data = mx.nd.ones(40000)
def objects(first, last):
    for i in range(first, last):
        a, b = 1 + i % 60, 1 + i // 60
        net(data[: a * b * 4].reshape((a, b, 4)))
    mx.nd.waitall()
    gc.collect()
    return len(gc.get_objects())
print(json.dumps([objects(0, 400), objects(400, 800)]))
"""


@pytest.mark.parametrize("hybrid", [True, False])
def test_many_shapes(hybrid):
    """Programs with ever new shapes do not grow."""
    settings = {"MXCY_CACHED_PLANS": "32", "MXCY_CACHED_CALLS": "64"}
    limited, free = [python(_MANY.format(hybrid=hybrid), **more).value for more in (settings, {})]
    assert limited[1] < 1.1 * limited[0] and limited[1] < 0.9 * free[1]
