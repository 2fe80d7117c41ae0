"""The thirty key figures of a release: common operations, in CPU time on one thread.

`python tools/figures.py measure` runs them several times and stores them. Each is interleaved with
a fixed NumPy operation as a yardstick: if that takes longer too, the machine was slower.
"""

import pytest

CALLS = {  # of small arrays, and the same in NumPy
    "a + b": ("a + b", "a + b"),
    "exp": ("mx.nd.exp(a)", "np.exp(a)"),
    "a * 2": ("a * 2", "a * 2"),
    "FullyConnected": ("mx.nd.FullyConnected(a, b, a[0], num_hidden=4)", "a @ b.T + a[0]"),
    "a[1:3]": ("a[1:3]", "a[1:3]"),
    "a[1, 2] = 3": ("a[1, 2] = 3", "a[1, 2] = 3"),
    "reshape": ("a.reshape((2, -1))", "a.reshape((2, -1))"),
    "zeros": ("mx.nd.zeros((4, 4))", "np.zeros((4, 4), 'f')"),
    "asnumpy": ("a.asnumpy()", "a.copy()"),
    "np x + x": ("x + x", "a + a"),
    "np.sum": ("mx.np.sum(x, axis=0)", "np.sum(a, axis=0)"),
    "50 operations and backward": ("chain()", "[np.tanh(a * b) for _ in range(50)]"),
}
KERNELS = {  # of arrays of 1000 x 1000
    "add": ("mx.nd.elemwise_add(c, d, out=o)", "np.add(c, d, out=o)"),
    "exp": ("mx.nd.exp(c, out=o)", "np.exp(c, out=o)"),
    "softmax": ("mx.nd.softmax(c)", "np.exp(c, out=o)"),
    "sum, axis 0": ("mx.nd.sum(c, axis=0)", "np.sum(c, axis=0)"),
    "sum, axis 1": ("mx.nd.sum(c, axis=1)", "np.sum(c, axis=1)"),
    "transpose": ("mx.nd.transpose(c)", "np.copyto(o, c.T)"),
    "sort": ("mx.nd.sort(c)", "np.sort(c)"),
    "take rows": ("mx.nd.take(c, rows)", "np.take(c, rows, axis=0)"),
    "product": ("mx.nd.dot(c, d)", "c @ d"),
}
SETUP = {
    "mxcy": """
import numpy, mxcy as mx
mx.random.seed(1)
a, b = (mx.nd.random.uniform(shape=(4, 4)) for _ in range(2))
c, d = (mx.nd.random.uniform(shape=(1000, 1000)) for _ in range(2))
o, rows = mx.nd.empty((1000, 1000)), mx.nd.array(numpy.random.RandomState(1).permutation(1000))
x, w = a.copy().as_np_ndarray(), a.copy()
w.attach_grad()

def chain():
    with mx.autograd.record():
        result = w
        for _ in range(10):
            result = mx.nd.tanh(result * w + b) * 0.5 - a
    result.backward()
""",
    "yardstick": """
import numpy as np
r = np.random.RandomState(1)
a, b = (r.rand(4, 4).astype('f') for _ in range(2))
c, d = (r.rand(1000, 1000).astype('f') for _ in range(2))
o, rows = np.empty((1000, 1000), 'f'), r.permutation(1000)
""",
}
#: title -> expression that creates `run`, from `mxcy.bench`
NETWORKS = {
    "ResNet-18 predicts": "predict('resnet18_v1', (1, 3, 224, 224), 'float32')",
    "ResNet-50 predicts": "predict('resnet50_v1', (1, 3, 224, 224), 'float32')",
    "MobileNetV2 predicts": "predict('mobilenetv2_1.0', (1, 3, 224, 224), 'float32')",
    "ResNet-18 predicts in 8 bits": "predict('resnet18_v1', (1, 3, 224, 224), 'int8')",
    "SqueezeNet predicts 8": "predict('squeezenet1.1', (8, 3, 224, 224), 'float32')",
    "a step of the perceptron": "training.step_of('perceptron')[0]",
    "a step of LeNet": "training.step_of('lenet')[0]",
    "a step of the LSTM": "training.step_of('lstm')[0]",
    "a step of ResNet-18": "training.step_of('resnet18_v1', 2, 128)[0]",
}
NETWORK = """
import mxcy as mx
from mxcy.bench import score, training

def predict(*case):
    net, images = score.network(*case)
    return lambda: net(images)

run = {make}
run()
mx.nd.waitall()
"""


@pytest.mark.parametrize("case", CALLS)
def test_calls(key_figure, case):
    ours, theirs = CALLS[case]
    key_figure(f"{case}, 4 x 4", SETUP, {"mxcy": ours, "yardstick": theirs})


@pytest.mark.parametrize("case", KERNELS)
def test_kernels(key_figure, case):
    ours, theirs = KERNELS[case]
    key_figure(f"{case}, 1000 x 1000", SETUP, {"mxcy": ours, "yardstick": theirs})


@pytest.mark.parametrize("case", NETWORKS)
def test_networks(key_figure, case):
    setups = {"mxcy": NETWORK.format(make=NETWORKS[case]), "yardstick": SETUP["yardstick"]}
    key_figure(case, setups, {"mxcy": "run()", "yardstick": "c @ d; np.exp(c, out=o)"})
