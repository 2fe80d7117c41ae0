"""Train a multilayer perceptron on handwritten digits with the Module interface."""

import argparse
import logging

import digits
import numpy as np

import mxcy as mx


def network():
    """Two hidden layers: a symbol with the arguments data and softmax_label."""
    data = mx.sym.var("data")
    data = mx.sym.flatten(data=data)
    fc1 = mx.sym.FullyConnected(data=data, num_hidden=128, name="fc1")
    act1 = mx.sym.Activation(data=fc1, act_type="relu", name="relu1")
    fc2 = mx.sym.FullyConnected(data=act1, num_hidden=64, name="fc2")
    act2 = mx.sym.Activation(data=fc2, act_type="relu", name="relu2")
    fc3 = mx.sym.FullyConnected(data=act2, num_hidden=10, name="fc3")
    return mx.sym.SoftmaxOutput(data=fc3, name="softmax")


def main(arguments=None):
    """Train, and return the loss of each batch and the accuracy on the held-out digits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batches", type=int, help="batches per epoch; all by default")
    parser.add_argument("--batch-size", type=int, default=100)
    parser.add_argument("--devices", type=int, default=1, help="number of devices")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    mx.random.seed(1)  # initial weights
    np.random.seed(1)  # order of the digits

    training, validation = digits.load()
    train_iter = mx.io.NDArrayIter(*training, batch_size=options.batch_size, shuffle=True)
    if options.batches:
        train_iter = mx.io.ResizeIter(train_iter, options.batches)
    val_iter = mx.io.NDArrayIter(*validation, batch_size=options.batch_size)

    losses = []

    def keep_loss(param):
        losses.append(dict(param.eval_metric.get_name_value())["cross-entropy"])
        param.eval_metric.reset_local()

    mod = mx.mod.Module(symbol=network(), context=[mx.cpu(i) for i in range(options.devices)])
    mod.fit(
        train_iter,
        eval_data=val_iter,
        optimizer="sgd",
        optimizer_params={"learning_rate": 0.1, "momentum": 0.9},
        initializer=mx.init.Xavier(),
        eval_metric=["acc", "ce"],
        batch_end_callback=[mx.callback.Speedometer(options.batch_size, 20, False), keep_loss],
        num_epoch=options.epochs,
    )
    ((_, accuracy),) = mod.score(val_iter, mx.metric.Accuracy())
    probabilities = mod.predict(val_iter)
    assert probabilities.shape == (len(validation[0]), 10)
    return losses, accuracy


if __name__ == "__main__":
    print(f"accuracy on the held-out digits: {main()[1]:.1%}")
