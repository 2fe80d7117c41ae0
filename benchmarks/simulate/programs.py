"""The simulated networks: functions that run one step and return outputs."""

from types import SimpleNamespace

import numpy as np

from benchmarks.train import networks

__all__ = ["PROGRAMS", "make"]


def _predicting(mx, net, inputs):
    net.initialize(mx.init.Xavier())
    # Hybridize from the start: in large eager oneDNN products, ranks wait for each other.
    net.hybridize(static_alloc=True, static_shape=True)

    def step():
        outputs = net(*inputs)
        outputs.wait_to_read()
        return outputs

    return step


def _images(mx, batch, size=224):
    random = np.random.RandomState(batch)
    return mx.nd.array(random.standard_normal((batch, 3, size, size)).astype("float32"))


def _resnet(mx, batch):
    net = mx.gluon.model_zoo.vision.resnet50_v1()
    return _predicting(mx, net, [_images(mx, batch)])


def _bert(mx, batch, length=128):
    about = {"length": length, "units": 768, "heads": 12, "layers": 12}
    net = networks._bert(mx, SimpleNamespace(words=30_522, classes=2, about=about))
    words = np.random.RandomState(batch).randint(0, 30_522, (batch, length))
    return _predicting(mx, net, [mx.nd.array(words.astype("float32"))])


def _training(mx, net, batch, classes, size=224):
    net.initialize(mx.init.Xavier())
    data, label = _images(mx, batch, size), mx.nd.array(np.arange(batch) % classes)
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    net.hybridize(static_alloc=True, static_shape=True)
    loss.hybridize(static_alloc=True, static_shape=True)
    about = {"learning_rate": 1e-6, "momentum": 0.9}
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", about)

    def step():
        with mx.autograd.record():
            value = loss(net(data), label)
        value.backward()
        trainer.step(batch)
        mx.nd.waitall()
        return value

    return step


def _resnet_training(mx, batch):
    net = mx.gluon.model_zoo.vision.resnet50_v1(classes=1000)
    return _training(mx, net, batch, 1000)


def _small_training(mx, batch):
    """Two layers whose gradients oneDNN divides over images, so that ranks add up partial sums."""
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 3), nn.Conv2D(16, 5, activation="relu"), nn.Dense(10))
    return _training(mx, net, batch, 10, 32)


def _small(mx, batch):
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    net.add(nn.Conv2D(32, 3, padding=1, activation="relu"), nn.Conv2D(64, 3, padding=1))
    net.add(nn.GlobalAvgPool2D(), nn.Dense(10))
    return _predicting(mx, net, [_images(mx, batch, 32)])


def _own_rows(mx, batch, length=768, layers=12):
    """Normalisations of rows, which stay in their threads' caches.

    N threads take as long for N times as many rows, plus a barrier each.
    """
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    net.add(*(nn.LayerNorm(in_channels=length) for _ in range(layers)))
    rows = np.random.RandomState(batch).standard_normal((batch, length)).astype("float32")
    return _predicting(mx, net, [mx.nd.array(rows)])


PROGRAMS = {
    "resnet50": _resnet,
    "bert_base": _bert,
    "resnet50_training": _resnet_training,
    "own_rows": _own_rows,
    "small": _small,
    "small_training": _small_training,
}


def make(mx, name, batch):
    """Return a function that runs a step; weights are the same each time."""
    mx.random.seed(7)
    return PROGRAMS[name](mx, batch)
