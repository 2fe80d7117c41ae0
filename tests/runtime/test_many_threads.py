"""Teams larger than most machines: results with 32 threads equal those with one."""

import numpy as np
import pytest

from tests.env.run import python

#: nothing is chosen by timing
_FIXED = {"MXNET_ENFORCE_DETERMINISM": "1", "MXNET_OPERATOR_TUNING_CACHE": "0"}
_START = """
import json, sys
import numpy as np
import mxcy as mx
from mxcy.gluon import nn

mx.random.seed(3)
random = np.random.RandomState(5)
assert mx.runtime.omp_threads() == {threads}


def numbers(*shape):
    return mx.nd.array(random.standard_normal(shape).astype("float32"))


"""
_END = """
np.savez(sys.argv[1], *[array.asnumpy() for array in results])
"""
_NETWORK = """
net = nn.HybridSequential()
{layers}
net.initialize(mx.init.Xavier())
net.hybridize(static_alloc=True, static_shape=True)
data, label = {data}, mx.nd.array(np.arange({batch}) % 10)
results = [net(data)]
loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
trainer = mx.gluon.Trainer(net.collect_params(), "sgd", dict(learning_rate=0.01, momentum=0.9))
for _ in range(2):
    with mx.autograd.record():
        value = loss(net(data), label)
    value.backward()
    trainer.step({batch})
    results.append(value)
results += [parameter.data() for parameter in net.collect_params().values()]
"""


def network(layers, data, batch=2):
    return _NETWORK.format(layers=layers, data=data, batch=batch)


#: program that computes `results`
PROGRAMS = {
    # Shapes that thread grids divide in all ways: many pixels and few channels, and vice versa.
    "convolutions": network(
        "net.add(nn.Conv2D(32, 7, 2, 3), nn.BatchNorm(), nn.Activation('relu'))\n"
        "net.add(nn.MaxPool2D(3, 2))\n"
        "net.add(nn.Conv2D(64, 3, padding=1), nn.BatchNorm(), nn.Activation('relu'))\n"
        "net.add(nn.Conv2D(64, 3, padding=1), nn.BatchNorm(), nn.Activation('relu'))\n"
        "net.add(nn.Conv2D(256, 1), nn.BatchNorm(), nn.Conv2D(96, 1, 2), nn.Activation('relu'))\n"
        "net.add(nn.Conv2D(512, 3, padding=1), nn.GlobalAvgPool2D(), nn.Dense(10))",
        "numbers(2, 3, 60, 60)",
    ),
    "depthwise": network(
        "net.add(nn.Conv2D(48, 1), nn.BatchNorm(), nn.Conv2D(48, 3, padding=1, groups=48))\n"
        "net.add(nn.BatchNorm(), nn.Activation('relu'), nn.AvgPool2D(2), nn.Dense(10))",
        "numbers(3, 16, 14, 14)",
        3,
    ),
    "dense": network(
        "net.add(nn.Dense(200, activation='tanh', flatten=False), nn.LayerNorm())\n"
        "net.add(nn.Dense(33, activation='relu'), nn.Dense(10))",
        "numbers(7, 5, 64)",
        7,
    ),
    "operators": """
x, y, w = numbers(37, 129), numbers(129, 53), numbers(4, 37, 129)
results = [
    mx.nd.dot(x, y),
    mx.nd.batch_dot(w, w, transpose_b=True),
    mx.nd.softmax(x, axis=0),
    mx.nd.log_softmax(w, axis=1),
    mx.nd.sum(w, axis=(0, 2)),
    mx.nd.norm(w),
    mx.nd.mean(x),
    mx.nd.argmax(w, axis=1),
    mx.nd.sort(x, axis=1),
    mx.nd.topk(x, k=5, axis=0),
    mx.nd.transpose(w, (2, 0, 1)),
    mx.nd.broadcast_add(w, x.expand_dims(0)),
    mx.nd.concat(x, x, dim=1),
    mx.nd.take(x, mx.nd.array([3, 1, 36]), axis=0),
    mx.nd.random.normal(shape=(999,)),
    mx.nd.Dropout(mx.nd.ones((50, 50)), mode="always"),
    mx.nd.exp(numbers(300000)),
]
""",
    "recurrent": """
net = mx.gluon.rnn.LSTM(24, 2, bidirectional=True, input_size=16)
net.initialize(mx.init.Xavier())
data = numbers(9, 5, 16)
data.attach_grad()
with mx.autograd.record():
    value = net(data)
value.backward()
results = [value, data.grad, *[p.grad() for p in net.collect_params().values()]]
""",
    "single steps": """
results = []
for layer in (mx.gluon.rnn.LSTM, mx.gluon.rnn.GRU):
    net = layer(150, 2, bidirectional=True, input_size=90)
    net.initialize(mx.init.Xavier())
    net.hybridize(inline_limit=0)
    out, states = net(numbers(1, 1, 90), net.begin_state(1))
    results += [out, *states]
""",
}


def results(name, threads, path, **variables):
    """What a program computes with a team of this size, which must not be larger for long."""
    code = _START.format(threads=threads) + PROGRAMS[name] + _END
    settings = {**_FIXED, "OMP_NUM_THREADS": str(threads), "MXNET_CPU_PARALLEL_SIZE": "1"}
    python(code, str(path), timeout=300, **settings, **variables)
    with np.load(path) as found:
        return [found[key] for key in found.files]


@pytest.mark.parametrize("name", PROGRAMS)
def test_32_threads_compute_what_one_does(name, tmp_path):
    alone = results(name, 1, tmp_path / "alone.npz", MXNET_ONEDNN_ENABLED="0")
    team = results(name, 32, tmp_path / "team.npz", MXNET_ONEDNN_ENABLED="0")
    assert len(alone) == len(team) > 3
    for one, other in zip(alone, team, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["convolutions", "dense"])
def test_32_threads_of_onednn_compute_what_one_does(name, tmp_path):
    alone = results(name, 1, tmp_path / "alone.npz")
    team = results(name, 32, tmp_path / "team.npz")
    for one, other in zip(alone, team, strict=True):
        scale = np.abs(one).max()  # its sums over batches depend on the team
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-5 * max(scale, 1e-3))
