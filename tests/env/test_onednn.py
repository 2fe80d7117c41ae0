"""Variables of oneDNN."""

import shutil

import numpy as np
import pytest

from mxcy._library import onednn
from tests.env.run import python

pytestmark = pytest.mark.skipif(onednn.version() is None, reason="oneDNN is not installed")

_LAYERS = """
import json, mxcy as mx
mx.random.seed(2)
data = mx.nd.random.uniform(shape=(8, 16, 30, 30))
weight = mx.nd.random.uniform(shape=(16, 16, 5, 5))
out = mx.nd.Convolution(data, weight, kernel=(5, 5), num_filter=16, no_bias=True)
print(json.dumps([float(out.sum().asscalar()), mx.runtime.Features().is_enabled("ONEDNN"),
                  mx._library.onednn.cache_stats()]))
"""


def ran(done):
    """The primitives that oneDNN reports."""
    return [line for line in done.out.splitlines() if "verbose" in line and ",exec" in line]


def test_onednn_enabled():
    """Enabled, oneDNN reports convolutions; disabled, the results are the same."""
    used = python(_LAYERS, ONEDNN_VERBOSE="1")
    assert any("convolution" in line for line in ran(used))
    silent = python(_LAYERS)
    assert not ran(silent) and silent.value[1] is True
    unused = python(_LAYERS, ONEDNN_VERBOSE="1", MXNET_ONEDNN_ENABLED="0")
    assert not ran(unused) and unused.value[1] is False
    assert unused.value[0] == pytest.approx(used.value[0], rel=1e-4)


def test_onednn_library(tmp_path):
    actual = onednn.find_libraries()[0]
    code = (
        "import mxcy as mx\n"
        "assert mx._library.onednn.version()\n"
        "maps = open('/proc/self/maps').read().split()\n"
        "print(*{part for part in maps if 'dnnl' in part})\n"
    )
    copy = shutil.copy(actual, tmp_path / "mine-dnnl.so")
    assert python(code, MXCY_ONEDNN_LIBRARY=str(copy)).out.strip() == str(copy)
    wrong = python(code, fails=True, MXCY_ONEDNN_LIBRARY="/nowhere/dnnl.so")
    assert "MXCY_ONEDNN_LIBRARY=/nowhere/dnnl.so: file not found" in wrong.err


_WIDTHS = """
import json, mxcy as mx
weight = mx.nd.ones((16, 16, 5, 5))
def run(width):
    data = mx.nd.ones((8, 16, 20, width))
    return mx.nd.Convolution(data, weight, kernel=(5, 5), num_filter=16, no_bias=True)
for width in range(20, 60):
    run(width).wait_to_read()
mx.nd.waitall()
print(json.dumps(mx._library.onednn.cache_stats()))
"""


@pytest.mark.parametrize(("most", "kept"), [("4", 4), ("0", 0), (None, 40)])
def test_onednn_cache_num(most, kept):
    """Forty widths leave as many primitives in the cache as it may hold."""
    stats = python(_WIDTHS, MXNET_ONEDNN_CACHE_NUM=most).value
    assert stats["entries"] == kept
    assert most is None or stats["capacity"] == kept
    if most == "4":
        assert stats["evictions"] >= 36


_DENSE = """
import json, mxcy as mx
mx.random.seed(2)
net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=256, name="fc")
run = net.simple_bind(mx.cpu(), grad_req="null", data=(16, 512))
for array in run.arg_arrays:
    array[:] = mx.nd.random.uniform(shape=array.shape)
steps = [step.call.op.name for step in run.plan(False).steps]
print(json.dumps([steps, float(run.forward()[0].sum().asscalar())]))
"""


def test_force_fc_ab_format():
    """A dense layer's weights are packed, unless the plain layout is forced."""
    packed, plain = (python(_DENSE, MXNET_ONEDNN_FORCE_FC_AB_FORMAT=v).value for v in "01")
    assert "_pack_fc_weight" in packed[0] and "_pack_fc_weight" not in plain[0]
    assert plain[1] == pytest.approx(packed[1], rel=1e-5)


def test_without_onednn_its_variables_warn():
    done = python("import mxcy", MXNET_ONEDNN_CACHE_NUM="4", MXNET_ONEDNN_ENABLED="0")
    assert "MXNET_ONEDNN_CACHE_NUM has no effect: oneDNN is not in use" in done.err


_MANY = """
import json, mxcy as mx
from mxcy import autograd, gluon
from mxcy._library import onednn
mx.random.seed(2)
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Conv2D(16, 5, activation="relu"), gluon.nn.BatchNorm(), gluon.nn.MaxPool2D(2),
        gluon.nn.Flatten(), gluon.nn.Dense(64), gluon.nn.LayerNorm())
net.initialize()
data = mx.nd.random.uniform(shape=(32, 16, 30, 30))
with autograd.record():
    out = net(data).softmax().sum()
out.backward()
total = sum(abs(p.grad()).sum().asscalar() for p in net.collect_params().values()
            if p.grad_req != "null")
print(json.dumps([onednn.compared(), float(total)]))
"""


def test_onednn_debug():
    """Every result that our kernels can compute too is compared, and none differs."""
    compared, total = python(_MANY, MXNET_ONEDNN_DEBUG="1").value
    assert compared >= 3
    nothing, same = python(_MANY).value
    assert nothing == 0 and total == pytest.approx(same, rel=1e-6)


_RECURRENT = """
import json, numpy as np, mxcy as mx
from mxcy import autograd
draw = np.random.default_rng(3).uniform
size = 4 * 24 * (16 + 24 + 2)
data, state, cell = (mx.nd.array(draw(-1, 1, shape)) for shape in
                     ((9, 64, 16), (1, 64, 24), (1, 64, 24)))
weights = mx.nd.array(draw(-0.3, 0.3, size))
weights.attach_grad()
def run():
    return mx.nd.RNN(data, weights, state, cell, state_size=24, num_layers=1, mode="lstm")
out = run().asnumpy()
with autograd.record(train_mode=False):
    loss = (run() * run()).sum()
loss.backward()
print(json.dumps([out.ravel().tolist(), weights.grad.asnumpy().tolist()]))
"""


@pytest.mark.parametrize("name", ["MXNET_USE_ONEDNN_RNN", "MXNET_USE_MKLDNN_RNN"])
def test_use_onednn_rnn(name):
    """Inference runs oneDNN's layers unless disabled; outputs and gradients are the same."""
    results = []
    for value, kernel in (("1", "rnn_onednn"), ("0", "rnn")):
        done = python(_RECURRENT, MXCY_VERBOSE="dispatch", **{name: value})
        lines = [line for line in done.out.splitlines() if "dispatch RNN " in line]
        assert lines and {line.split("-> ")[1].split()[0] for line in lines} == {kernel}
        results.append(done.value)
    for actual, expected in zip(*results, strict=True):
        np.testing.assert_allclose(actual, expected, atol=1e-5 * np.abs(expected).max())
