"""Digits by gluon with the store of BytePS: every worker updates its weights with the sums."""

import argparse

import mxnet as mx
from horovod_mnist import conv_net, get_mnist_iterator, train
from mxnet import gluon


def options():
    """The command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--save", required=True)
    parser.add_argument("--batch-size", type=int, default=16)
    return parser.parse_args()


if __name__ == "__main__":
    args = options()
    store = mx.kv.create("byteps")
    mx.random.seed(0)  # so that all workers' first gradients are for the same weights
    batches = get_mnist_iterator(args.data_dir, args.batch_size, store.num_workers, store.rank)
    model = conv_net()
    model.initialize(mx.init.Xavier(), ctx=mx.cpu())
    settings = {"learning_rate": 0.02, "momentum": 0.9}
    trainer = gluon.Trainer(model.collect_params(), "sgd", settings, kvstore=store)
    train(model, trainer, batches, args.batch_size * store.num_workers, 2)
    if store.rank == 0:
        model.save_parameters(args.save)
