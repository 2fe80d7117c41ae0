"""Milliseconds of a training step of networks on random data."""

import mxcy as mx
from mxcy.bench import clock

__all__ = ["NETWORKS", "cells", "step_of"]


def _lenet():
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    net.add(nn.Conv2D(20, 5, activation="tanh"), nn.MaxPool2D(2, 2))
    net.add(nn.Conv2D(50, 5, activation="tanh"), nn.MaxPool2D(2, 2))
    net.add(nn.Dense(500, activation="tanh"), nn.Dense(10))
    return net


def _perceptron():
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    net.add(nn.Dense(128, activation="relu"), nn.Dense(64, activation="relu"), nn.Dense(10))
    return net


def _recurrent():
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.rnn.LSTM(256, layout="NTC"), mx.gluon.nn.Dense(10))
    return net


#: name -> (network factory, batch size, shape of one sample, classes)
NETWORKS = {
    "perceptron": (_perceptron, 128, (784,), 10),
    "lenet": (_lenet, 64, (1, 28, 28), 10),
    "lstm": (_recurrent, 32, (50, 128), 10),
}


def step_of(name, batch=None, size=224, optimizer="sgd"):
    """Return a function that runs one training step.

    Parameters
    ----------
    name : str
        Name in `NETWORKS` or in the model zoo.
    batch : int, optional
        Batch size.
    size : int
        Height and width of images, for networks of the zoo.
    optimizer : str

    Returns
    -------
    (callable, int)
        The function, and the batch size.
    """
    if name in NETWORKS:
        make, usual, shape, classes = NETWORKS[name]
        net = make()
    else:
        usual, shape, classes = 16, (3, size, size), 1000
        net = mx.gluon.model_zoo.vision.get_model(name)
    batch = batch or usual
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    loss_of.hybridize(static_alloc=True, static_shape=True)
    data = mx.nd.random.normal(shape=(batch, *shape))
    label = mx.nd.random.randint(0, classes, shape=(batch,)).astype("float32")
    net(data)
    rate = {"learning_rate": 0.0001}
    trainer = mx.gluon.Trainer(net.collect_params(), optimizer, rate)

    def step():
        with mx.autograd.record():
            loss = loss_of(net(data), label)
        loss.backward()
        trainer.step(batch)

    return step, batch


def cells(options):
    """Time training steps of the networks in `options`.

    Parameters
    ----------
    options : argparse.Namespace
        Options `network` (a list), `batch_size`, `size`, `optimizer` and `seconds`.

    Returns
    -------
    list of dict
    """
    results = []
    for name in clock.progress(options.network, "train"):
        step, batch = step_of(name, options.batch_size, options.size, options.optimizer)
        taken = clock.seconds_of(step, options.seconds)
        cell = {"network": name, "batch_size": batch, "optimizer": options.optimizer}
        results.append({**cell, **taken, "samples_per_second": batch / taken["seconds"]})
    return results


def lines(results):
    """Format the table."""
    yield f"{'a step of training':<28}{'batch':>6}{'best ms':>12}{'median ms':>12}{'samples/s':>12}"
    for cell in results:
        best, median = cell["seconds"] * 1e3, cell["median"] * 1e3
        title = f"{cell['network']} {cell['optimizer']}"
        speed = cell["samples_per_second"]
        yield f"{title:<28}{cell['batch_size']:>6}{best:>12.2f}{median:>12.2f}{speed:>12.1f}"
