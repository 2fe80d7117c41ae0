"""Small networks like those of the training table, for mxcy and for MXNet 1.9.1.

Weights and batches are drawn by NumPy, so that both packages start alike. There is no dropout.
"""

import numpy as np

from benchmarks.train.networks import MAKERS, loss_of
from benchmarks.train.rows import ADAM, Row

__all__ = ["CASES", "losses"]

STEPS = 100
SGD = ("sgd", {"learning_rate": 0.02, "momentum": 0.9})
SLOW = ("sgd", {"learning_rate": 0.002, "momentum": 0.9})
NAG = ("nag", {"learning_rate": 0.02, "momentum": 0.9, "wd": 0.001})


def _residual(mx, row):
    vision = mx.gluon.model_zoo.vision
    return vision.ResNetV1(vision.BasicBlockV1, [1, 1], [8, 8, 16], row.classes, thumbnail=True)


def _branches(mx, row):
    """Parallel convolutions, concatenated as in Inception, then a depthwise one."""
    nn = mx.gluon.nn

    def layer(channels, kernel, groups=1):
        block = nn.HybridSequential(prefix="")
        block.add(nn.Conv2D(channels, kernel, padding=kernel // 2, groups=groups, use_bias=False))
        block.add(nn.BatchNorm(epsilon=0.001), nn.Activation("relu"))
        return block

    net = nn.HybridSequential()
    with net.name_scope():
        joined = mx.gluon.contrib.nn.HybridConcurrent(axis=1)
        joined.add(layer(4, 1), layer(8, 3), layer(4, 5))
        net.add(joined, nn.MaxPool2D(2, 2), layer(16, 3, 16), nn.AvgPool2D(2, 2))
        net.add(nn.Dense(row.classes))
    return net


BERT = {"length": 8, "units": 16, "heads": 2, "layers": 2}
_MAKERS = {**MAKERS, "residual": _residual, "branches": _branches}

ROWS = {
    row.name: row
    for row in (
        Row("lenet", 8, (1, 28, 28), "lenet", optimizer=SLOW),
        Row("perceptron", 16, (20,), "perceptron", optimizer=NAG),
        Row("residual", 8, (3, 12, 12), "residual", optimizer=SGD),
        Row("branches", 8, (3, 12, 12), "branches", optimizer=SGD),
        Row("lstm", 4, (6,), "language", 20, 20, 6, SGD, about={"units": 12}),
        Row("gru", 8, (5, 7), "recurrent", optimizer=SGD, about={"units": 12}),
        Row("bert", 4, (8,), "bert", 2, 30, 1, ADAM, about=BERT),
        Row(
            "recommender",
            16,
            (4,),
            "recommender",
            0,
            50,
            1,
            ADAM,
            about={"width": 8, "sparse": False},
        ),
    )
}
CASES = [(name, dtype) for name in ROWS for dtype in ("float64", "float32")]
CASES.remove(("bert", "float64"))  # MXNet's attention products accept only float32 on CPUs
CASES.remove(("gru", "float64"))  # MXNet's own losses are not those of its float32 from step 2 on


def losses(mx, name, dtype):
    """Train a network and return the mean loss of each step.

    Parameters
    ----------
    mx : module
        mxcy or MXNet.
    name : str
        Of a row.
    dtype : str
        Of weights and data.

    Returns
    -------
    numpy.ndarray
        Of float64.
    """
    row = ROWS[name]
    net, loss = _MAKERS[row.network](mx, row), loss_of(mx, row)
    batches = [tuple(mx.nd.array(a, dtype=dtype) for a in pair) for pair in row.batches()]
    net.initialize()
    net.cast(dtype)
    net(batches[0][0])  # infer the layers' shapes
    _draw(mx, net, dtype)
    net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), *row.optimizer)
    means = np.empty(STEPS)
    for step in range(STEPS):
        data, label = batches[step % len(batches)]
        with mx.autograd.record():
            each = loss(net(data), label)
        each.backward()
        trainer.step(label.shape[0])
        means[step] = each.asnumpy().astype("float64").mean()
    return means


def _draw(mx, net, dtype):
    """Set what is learned; statistics of normalisations stay as they begin."""
    random = np.random.RandomState(5)
    for name, parameter in sorted(net._collect_params_with_prefix().items()):
        if parameter.grad_req == "null":
            continue
        values = random.uniform(-0.3, 0.3, parameter.shape)
        if name.endswith("gamma"):
            values += 1
        # Rounded to float32, both element types begin at the same weights.
        parameter.set_data(mx.nd.array(values.astype("float32"), dtype=dtype))
