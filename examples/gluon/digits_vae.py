"""A variational autoencoder (Kingma and Welling, 2013) of handwritten digits.

It learns to generate digits from a normally distributed code. Of the 5,000 MNIST images in mxcy,
4,000 are used for training and 1,000 held out. Run ``python examples/gluon/digits_vae.py``;
``--help`` lists the options.

After every epoch it prints the bound of the held-out images' negative log likelihood, in nats per
image: more than 540 at first, 118 after 40 epochs. At the end it prints some digits as text.
"""

import argparse
import math

import numpy as np
from tqdm import tqdm

import mxcy as mx
from mxcy.examples.train_mnist import load_digits

PIXELS = 28 * 28
nn = mx.gluon.nn


class Autoencoder(mx.gluon.HybridBlock):
    """Maps images (batch, pixels) and noise (batch, numbers) to the bound (batch,).

    Parameters
    ----------
    units : int
        Size of the hidden layers.
    numbers : int
        Size of the code.
    """

    def __init__(self, units, numbers):
        super().__init__()
        self.numbers = numbers
        with self.name_scope():
            self.encoder = nn.HybridSequential()
            self.encoder.add(
                nn.Dense(units, activation="relu"),
                nn.Dense(units, activation="relu"),
                nn.Dense(2 * numbers),
            )
            self.decoder = nn.HybridSequential()
            self.decoder.add(
                nn.Dense(units, activation="relu"),
                nn.Dense(units, activation="relu"),
                nn.Dense(PIXELS),
            )

    def hybrid_forward(self, F, images, noise):
        mean, log_variance = F.split(self.encoder(images), num_outputs=2, axis=1)
        scores = self.decoder(mean + F.exp(log_variance / 2) * noise)
        # negative log-probability of each pixel, from logits
        pixels = F.relu(scores) - scores * images + F.log1p(F.exp(-F.abs(scores)))
        divergence = (F.square(mean) + F.exp(log_variance) - 1 - log_variance) / 2
        return F.sum(pixels, axis=1) + F.sum(divergence, axis=1)


def noise_for(net, images):
    """Draw normally distributed codes for a batch."""
    return mx.nd.random.normal(shape=(len(images), net.numbers))


def train_epoch(net, trainer, batches, bar):
    """Train on each batch."""
    for images in batches:
        with mx.autograd.record():
            bound = net(images, noise_for(net, images))
        bound.backward()
        trainer.step(len(images))
        bar.set_postfix_str(f"bound {float(bound.mean().asscalar()):.1f}", False)
        bar.update(len(images))


def bound_of(net, images):
    """Mean bound of images, in nats per image."""
    batches = [mx.nd.array(images[i : i + 250]) for i in range(0, len(images), 250)]
    return np.mean([float(net(x, noise_for(net, x)).mean().asscalar()) for x in batches])


def draw(net, count):
    """Generate digits, side by side as text."""
    scores = net.decoder(mx.nd.random.normal(shape=(count, net.numbers)))
    images = scores.sigmoid().asnumpy().reshape(count, 14, 2, 28).mean(axis=2)
    lines = np.concatenate(list(images), axis=1)
    return "\n".join("".join(" .:+#"[min(int(5 * p), 4)] for p in line) for line in lines)


def parse(arguments=None):
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--batch-size", type=int, default=100)
    parser.add_argument("--units", type=int, default=256)
    parser.add_argument("--numbers", type=int, default=10, help="size of the code")
    parser.add_argument("--learning-rate", type=float, default=0.001)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def main(arguments=None):
    """Train, print the bound of held-out images after every epoch; return the last one."""
    args = parse(arguments)
    mx.random.seed(args.seed)
    rng = np.random.default_rng(args.seed)
    learned, held_out = (images.reshape(-1, PIXELS) for images, _ in load_digits())
    net = Autoencoder(args.units, args.numbers)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": args.learning_rate})
    best = math.inf
    for epoch in range(args.epochs):
        order = rng.permutation(len(learned))
        batches = np.split(learned[order], range(args.batch_size, len(learned), args.batch_size))
        with tqdm(total=len(learned), unit=" images", unit_scale=True, disable=None) as bar:
            bar.set_description(f"epoch {epoch + 1}/{args.epochs}")
            train_epoch(net, trainer, map(mx.nd.array, batches), bar)
        best = bound_of(net, held_out)
        print(f"bound of the held-out images {best:.1f} nats")
    print(draw(net, 4))
    return best


if __name__ == "__main__":
    main()
