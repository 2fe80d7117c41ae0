"""Compare training in bfloat16 with float32, for a ResNet-18 and a language model.

ResNet-18 for small images is trained on the 4,000 handwritten digits in mxcy, as 32 x 32 pixels of
three channels (or 16 x 16), with smoothed labels; a character-level LSTM on Python's manual. Each
is trained twice, in float32 and with ``amp.init``, from the same initial weights on the same
batches. Run ``python examples/gluon/amp_losses.py``; ``--help`` lists the options.

It prints the mean losses over the last quarter of the steps, and milliseconds of CPU time per step.
"""

import argparse
import time
from pydoc_data import topics

import numpy as np
from tqdm import tqdm

import mxcy as mx
from mxcy import amp, autograd, gluon
from mxcy.examples.train_mnist import load_digits
from mxcy.gluon.model_zoo import vision

SMOOTHING = 0.1  # label smoothing: probability spread over all classes


class Characters(gluon.HybridBlock):
    """Maps character indices (steps, batch) to logits of the next ones (steps, batch, symbols)."""

    def __init__(self, symbols, units):
        super().__init__()
        with self.name_scope():
            self.embedding = gluon.nn.Embedding(symbols, 64)
            self.lstm = gluon.rnn.LSTM(units, input_size=64)
            self.dense = gluon.nn.Dense(symbols, flatten=False, in_units=units)

    def hybrid_forward(self, F, numbers):
        """Compute logits, from zero initial states."""
        return self.dense(self.lstm(self.embedding(numbers)))


def digits(size, rng, pixels, count):
    """Yield batches of the first images, shifted by up to an eighth, and smoothed labels."""
    images, labels = (array[:count] for array in load_digits()[0])
    targets = np.eye(10, dtype="float32")[labels] * (1 - SMOOTHING) + SMOOTHING / 10
    side, merged = pixels * 7 // 8, 32 // pixels
    images = images.reshape(-1, 1, side, merged, side, merged).mean(axis=(3, 5))
    while True:
        rows = rng.integers(len(images), size=size)
        padded = np.zeros((size, 3, pixels, pixels), "float32")
        down, right = rng.integers(pixels - side + 1, size=2)
        padded[:, :, down : down + side, right : right + side] = images[rows]
        yield mx.nd.array(padded), mx.nd.array(targets[rows])


def characters(size, rng, steps=32):
    """Return an endless iterator of (characters, next characters), and the alphabet size."""
    text = "\n".join(topics.topics[name] for name in sorted(topics.topics))
    symbols, numbers = np.unique(list(text), return_inverse=True)

    def draw():
        while True:
            firsts = rng.integers(len(numbers) - steps, size=size)
            pieces = numbers[firsts[:, None] + np.arange(steps + 1)].T.astype("float32")
            yield mx.nd.array(pieces[:-1]), mx.nd.array(pieces[1:])

    return draw(), len(symbols)


def resnet(options, rng):
    """Return batches, network, loss and trainer arguments."""
    net = vision.resnet18_v1(thumbnail=True, classes=10)
    criterion = gluon.loss.SoftmaxCrossEntropyLoss(sparse_label=False)
    return (
        digits(options.batch_size, rng, options.pixels, options.images),
        net,
        criterion,
        ("sgd", {"learning_rate": 0.005, "momentum": 0.9, "wd": 1e-4}),
    )


def lstm(options, rng):
    """Return batches, network, loss and trainer arguments."""
    batches, symbols = characters(options.batch_size, rng)
    criterion = gluon.loss.SoftmaxCrossEntropyLoss()
    return batches, Characters(symbols, 128), criterion, ("adam", {"learning_rate": 0.005})


NETWORKS = {"resnet": resnet, "lstm": lstm}


def train(options, mixed):
    """Train; return the losses of all steps, and the minimum CPU time per step in milliseconds."""
    mx.random.seed(options.seed)
    make = NETWORKS[options.network]
    batches, net, criterion, how = make(options, np.random.default_rng(options.seed))
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    trainer = gluon.Trainer(net.collect_params(), *how)
    losses, shortest = [], float("inf")
    if mixed:
        amp.init_trainer(trainer)
    with tqdm(total=options.steps, desc=options.dtype if mixed else "float32", disable=None) as bar:
        for _, (data, target) in zip(range(options.steps), batches, strict=False):
            start = time.process_time()
            with autograd.record():
                loss = criterion(net(data), target).mean()
                if mixed:
                    with amp.scale_loss(loss, trainer) as scaled:
                        scaled.backward()
            if not mixed:
                loss.backward()
            trainer.step(1)
            losses.append(float(loss.asscalar()))
            mx.nd.waitall()
            shortest = min(shortest, 1e3 * (time.process_time() - start))
            bar.set_postfix_str(f"loss {losses[-1]:.4f}", False)
            bar.update()
    return losses, shortest


def main(arguments=None):
    """Train in both precisions; return the mean losses in float32 and in mixed precision."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", choices=NETWORKS, default="lstm")
    parser.add_argument("--dtype", choices=("bfloat16", "float16"), default="bfloat16")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--pixels", type=int, choices=(16, 32), default=32, help="sides of images")
    parser.add_argument("--images", type=int, default=4000, help="images to train on")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    results = [train(options, mixed=False)]
    amp.init(options.dtype)
    try:
        results.append(train(options, mixed=True))
    finally:
        amp.reset()
    last = max(1, options.steps // 4)
    plain, mixed = (float(np.mean(losses[-last:])) for losses, _ in results)
    for name, loss, (_, milliseconds) in zip(
        ("float32", options.dtype), (plain, mixed), results, strict=True
    ):
        print(f"{name:9}: loss {loss:.4f}, {milliseconds:.0f} ms of CPU time per step")
    print(f"{options.dtype} is {mixed / plain - 1:+.2%} from float32")
    return plain, mixed


if __name__ == "__main__":
    main()
