"""Small colour images by gluon in several processes, as programs for MXNet are written.

Each process iterates over a part of the data set, shuffled by its own sampler, copies batches to
its devices, and passes the number of images of its own batch to `step`.
"""

import argparse
import random

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon.data.sampler import Sampler


class SplitSampler(Sampler):
    """A process's share of the indices of a data set, in a new order each epoch."""

    def __init__(self, length, num_parts=1, part_index=0):
        self.part_len = length // num_parts
        self.start = self.part_len * part_index
        self.end = self.start + self.part_len

    def __iter__(self):
        indices = list(range(self.start, self.end))
        random.shuffle(indices)
        return iter(indices)

    def __len__(self):
        return self.part_len


def transform(data, label):
    """Convert an image of bytes to float planes."""
    return nd.transpose(data.astype("float32"), (2, 0, 1)) / 255, label.astype("float32")


def loader(folder, batch_size, num_parts, part_index):
    """The batches of a process."""
    images = gluon.data.vision.CIFAR10(root=folder, train=True).transform(transform)
    sampler = SplitSampler(len(images), num_parts, part_index)
    return gluon.data.DataLoader(images, batch_size, sampler=sampler, last_batch="discard")


def network(contexts):
    """A few convolutions."""
    net = gluon.nn.HybridSequential()
    for channels in (8, 16):
        net.add(gluon.nn.Conv2D(channels, 3, padding=1, activation="relu"))
        net.add(gluon.nn.MaxPool2D(2, 2))
    net.add(gluon.nn.Dense(32, activation="relu"), gluon.nn.Dense(10))
    net.initialize(mx.init.Xavier(magnitude=2.24), ctx=contexts)
    return net


def forward_backward(net, data, label, loss):
    """Compute losses and gradients of a batch split over the devices."""
    with autograd.record():
        losses = [loss(net(x), y) for x, y in zip(data, label, strict=True)]
    for one in losses:
        one.backward()


def train(net, contexts, batches, trainer, batch_size):
    """Train for one epoch."""
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    for batch in batches:
        data = gluon.utils.split_and_load(batch[0], contexts)
        label = gluon.utils.split_and_load(batch[1], contexts)
        forward_backward(net, data, label, loss)
        trainer.step(batch_size)


def evaluate_accuracy(net, batches, contexts):
    """The share of correctly classified images."""
    metric = mx.metric.Accuracy()
    for batch in batches:
        data = gluon.utils.split_and_load(batch[0], contexts)
        label = gluon.utils.split_and_load(batch[1], contexts)
        metric.update(label, [net(x) for x in data])
    return metric.get()[1]


def options():
    """The command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True)
    parser.add_argument("--save", required=True)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=16)
    return parser.parse_args()


if __name__ == "__main__":
    arguments = options()
    store = mx.kv.create("dist")
    contexts = [mx.cpu(0), mx.cpu(1)]
    random.seed(store.rank)
    mx.random.seed(0)  # so that all workers' first gradients are for the same weights
    net = network(contexts)
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.002}, kvstore=store)
    batches = loader(arguments.root, arguments.batch_size, store.num_workers, store.rank)
    for epoch in range(arguments.epochs):
        train(net, contexts, batches, trainer, arguments.batch_size)
        accuracy = evaluate_accuracy(net, batches, contexts)
        print(f"\nepoch {epoch}: accuracy {accuracy:.4f} on machine {store.rank}", flush=True)
    if store.rank == 0:
        net.save_parameters(arguments.save)
