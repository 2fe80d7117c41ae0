"""Training that stops at a checkpoint and resumes, for any package with MXNet's interface.

``python exchange.py write|read PACKAGE PREFIX`` trains one epoch and saves, or loads and trains one
epoch more; both print the predictions as JSON.
"""

import importlib
import json
import sys

import numpy as np


def network(mx):
    """Convolution, batch normalization, pooling and a dense layer."""
    x = mx.sym.Convolution(mx.sym.var("data"), num_filter=4, kernel=(3, 3), name="conv")
    x = mx.sym.BatchNorm(x, name="bn", fix_gamma=False)
    x = mx.sym.Activation(x, act_type="relu", name="relu")
    x = mx.sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=3, name="fc"), name="softmax")


def batches(mx):
    """Twenty images of noise, and labels."""
    images = np.random.RandomState(0).randn(20, 1, 8, 8).astype("float32")
    return mx.io.NDArrayIter(images, np.arange(20) % 3, 10)


def train(mx, mod):
    """One epoch; returns predictions."""
    data = batches(mx)
    mod.bind(data.provide_data, data.provide_label)
    mod.init_optimizer(optimizer_params={"learning_rate": 0.1, "momentum": 0.9})
    for batch in data:
        mod.forward_backward(batch)
        mod.update()
    return mod.predict(data).asnumpy().tolist()


def write(mx, prefix):
    """Train from scratch and save."""
    mod, data = mx.mod.Module(network(mx)), batches(mx)
    mod.bind(data.provide_data, data.provide_label)
    mx.random.seed(1)
    mod.init_params(mx.init.Xavier())
    predicted = train(mx, mod)
    mod.save_checkpoint(prefix, 1, save_optimizer_states=True)
    return predicted


def read(mx, prefix, load_optimizer_states=True):
    """Load and resume."""
    return train(mx, mx.mod.Module.load(prefix, 1, load_optimizer_states=load_optimizer_states))


def main(what, package, prefix, *options):
    mx = importlib.import_module(package)
    print(json.dumps(globals()[what](mx, prefix, *map(json.loads, options))))


if __name__ == "__main__":
    main(*sys.argv[1:])
