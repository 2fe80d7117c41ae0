"""Variables that control graph passes."""

import json

import numpy as np
import pytest

import mxcy as mx
from mxcy._library import onednn
from tests.env.networks import assert_same, chain, described, operators, predictions, results
from tests.env.run import python


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
    actual = described(net)
    assert [len(group) for group in actual["fused"]] == [10] and actual["steps"] == 1
    program = capfd.readouterr().err
    assert program.count("sin") == 5 and program.count("tanh") == 5
    monkeypatch.delenv("MXNET_RTC_VERBOSE")
    values = results(net, data=(4, 5))
    assert "tanh" not in capfd.readouterr().err
    monkeypatch.setenv("MXNET_USE_FUSION", "0")
    actual = described(net)
    assert not actual["fused"] and actual["steps"] == 10
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


@pytest.mark.parametrize("part", ["FUSE_BN_RELU", "BN_RELU_OPT"])
def test_normalisation_with_relu(monkeypatch, part):
    """A normalisation that is not fused into a convolution fuses its ReLU, unless switched off."""
    options = {"kernel": (3, 3), "pad": (1, 1), "num_filter": 16, "no_bias": True}
    out = mx.sym.relu(mx.sym.Convolution(mx.sym.var("data"), **options))
    out = mx.sym.relu(mx.sym.BatchNorm(out, fix_gamma=False))
    net = mx.sym.Convolution(out, **options)
    before = operators(net, data=(2, 16, 8, 8))
    monkeypatch.setenv(f"MXNET_DISABLE_ONEDNN_{part}", "1")
    after = operators(net, data=(2, 16, 8, 8))
    assert "_blocked_scale_shift" in before and "relu" not in before
    assert after.count("relu") == 1


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


def test_quantized_layers_fuse_epilogues(monkeypatch):
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
    actual, counts = quantized()
    assert counts == [0, 2]
    assert np.abs(actual - values).max() < 4 * step
    monkeypatch.setenv("MXNET_ONEDNN_FUSE_REQUANTIZE", "0")
    actual, counts = quantized()
    assert counts == [2, 2]
    assert np.abs(actual - values).max() < 4 * step


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
