"""Train LeNet on handwritten digits with the Module interface; save and resume checkpoints."""

import argparse
import logging

import digits
import numpy as np

import mxcy as mx


def network():
    """LeNet (LeCun, 1998) with tanh: a symbol with the arguments data and softmax_label."""
    data = mx.sym.var("data")
    conv1 = mx.sym.Convolution(data=data, kernel=(5, 5), num_filter=20)
    tanh1 = mx.sym.Activation(data=conv1, act_type="tanh")
    pool1 = mx.sym.Pooling(data=tanh1, pool_type="max", kernel=(2, 2), stride=(2, 2))
    conv2 = mx.sym.Convolution(data=pool1, kernel=(5, 5), num_filter=50)
    tanh2 = mx.sym.Activation(data=conv2, act_type="tanh")
    pool2 = mx.sym.Pooling(data=tanh2, pool_type="max", kernel=(2, 2), stride=(2, 2))
    flatten = mx.sym.flatten(data=pool2)
    fc1 = mx.sym.FullyConnected(data=flatten, num_hidden=500)
    tanh3 = mx.sym.Activation(data=fc1, act_type="tanh")
    fc2 = mx.sym.FullyConnected(data=tanh3, num_hidden=10)
    return mx.sym.SoftmaxOutput(data=fc2, name="softmax")


def main(arguments=None):
    """Train, and return the loss of each batch and the accuracy of the saved network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batches", type=int, help="batches per epoch; all by default")
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--prefix", default="lenet", help="prefix of checkpoints")
    parser.add_argument("--load-epoch", type=int, help="resume from this checkpoint")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    mx.random.seed(1)  # initial weights
    np.random.seed(1)  # order of the digits

    training, validation = digits.load()
    train_iter = mx.io.NDArrayIter(*training, batch_size=options.batch_size, shuffle=True)
    if options.batches:
        train_iter = mx.io.ResizeIter(train_iter, options.batches)
    val_iter = mx.io.PrefetchingIter(mx.io.NDArrayIter(*validation, batch_size=options.batch_size))
    if options.load_epoch is None:
        mod = mx.mod.Module(network())
    else:
        mod = mx.mod.Module.load(options.prefix, options.load_epoch, load_optimizer_states=True)

    losses = []

    def keep_loss(param):
        losses.append(param.eval_metric.get()[1])
        param.eval_metric.reset_local()

    first = options.load_epoch or 0
    mod.fit(
        train_iter,
        optimizer="sgd",
        optimizer_params={
            "momentum": 0.9,
            "wd": 1e-4,
            "lr_scheduler": mx.lr_scheduler.FactorScheduler(200, 0.7, base_lr=options.lr),
        },
        initializer=mx.init.Xavier(magnitude=2),
        eval_metric="ce",
        batch_end_callback=[mx.callback.Speedometer(options.batch_size, 20, False), keep_loss],
        epoch_end_callback=mx.callback.module_checkpoint(
            mod, options.prefix, save_optimizer_states=True
        ),
        begin_epoch=first,
        num_epoch=first + options.epochs,
    )

    symbol, arg_params, aux_params = mx.model.load_checkpoint(
        options.prefix, first + options.epochs
    )
    again = mx.mod.Module(symbol)
    again.bind(val_iter.provide_data, val_iter.provide_label, for_training=False)
    again.set_params(arg_params, aux_params)
    ((_, accuracy),) = again.score(val_iter, "acc")
    return losses, accuracy


if __name__ == "__main__":
    print(f"accuracy on the held-out digits: {main()[1]:.1%}")
