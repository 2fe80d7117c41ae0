"""Digits with Module: ``train_mnist.py --kv-store dist_sync``."""

import argparse
import os

import mxnet as mx
from fit import add_fit_args, fit


def mlp(num_classes):
    """Three dense layers."""
    data = mx.sym.Flatten(data=mx.sym.Variable("data"))
    fc1 = mx.sym.FullyConnected(data=data, name="fc1", num_hidden=64)
    act1 = mx.sym.Activation(data=fc1, name="relu1", act_type="relu")
    fc2 = mx.sym.FullyConnected(data=act1, name="fc2", num_hidden=32)
    act2 = mx.sym.Activation(data=fc2, name="relu2", act_type="relu")
    fc3 = mx.sym.FullyConnected(data=act2, name="fc3", num_hidden=num_classes)
    return mx.sym.SoftmaxOutput(data=fc3, name="softmax")


def get_mnist_iter(args, kv):
    """Training digits, of which each worker has a part, and validation digits."""

    def read(name, **settings):
        return mx.io.MNISTIter(
            image=os.path.join(args.data_dir, f"{name}-images-idx3-ubyte"),
            label=os.path.join(args.data_dir, f"{name}-labels-idx1-ubyte"),
            input_shape=(1, 28, 28),
            batch_size=args.batch_size,
            **settings,
        )

    train = read("train", shuffle=True, num_parts=kv.num_workers, part_index=kv.rank)
    return train, read("t10k", shuffle=False)


def options():
    """The command line."""
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--data-dir", type=str, required=True)
    parser.add_argument("--num-classes", type=int, default=10)
    parser.add_argument("--num-examples", type=int, default=128)
    add_fit_args(parser)
    return parser.parse_args()


if __name__ == "__main__":
    args = options()
    fit(args, mlp(args.num_classes), get_mnist_iter)
