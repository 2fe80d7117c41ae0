"""Mixed precision with `amp` on handwritten digits: training, and conversion for prediction.

A convolutional network, or an LSTM that reads images row by row, is trained twice, in float32 and
with ``amp.init`` in bfloat16 or float16, from the same initial weights on the same batches. The
network of float32 is also converted for prediction. Run ``python examples/gluon/amp_digits.py``;
``--help`` lists the options.

It prints the losses of both and the accuracy on 1,000 held-out images. CPUs with bfloat16
instructions (AVX512-BF16, AMX) are faster in bfloat16, others are not.
"""

import argparse
import time

import numpy as np
from tqdm import tqdm

import mxcy as mx
from mxcy import amp, autograd, gluon
from mxcy.examples.train_mnist import load_digits
from mxcy.gluon import nn, rnn


class Rows(gluon.HybridBlock):
    """An LSTM over the rows of images, with a dense layer on the last state."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.lstm = rnn.LSTM(64, layout="NTC", input_size=28)
            self.last = nn.Dense(10)

    def hybrid_forward(self, F, x):
        """Images (batch, 1, 28, 28) to scores of ten digits."""
        states = self.lstm(F.reshape(x, shape=(0, 28, 28)))
        return self.last(F.slice_axis(states, axis=1, begin=-1, end=None))


def convolutions():
    """LeNet with batch normalization."""
    net = nn.HybridSequential()
    for channels in (16, 32):
        net.add(nn.Conv2D(channels, 5), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D())
    net.add(nn.Flatten(), nn.Dense(64, activation="relu"), nn.Dense(10))
    return net


NETWORKS = {"conv": convolutions, "lstm": Rows}


def train(make, images, labels, epochs, rate, mixed):
    """Train a network; return it and its mean loss over the last epoch."""
    mx.random.seed(1)
    net = make()
    net.initialize(mx.init.Xavier())
    net.hybridize()
    net(images[:1])
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": rate})
    if mixed:
        amp.init_trainer(trainer)
    criterion = gluon.loss.SoftmaxCrossEntropyLoss()
    order, size, mean = np.random.RandomState(1), 50, 0.0
    for _ in tqdm(range(epochs), "mixed" if mixed else "float32", disable=None):
        losses = []
        permuted = order.permutation(len(images))
        for start in range(0, len(images) - size + 1, size):
            rows = mx.nd.array(permuted[start : start + size])
            x, label = mx.nd.take(images, rows), mx.nd.take(labels, rows)
            with autograd.record():
                loss = criterion(net(x), label).mean()
                if mixed:
                    with amp.scale_loss(loss, trainer) as scaled:
                        scaled.backward()
            if not mixed:
                loss.backward()
            trainer.step(1)
            losses.append(loss)
        mean = float(np.mean([loss.asscalar() for loss in losses]))
    return net, mean


def evaluate(net, images, labels):
    """Return a network's accuracy, and the seconds that prediction took."""
    net(images)
    begin = time.perf_counter()
    classes = net(images).argmax(axis=1).astype("float32")
    accuracy = float((classes == labels).mean().asscalar())
    return accuracy, time.perf_counter() - begin


def main(arguments=None):
    """Train and convert; returns the losses in float32 and in mixed precision."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", choices=NETWORKS, default="conv")
    parser.add_argument("--dtype", choices=("bfloat16", "float16"), default="bfloat16")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rate", type=float, default=0.002)
    parser.add_argument("--images", type=int, default=4000, help="training images")
    options = parser.parse_args(arguments)
    (images, labels), held_out = [
        [mx.nd.array(part, dtype="float32") for part in parts] for parts in load_digits()
    ]
    images, labels = images[: options.images], labels[: options.images]
    make, how = NETWORKS[options.network], (options.epochs, options.rate)

    plain, loss = train(make, images, labels, *how, mixed=False)
    accuracy, seconds = evaluate(plain, *held_out)
    print(f"float32: loss {loss:.4f}, accuracy {accuracy:.1%} in {seconds:.3f} s")
    converted = amp.convert_hybrid_block(plain, options.dtype, cast_optional_params=True)
    converted.hybridize()
    accuracy, seconds = evaluate(converted, *held_out)
    print(f"converted to {options.dtype}: accuracy {accuracy:.1%} in {seconds:.3f} s")
    del plain, converted  # `amp.init` warns of networks with existing graphs

    amp.init(options.dtype)
    try:
        net, mixed_loss = train(make, images, labels, *how, mixed=True)
        accuracy, _ = evaluate(net, *held_out)
    finally:
        amp.reset()
    print(f"trained in {options.dtype}: loss {mixed_loss:.4f}, accuracy {accuracy:.1%}")
    return loss, mixed_loss


if __name__ == "__main__":
    main()
