"""A small network as a module, with its batches."""

import numpy as np

import mxcy as mx

DATA = np.random.RandomState(0).randn(50, 5).astype("float32")
LABEL = DATA.argmax(axis=1) % 3


def network():
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=8, name="fc1")
    x = mx.sym.FullyConnected(mx.sym.Activation(x, act_type="relu"), num_hidden=3, name="fc2")
    return mx.sym.SoftmaxOutput(x, name="softmax")


def batches(batch_size=10):
    return mx.io.NDArrayIter(DATA, LABEL, batch_size)


def batch(count, width=5):
    return mx.io.DataBatch([mx.nd.array(DATA[:count, :width])], [mx.nd.array(LABEL[:count])])


def ready(devices=1, initializer=None, **kwargs):
    """A module bound to batches of ten, with parameters."""
    mod = mx.mod.Module(network(), context=[mx.cpu(i) for i in range(devices)], **kwargs)
    mod.bind([("data", (10, 5))], [("softmax_label", (10,))])
    mx.random.seed(1)
    mod.init_params(initializer or mx.init.Xavier())
    return mod
