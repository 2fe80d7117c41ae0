"""Variables for numerics and algorithms."""

import pytest

from tests.env.run import python

_SUMS = """
import json, mxcy as mx, numpy as np
half = dict(dtype="float16")
ones, zeros = mx.nd.ones(5000, **half), mx.nd.zeros((2, 5000), **half)
weight = mx.nd.ones((3, 2), **half)
weight.attach_grad()
gradients = []
for take in (lambda i: mx.nd.Embedding(i, weight, input_dim=3, output_dim=2, **half), weight.take):
    with mx.autograd.record():
        out = take(mx.nd.zeros(5000))
    out.backward()
    gradients.append(weight.grad.asnumpy()[0, 0])
alternating = mx.nd.array(np.tile([1.0, 3.0], 2500)[None], **half)
normal = mx.nd.LayerNorm(alternating, ones, mx.nd.zeros(5000, **half))
found = [
    ones.norm().asscalar(), mx.nd.ones((3000, 6), **half).norm(axis=0)[3].asscalar(),
    ones.astype("float32").norm().asscalar(), mx.nd.softmax(zeros)[1, 7].asscalar(),
    mx.nd.log_softmax(zeros)[0, 0].asscalar(), normal[0, 1].asscalar(), *gradients,
]
print(json.dumps([float(number) for number in found]))
"""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        # MXNet 1.9.1 gives the first, third, fourth and fifth of each.
        ("1", [70.6875, 54.78, 70.71068, 0.0002, -8.516, 1, 5000, 5000]),
        ("0", [45.25, 45.25, 70.71068, 0.0004883, -7.625, 1, 2048, 2048]),
    ],
)
def test_safe_accumulation(value, expected):
    actual = python(_SUMS, MXNET_SAFE_ACCUMULATION=value).value
    assert actual == pytest.approx(expected, rel=3e-3)
    assert actual[0] == expected[0]


_TRIALS = """
import json, mxcy as mx
mx.random.seed(1)
data = mx.sym.var("data")
net = mx.sym.Convolution(data, kernel=(3, 3), pad=(1, 1), num_filter=32, name="conv")
run = net.simple_bind(mx.cpu(), data=(4, 32, 56, 56), grad_req="null")
for array in run.arg_arrays:
    array[:] = mx.nd.random.normal(shape=array.shape)
print(json.dumps(float(run.forward()[0].sum().asscalar())))
"""


def test_choice_of_algorithms(tmp_path):
    """Trials run, are reported and cached, unless switched off; Winograd can be disabled too."""
    home = {"MXNET_HOME": str(tmp_path), "MXNET_ENABLE_CYTHON": None}
    told = python(_TRIALS, MXNET_CUDNN_ALGO_VERBOSE_LEVEL="2", **home)
    lines = [line for line in told.out.splitlines() if line.startswith("mxcy algorithm")]
    *tried, chosen = lines
    (best,) = [line for line in tried if line.startswith("mxcy algorithm *")]
    assert len(tried) >= 2 and best.split("*")[1].split(":")[0] in chosen
    assert "winograd" in told.out
    again = python(_TRIALS, MXNET_CUDNN_ALGO_VERBOSE_LEVEL="1", **home)
    assert [line for line in again.out.splitlines() if "mxcy" in line] == [chosen]
    remembered = tmp_path / "mxcy" / "algorithms.json"
    assert remembered.stat().st_size > 10
    remembered.unlink()
    quiet = python(_TRIALS, MXNET_CUDNN_AUTOTUNE_DEFAULT="0", **home)
    assert "mxcy algorithm" not in quiet.out and not remembered.exists()
    plain = python(
        _TRIALS, MXNET_CUDNN_ALGO_VERBOSE_LEVEL="2", MXNET_CUDNN_ALLOW_WINOGRAD="0", **home
    )
    assert "winograd" not in plain.out
    assert plain.value == pytest.approx(told.value, rel=1e-3)


_TRAINING = """
import hashlib, json, sys
import mxcy as mx
from mxcy import gluon
mx.random.seed(3)
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Conv2D(16, 3, padding=1, activation="relu"), gluon.nn.BatchNorm(),
        gluon.nn.MaxPool2D(2), gluon.nn.Conv2D(32, 3, padding=1, activation="relu"),
        gluon.nn.GlobalAvgPool2D(), gluon.nn.Dropout(0.5), gluon.nn.Dense(10))
net.initialize(mx.init.Xavier())
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})
loss = gluon.loss.SoftmaxCrossEntropyLoss()
data = mx.nd.random.uniform(shape=(16, 3, 40, 40))
label = mx.nd.random.randint(0, 10, shape=(16,)).astype("float32")
table = mx.nd.random.uniform(shape=(20, 8))
table.attach_grad()
for _ in range(10):
    with mx.autograd.record():
        taken = mx.nd.Embedding(label, table, input_dim=20, output_dim=8)
        out = loss(net(data), label) + taken.mean(axis=1)
    out.backward()
    trainer.step(16)
arrays = [parameter.data() for parameter in net.collect_params().values()] + [table.grad]
digest = hashlib.sha1(b"".join(array.asnumpy().tobytes() for array in arrays)).hexdigest()
mx.random.seed(1)
draws = [mx.nd.random.uniform(shape=2).asnumpy().tolist() for _ in range(2)]
print(json.dumps([digest, draws]))
"""


def test_enforce_determinism():
    """Training is bit-reproducible, also with another number of threads."""
    several = {"MXNET_CPU_PARALLEL_RAND_COPY": "4"}
    same = [
        python(_TRAINING, MXNET_ENFORCE_DETERMINISM="1", OMP_NUM_THREADS=threads, **more).value
        for threads, more in (("1", {}), ("2", {}), ("2", several))
    ]
    assert same[0] == same[1] == same[2]
    # Otherwise draws use four sets of streams in turn.
    assert python(_TRAINING, **several).value[1] != same[0][1]


_DRAWS = """
import json, mxcy as mx
mx.random.seed(7)
print(json.dumps([mx.nd.random.uniform(shape=3).asnumpy().tolist() for _ in range(4)]))
"""


def test_sets_of_streams():
    """Random operators take two sets of streams in turn: every other one continues the same."""
    one, two = (python(_DRAWS, MXNET_CPU_PARALLEL_RAND_COPY=n).value for n in "12")
    assert two[1] == one[0] and two[3] == one[1]
    assert two[0] not in one and two[2] not in one


def test_numpy_types():
    """The variable sets the initial type policy of `mx.np`."""
    show = (
        "import json, mxcy as mx; print(json.dumps([mx.np.ones(1).dtype.name, "
        "mx.np.arange(2).dtype.name, mx.util.is_np_array(), mx.util.is_np_default_dtype()]))"
    )
    assert python(show, MXCY_NUMPY_TYPES="1").value == ["float64", "int64", False, True]
    assert python(show, MXCY_NUMPY_TYPES="0").value == ["float32", "float32", False, False]
    both = python(show, MXCY_NUMPY_TYPES="1", MXCY_MXNET="2.0").value
    assert both == ["float64", "int64", True, True]
