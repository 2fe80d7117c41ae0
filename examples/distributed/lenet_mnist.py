"""Train LeNet on handwritten digits in several processes, with one of three interfaces.

    tools/launch.py -n 4 -s 0 python examples/distributed/lenet_mnist.py --save four.params
    python examples/distributed/lenet_mnist.py --like four.params    # one process: the same weights

Each process trains on its part of every batch. ``--by`` selects gluon's Trainer with the store
dist_sync, Module.fit with that store, or Horovod's interface.
"""

import argparse
import sys
import time

import numpy as np

import mxcy as mx
import mxcy.horovod as hvd
from mxcy.examples.train_mnist import load_digits


def batches(count, size):
    """The first batches of shuffled images, (count, size, 1, 28, 28), and their labels."""
    images, digits = load_digits()[0]
    chosen = np.random.RandomState(0).permutation(len(images))
    chosen = np.resize(chosen, count * size)
    return images[chosen].reshape(count, size, 1, 28, 28), digits[chosen].reshape(count, size)


def part(rank, workers, size):
    """The rows of a batch that belong to a process."""
    return slice(rank * size // workers, (rank + 1) * size // workers)


def by_trainer(images, digits, arguments):
    """Train with gluon, the optimizer in the store; return the weights and printed lines."""
    store = mx.kv.create("dist_sync")
    rows = part(store.rank, store.num_workers, arguments.batch)
    net = gluon_net()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", settings(arguments), kvstore=store)
    loop(net, trainer, images[:, rows], digits[:, rows], arguments.batch, store)
    return {name: p.data() for name, p in net._collect_params_with_prefix().items()}, store.rank


def by_horovod(images, digits, arguments):
    """Train with Horovod's trainer, which averages gradients."""
    hvd.init()
    rows = part(hvd.rank(), hvd.size(), arguments.batch)
    net = gluon_net()
    hvd.broadcast_parameters(net.collect_params())
    trainer = hvd.DistributedTrainer(net.collect_params(), "sgd", settings(arguments))
    loop(net, trainer, images[:, rows], digits[:, rows], arguments.batch // hvd.size(), None)
    return {name: p.data() for name, p in net._collect_params_with_prefix().items()}, hvd.rank()


def gluon_net():
    """LeNet with the same initial weights in all processes."""
    mx.random.seed(1)
    net = mx.gluon.nn.HybridSequential()
    nn = mx.gluon.nn
    net.add(nn.Conv2D(16, 5, padding=2, activation="relu", in_channels=1), nn.MaxPool2D(2, 2))
    net.add(nn.Conv2D(32, 5, activation="relu", in_channels=16), nn.MaxPool2D(2, 2), nn.Flatten())
    net.add(nn.Dense(128, activation="relu", in_units=800), nn.Dense(10, in_units=128))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    return net


def settings(arguments):
    """Arguments of the optimizer."""
    return {"learning_rate": arguments.rate, "momentum": 0.9}


def loop(net, trainer, images, digits, batch, store):
    """Train on each batch, and periodically print the overall speed of all processes."""
    cross_entropy = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    workers = 1 if store is None else store.num_workers
    began = time.perf_counter()
    for step, (shown, meant) in enumerate(zip(images, digits, strict=True), 1):
        with mx.autograd.record():
            loss = cross_entropy(net(mx.nd.array(shown)), mx.nd.array(meant))
        loss.backward()
        trainer.step(batch)
        if step % 20 == 0 or step == len(images):
            mean = loss.mean().asscalar()
            rate = ((step - 1) % 20 + 1) * len(shown) * workers / (time.perf_counter() - began)
            if store is None or store.rank == 0:
                print(f"step {step}: loss {mean:.4f}, {rate:.0f} images/s", flush=True)
            began = time.perf_counter()


def by_module(images, digits, arguments):
    """Train with Module.fit; the optimizer's default rescale_grad is 1 / global batch size."""
    store = mx.kv.create("dist_sync")
    rows = part(store.rank, store.num_workers, arguments.batch)
    count = rows.stop - rows.start
    layer = mx.sym.var("data")
    for number, filters in enumerate((16, 32)):
        layer = mx.sym.Convolution(
            layer, kernel=(5, 5), pad=(2 - 2 * number,) * 2, num_filter=filters, name=f"c{number}"
        )
        layer = mx.sym.Activation(layer, act_type="relu")
        layer = mx.sym.Pooling(layer, kernel=(2, 2), stride=(2, 2), pool_type="max")
    layer = mx.sym.Activation(
        mx.sym.FullyConnected(layer, num_hidden=128, name="d0"), act_type="relu"
    )
    layer = mx.sym.FullyConnected(layer, num_hidden=10, name="d1")
    module = mx.mod.Module(mx.sym.SoftmaxOutput(layer, name="softmax"))
    data = mx.io.NDArrayIter(
        images[:, rows].reshape(-1, 1, 28, 28), digits[:, rows].reshape(-1), batch_size=count
    )
    mx.random.seed(1)
    module.fit(
        data,
        num_epoch=1,
        kvstore=store,
        optimizer_params=settings(arguments),
        initializer=mx.init.Xavier(),
    )
    return module.get_params()[0], store.rank


def main():
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--by", choices=("trainer", "module", "horovod"), default="trainer")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--batch", type=int, default=64, help="global batch size")
    parser.add_argument("--rate", type=float, default=0.02)
    parser.add_argument("--save", help="write the weights to this file")
    parser.add_argument("--like", help="compare the weights with those in this file")
    arguments = parser.parse_args()
    learn = {"trainer": by_trainer, "module": by_module, "horovod": by_horovod}[arguments.by]
    weights, rank = learn(*batches(arguments.steps, arguments.batch), arguments)
    if arguments.save and rank == 0:
        mx.nd.save(arguments.save, weights)
    if arguments.like:
        return compare(weights, mx.nd.load(arguments.like))
    return 0


def compare(weights, others):
    """Print the distance of weights from those of another run; return 1 if it is large."""
    most = max(float((weights[name] - others[name]).abs().max().asscalar()) for name in weights)
    print(f"largest difference between the weights of both runs: {most:.2g}")
    return int(not most < 1e-4)


if __name__ == "__main__":
    sys.exit(main())
