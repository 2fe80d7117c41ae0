"""Variables that decide how graphs are planned and run."""

import json
import math
import warnings

import numpy as np
import pytest

import mxcy as mx
from mxcy._library import onednn
from tests.env.run import python


def chain(count=18):
    """Elementwise operators, one after the other."""
    out = mx.sym.var("data")
    for i in range(count):
        out = mx.sym.sin(out) if i % 2 else mx.sym.tanh(out)
    return out


def dense(layers=40, width=256):
    out = mx.sym.var("data")
    for _ in range(layers):
        out = mx.sym.Activation(mx.sym.FullyConnected(out, num_hidden=width), act_type="relu")
    return out


def convolutions(blocks=4, train_norm=True):
    out = mx.sym.var("data")
    for i in range(blocks):
        out = mx.sym.Convolution(
            out, kernel=(3, 3), pad=(1, 1), num_filter=16, no_bias=True, name=f"conv{i}"
        )
        if train_norm:
            out = mx.sym.BatchNorm(out, fix_gamma=False, name=f"norm{i}")
        out = mx.sym.Activation(out, act_type="relu", name=f"relu{i}")
    return out


def described(symbol, is_train=False, **shapes):
    grads = "write" if is_train else "null"
    executor = symbol.simple_bind(mx.cpu(), grad_req=grads, **(shapes or {"data": (4, 5)}))
    return executor.describe(is_train)


def results(symbol, **shapes):
    """Outputs, gradients and states after a step of training."""
    executor = symbol.simple_bind(mx.cpu(), **shapes)
    random = np.random.default_rng(0)
    for array in executor.arg_arrays:
        array[:] = random.normal(size=array.shape) * 0.3
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones(executor.outputs[0].shape))
    arrays = [*executor.outputs, *executor.grad_arrays, *executor.aux_arrays]
    return [array.asnumpy() for array in arrays]


def predictions(symbol, **shapes):
    """Outputs in prediction mode."""
    executor = symbol.simple_bind(mx.cpu(), grad_req="null", **shapes)
    random = np.random.default_rng(0)
    for array in executor.arg_arrays:
        array[:] = random.normal(size=array.shape) * 0.3
    return [array.asnumpy() for array in executor.forward()]


def assert_same(found, expected, rtol=0.0):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol, atol=rtol)


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
    assert all(bytes_of["16"] <= found for found in bytes_of.values())
    monkeypatch.delenv("NNVM_EXEC_MATCH_RANGE")
    monkeypatch.setenv("MXNET_EXEC_MATCH_RANGE", "0")
    with warnings.catch_warnings():  # the old name; only its first use in a process warns
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
    assert after["bytes"] <= 0.75 * before["bytes"]
    assert_same(results(net, **shape), values)


def test_memory_opt_saves_at_least_as_much_as_mirroring(monkeypatch):
    net, shape, found = convolutions(8), {"data": (4, 16, 12, 12)}, []
    for setting in ({}, {"MXNET_BACKWARD_DO_MIRROR": "1"}, {"MXNET_MEMORY_OPT": "1"}):
        with mx.test_utils.environment(setting):
            found.append(described(net, True, **shape)["bytes"])
    assert found[2] <= found[1] < found[0]


# --- segments -----------------------------------------------------------------------------------


def segments(is_train):
    pairs = described(chain(), is_train)["segments"]
    return len(pairs["forward"]), len(pairs["backward"])


def pushed(is_train):
    """How many operations of the engine the forward pass over a large array is."""
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


# --- passes -------------------------------------------------------------------------------------


def operators(symbol, **shapes):
    """The operators of the plan in prediction mode, from its text."""
    executor = symbol.simple_bind(mx.cpu(), grad_req="null", **shapes)
    lines = [line for line in executor.debug_str().splitlines() if " by " in line]
    return [line.split(": ")[1].split(" by ")[0] for line in lines]


def test_eliminate_common_expr(monkeypatch):
    monkeypatch.setenv("MXNET_USE_FUSION", "0")
    x = mx.sym.var("data")
    net = mx.sym.exp(x) * mx.sym.exp(x)
    assert operators(net, data=(2, 3)).count("exp") == 1
    drawn = mx.sym.random.uniform(shape=(2, 3)) + mx.sym.random.uniform(shape=(2, 3))
    assert len(operators(drawn)) == 3
    monkeypatch.setenv("MXNET_ELIMINATE_COMMON_EXPR", "0")
    assert operators(net, data=(2, 3)).count("exp") == 2


def test_use_fusion(monkeypatch, capfd):
    net = chain(10)
    monkeypatch.setenv("MXNET_RTC_VERBOSE", "1")
    found = described(net)
    assert [len(group) for group in found["fused"]] == [10] and found["steps"] == 1
    program = capfd.readouterr().err
    assert program.count("sin") == 5 and program.count("tanh") == 5
    monkeypatch.delenv("MXNET_RTC_VERBOSE")
    values = results(net, data=(4, 5))
    assert "tanh" not in capfd.readouterr().err
    monkeypatch.setenv("MXNET_USE_FUSION", "0")
    found = described(net)
    assert not found["fused"] and found["steps"] == 10
    for one, other in zip(results(net, data=(4, 5)), values, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_gradient_sums():
    """From eight summands on, gradients are added one after the other; a fresh process each."""
    code = (
        "import mxcy as mx, json\n"
        "x = mx.sym.var('data')\n"
        "net = mx.sym.concat(*[mx.sym.dot(x, x, transpose_b=i % 2) for i in range(3)])\n"
        "executor = net.simple_bind(mx.cpu(), data=(4, 4))\n"
        "steps = [s.call.op.name for s in executor.plan(True).steps]\n"
        "print(json.dumps([steps.count('add_n'), steps.count('elemwise_add')]))\n"
    )
    wide = python(code, MXNET_USE_FUSION="0", MXNET_ELIMINATE_COMMON_EXPR="0").value
    narrow = python(
        code,
        MXNET_USE_FUSION="0",
        MXNET_ELIMINATE_COMMON_EXPR="0",
        MXNET_EXEC_INPLACE_GRAD_SUM_CAP="2",
    ).value
    assert wide[0] == 1 and narrow[0] == 0 and narrow[1] == wide[1] + 5


_SWITCHES = (
    "CONV_OPT",
    "FUSE_CONV_BN",
    "FUSE_CONV_RELU",
    "FUSE_CONV_SUM",
    "FC_OPT",
    "FC_SUM",
    "FUSE_FC_ELTWISE",
)


def _layers():
    """A residual block of convolutions, and one of dense layers."""
    x = mx.sym.var("data")
    options = {"kernel": (3, 3), "pad": (1, 1), "num_filter": 16, "no_bias": True}
    out = mx.sym.BatchNorm(mx.sym.Convolution(x, **options), fix_gamma=False)
    out = mx.sym.relu(mx.sym.Convolution(out, **options) + x)
    flat = mx.sym.Flatten(out)
    out = mx.sym.FullyConnected(flat, num_hidden=256)
    return mx.sym.relu(mx.sym.FullyConnected(out, num_hidden=256) + out)


@pytest.mark.skipif(onednn.version() is None, reason="dense layers are fused by oneDNN only")
@pytest.mark.parametrize("part", _SWITCHES)
def test_each_fusion_has_a_switch(monkeypatch, part):
    """Without a pattern there are more operators, or fewer fused ones."""
    shape = {"data": (16, 16, 8, 8)}
    monkeypatch.setenv("MXNET_USE_FUSION", "0")
    before = operators(_layers(), **shape)
    monkeypatch.setenv(f"MXNET_DISABLE_ONEDNN_{part}", "1")
    after = operators(_layers(), **shape)
    fused = "_sg_onednn_conv" if "CONV" in part else "_sg_onednn_fully_connected"
    assert before.count(fused) == 2
    if part.endswith("OPT"):
        assert after.count(fused) == 0
    else:
        assert len(after) > len(before) and after.count(fused) == 2


def test_products_have_switches(monkeypatch):
    x, y = mx.sym.var("x"), mx.sym.var("y")
    shape = {"x": (2, 5, 12), "y": (6, 5, 7)}
    heads = mx.sym.reshape(x, shape=(0, 0, 3, 4))
    scores = mx.sym.batch_dot(*[mx.sym.swapaxes(heads, 1, 2)] * 2, transpose_b=True)
    plain = mx.sym.batch_dot(mx.sym.swapaxes(y, 1, 2), y)
    net = mx.sym.Group([scores, plain])

    def found():
        kinds = operators(net, **shape)
        return [kinds.count(kind) for kind in ("_strided_dot", "batch_dot", "SwapAxis")]

    values = predictions(net, **shape)
    assert found() == [1, 1, 0]
    monkeypatch.setenv("MXNET_DISABLE_ONEDNN_TRANSFORMER_OPT", "1")
    assert found() == [0, 2, 1]
    assert_same(predictions(net, **shape), values, 1e-5)
    monkeypatch.setenv("MXNET_DISABLE_ONEDNN_BATCH_DOT_FUSE", "1")
    assert found() == [0, 2, 2]
    assert_same(predictions(net, **shape), values, 1e-5)
    monkeypatch.delenv("MXNET_DISABLE_ONEDNN_TRANSFORMER_OPT")
    assert found() == [1, 1, 1]


def test_scaled_power(monkeypatch):
    x = mx.sym.var("x")
    net = mx.sym.abs(x) ** 1.5 * 3
    branched = mx.sym.Group([(mid := mx.sym.abs(x) ** 1.5) * 3, mx.sym.sum(mid)])
    monkeypatch.setenv("MXNET_USE_FUSION", "0")
    values = predictions(net, x=(3, 4))
    assert operators(net, x=(3, 4)) == ["abs", "_fused_pointwise"]
    assert "_fused_pointwise" not in operators(branched, x=(3, 4))
    monkeypatch.setenv("MXNET_DISABLE_ONEDNN_POW_MUL_SCALAR_OPT", "1")
    assert operators(net, x=(3, 4)) == ["abs", "_power_scalar", "_mul_scalar"]
    assert_same(predictions(net, x=(3, 4)), values, 1e-5)


def test_undone_casts(monkeypatch):
    x = mx.sym.var("x")

    def around(between, last="float32"):
        middle = mx.sym.expand_dims(mx.sym.cast(x, dtype=between), axis=1)
        return mx.sym.exp(mx.sym.cast(middle, dtype=last)), middle

    net, middle = around("float64")
    values = predictions(net, x=(3, 4))
    assert operators(net, x=(3, 4)).count("Cast") == 0
    for kept in (
        mx.sym.Group([net, middle]),
        around("float16")[0],
        around("float64", "float16")[0],
    ):
        assert operators(kept, x=(3, 4)).count("Cast") == 2
    assert "Cast" not in net.optimize_for("ONEDNN", {"x": mx.nd.zeros((3, 4))}).tojson()
    monkeypatch.setenv("MXNET_DISABLE_REMOVE_CASTS_PROPERTY", "1")
    assert operators(net, x=(3, 4)).count("Cast") == 2
    assert_same(predictions(net, x=(3, 4)), values, 1e-5)


def test_quantized_layers_take_in_what_follows(monkeypatch):
    hidden = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="hidden")
    net = mx.sym.FullyConnected(mx.sym.tanh(hidden), num_hidden=3, name="last")
    shapes = net.infer_shape(data=(5, 6))[0]
    rng = np.random.RandomState(2)
    args = {
        name: mx.nd.array(rng.uniform(-1, 1, shape))
        for name, shape in zip(net.list_arguments(), shapes, strict=True)
    }
    data = args.pop("data")

    def quantized():
        qsym, qargs, _ = mx.contrib.quantization.quantize_model_onednn(
            net, args, {}, calib_mode="naive", calib_data=mx.io.NDArrayIter(data, batch_size=5)
        )
        nodes = [node["op"] for node in json.loads(qsym.tojson())["nodes"]]
        executor = qsym.bind(mx.cpu(), {**qargs, "data": data}, grad_req="null")
        return executor.forward()[0].asnumpy(), [
            nodes.count(f"_contrib_{name}") for name in ("requantize", "dequantize")
        ]

    values, counts = quantized()
    assert counts == [0, 0]
    step = np.abs(values).max() / 127
    monkeypatch.setenv("MXNET_ONEDNN_FUSE_DEQUANTIZE", "0")
    found, counts = quantized()
    assert counts == [0, 2]
    assert np.abs(found - values).max() < 4 * step
    monkeypatch.setenv("MXNET_ONEDNN_FUSE_REQUANTIZE", "0")
    found, counts = quantized()
    assert counts == [2, 2]
    assert np.abs(found - values).max() < 4 * step


def test_subgraph_backend(monkeypatch, capfd):
    shape = {"data": (2, 16, 8, 8)}
    monkeypatch.setenv("MXNET_SUBGRAPH_VERBOSE", "1")
    assert "_sg_onednn_conv" in operators(_layers(), **shape)
    told = [line for line in capfd.readouterr().err.splitlines() if "partition" in line]
    assert "nodes for ONEDNN" in told[0] and told[1].startswith("mxcy has partitioned")
    monkeypatch.setenv("MXNET_SUBGRAPH_BACKEND", "NONE")
    assert operators(_layers(), **shape).count("Convolution") == 2
    assert "partition" not in capfd.readouterr().err
    monkeypatch.setenv("MXNET_SUBGRAPH_BACKEND", "PIGEON")
    with pytest.raises(mx.MXNetError, match="MXNET_SUBGRAPH_BACKEND='PIGEON'.*ONEDNN"):
        operators(_layers(), **shape)


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


@pytest.mark.parametrize("part", ["FUSE_BN_RELU", "BN_RELU_OPT"])
def test_normalisation_with_relu(monkeypatch, part):
    """A normalisation that no convolution takes in takes in its ReLU, unless that is off."""
    options = {"kernel": (3, 3), "pad": (1, 1), "num_filter": 16, "no_bias": True}
    out = mx.sym.relu(mx.sym.Convolution(mx.sym.var("data"), **options))
    out = mx.sym.relu(mx.sym.BatchNorm(out, fix_gamma=False))
    net = mx.sym.Convolution(out, **options)
    before = operators(net, data=(2, 16, 8, 8))
    monkeypatch.setenv(f"MXNET_DISABLE_ONEDNN_{part}", "1")
    after = operators(net, data=(2, 16, 8, 8))
    assert "_blocked_scale_shift" in before and "relu" not in before
    assert after.count("relu") == 1


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
    """Parameters that are set count at once; with 1, plans keep those of their first run."""
    for value in "01":
        done = python(_SENTENCES, MXNET_RNN_USE_WEIGHT_CACHE=value)
        before, after, eager = done.value
        assert np.abs(np.subtract(before, eager)).max() > 0.01
        np.testing.assert_allclose(after, before if value == "1" else eager, atol=1e-6)
        assert ("no effect" in done.err) == (value == "1")


# --- what is kept by signature ------------------------------------------------------------------

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
    """The plan that was used longest ago goes."""
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
    """What was used lately needs no preparation; with a low limit what is older does again."""
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
