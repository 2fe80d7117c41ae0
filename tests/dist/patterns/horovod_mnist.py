"""Digits with Gluon and Horovod, as in programs for MXNet."""

import argparse
import os

import horovod.mxnet as hvd
import mxnet as mx
from mxnet import autograd, gluon


def get_mnist_iterator(folder, batch_size, num_parts, part_index):
    """The digits of a process."""
    return mx.io.MNISTIter(
        image=os.path.join(folder, "train-images-idx3-ubyte"),
        label=os.path.join(folder, "train-labels-idx1-ubyte"),
        input_shape=(1, 28, 28),
        batch_size=batch_size,
        shuffle=True,
        num_parts=num_parts,
        part_index=part_index,
    )


def conv_net():
    """A small LeNet."""
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Conv2D(channels=8, kernel_size=5, activation="relu"))
    net.add(gluon.nn.MaxPool2D(pool_size=2, strides=2), gluon.nn.Flatten())
    net.add(gluon.nn.Dense(32, activation="relu"), gluon.nn.Dense(10))
    return net


def train(net, trainer, batches, batch_size, epochs):
    """Train."""
    loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
    metric = mx.metric.Accuracy()
    for epoch in range(epochs):
        batches.reset()
        metric.reset()
        for batch in batches:
            data = batch.data[0].as_in_context(mx.cpu())
            label = batch.label[0].as_in_context(mx.cpu())
            with autograd.record():
                output = net(data)
                loss = loss_fn(output, label)
            loss.backward()
            trainer.step(batch_size)
            metric.update([label], [output])
        print(f"\nepoch {epoch}: accuracy {metric.get()[1]:.4f}", flush=True)


def options():
    """The command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--save", required=True)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--momentum", type=float, default=0.9)
    return parser.parse_args()


if __name__ == "__main__":
    args = options()
    hvd.init()
    mx.random.seed(hvd.rank())
    batches = get_mnist_iterator(args.data_dir, args.batch_size, hvd.size(), hvd.rank())
    model = conv_net()
    model.cast("float32")
    model.hybridize()
    initializer = mx.init.Xavier(rnd_type="gaussian", factor_type="in", magnitude=2)
    model.initialize(initializer, ctx=mx.cpu(hvd.local_rank()))
    params = model.collect_params()
    if params is not None:
        hvd.broadcast_parameters(params, root_rank=0)
    opt = mx.optimizer.create("sgd", learning_rate=args.lr, momentum=args.momentum)
    trainer = hvd.DistributedTrainer(params, opt)
    model.collect_params().reset_ctx(mx.cpu())
    train(model, trainer, batches, args.batch_size, args.epochs)
    if hvd.rank() == 0:
        model.save_parameters(args.save)
