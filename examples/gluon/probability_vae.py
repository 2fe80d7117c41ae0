"""A variational autoencoder of handwritten digits with gluon.probability and mx.np.

The model of ``digits_vae.py`` in terms of distributions: an encoder maps an image to a distribution
of codes, a decoder maps a code to a distribution of pixels. Of the 5,000 MNIST images in mxcy,
4,000 are used for training and 1,000 held out. Run ``python examples/gluon/probability_vae.py``;
``--help`` lists the options.

After every epoch it prints two bounds of the held-out images' negative log likelihood, in nats per
image: the training objective, and the tighter importance-weighted bound of several samples of the
code (Burda, Grosse and Salakhutdinov, 2016). At the end it prints the interpolation between two
digits along the line between their codes.
"""

import argparse
import math

import numpy as onp
from tqdm import tqdm

import mxcy as mx
from mxcy import autograd, np
from mxcy.examples.train_mnist import load_digits

PIXELS = 28 * 28
mgp, nn = mx.gluon.probability, mx.gluon.nn


def layers(units, outputs):
    """Create dense layers on the last axis."""
    net = nn.HybridSequential()
    for _ in range(2):
        net.add(nn.Dense(units, activation="relu", flatten=False))
    net.add(nn.Dense(outputs, flatten=False))
    return net


class Autoencoder(mgp.StochasticBlock):
    """Maps images (batch, pixels) to their log-probabilities given a sampled code.

    Its loss is the divergence of the codes' distribution from the prior.

    Parameters
    ----------
    units : int
        Size of the hidden layers.
    numbers : int
        Size of the code.
    """

    def __init__(self, units, numbers):
        super().__init__()
        self.encoder, self.decoder = layers(units, 2 * numbers), layers(units, PIXELS)
        self.numbers = numbers

    def prior(self):
        """Prior distribution of codes."""
        return mgp.Independent(mgp.Normal(np.zeros(self.numbers), 1.0), 1)

    def codes(self, images):
        """Distribution of codes given images."""
        loc, log_scale = np.split(self.encoder(images), 2, axis=-1)
        return mgp.Independent(mgp.Normal(loc, np.exp(log_scale)), 1)

    def pixels(self, codes):
        """Distribution of pixels given codes."""
        return mgp.Independent(mgp.Bernoulli(logit=self.decoder(codes)), 1)

    @mgp.StochasticBlock.collectLoss
    def forward(self, images):
        """Sample a code of each image, differentiably."""
        codes = self.codes(images)
        self.add_loss(mgp.kl_divergence(codes, self.prior()))
        return self.pixels(codes.sample()).log_prob(images)


def train_epoch(net, trainer, batches, bar):
    """Train on each batch."""
    for images in batches:
        with autograd.record():
            log_prob = net(images)
            bound = net.losses[0] - log_prob
        bound.backward()
        trainer.step(len(images))
        bar.set_postfix_str(f"bound {bound.mean().item():.1f}", False)
        bar.update(len(images))


def bounds_of(net, images, samples):
    """Mean bounds of images, with one and with several samples of the codes, in nats per image."""
    loose, tight = [], []
    for start in range(0, len(images), 250):
        batch = np.array(images[start : start + 250])
        log_prob = net(batch)
        loose.append((net.losses[0] - log_prob).mean().item())
        codes = net.codes(batch)
        drawn = codes.sample_n(samples)
        joint = net.prior().log_prob(drawn) + net.pixels(drawn).log_prob(batch)
        weights = joint - codes.log_prob(drawn)
        top = weights.max(axis=0)
        tight.append(-(top + np.log(np.exp(weights - top).mean(axis=0))).mean().item())
    return onp.mean(loose), onp.mean(tight)


def morph(net, first, last, count):
    """Interpolate between two images, side by side as text."""
    ends = net.codes(np.array(onp.stack([first, last]))).mean
    share = np.linspace(0, 1, count).reshape(-1, 1)
    images = net.pixels(ends[0] * (1 - share) + ends[1] * share).mean
    images = images.asnumpy().reshape(count, 14, 2, 28).mean(axis=2)
    lines = onp.concatenate(list(images), axis=1)
    return "\n".join("".join(" .:+#"[min(int(5 * p), 4)] for p in line) for line in lines)


def parse(arguments=None):
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--batch-size", type=int, default=100)
    parser.add_argument("--units", type=int, default=256)
    parser.add_argument("--numbers", type=int, default=10, help="size of the code")
    parser.add_argument("--samples", type=int, default=16, help="samples of the tighter bound")
    parser.add_argument("--learning-rate", type=float, default=0.001)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


@mx.util.use_np
def main(arguments=None):
    """Train, print the bounds of held-out images after every epoch; return the last ones."""
    args = parse(arguments)
    mx.random.seed(args.seed)
    rng = onp.random.default_rng(args.seed)
    (learned, _), (held_out, digits) = load_digits()
    learned, held_out = learned.reshape(-1, PIXELS), held_out.reshape(-1, PIXELS)
    net = Autoencoder(args.units, args.numbers)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": args.learning_rate})
    loose = tight = math.inf
    for epoch in range(args.epochs):
        order = rng.permutation(len(learned))
        batches = onp.split(learned[order], range(args.batch_size, len(learned), args.batch_size))
        with tqdm(total=len(learned), unit=" images", unit_scale=True, disable=None) as bar:
            bar.set_description(f"epoch {epoch + 1}/{args.epochs}")
            train_epoch(net, trainer, map(np.array, batches), bar)
        loose, tight = bounds_of(net, held_out, args.samples)
        print(f"bounds of the held-out images {loose:.1f} and {tight:.1f} nats")
    three, eight = (held_out[onp.flatnonzero(digits == digit)[0]] for digit in (3, 8))
    print(morph(net, three, eight, 4))
    return loose, tight


if __name__ == "__main__":
    main()
