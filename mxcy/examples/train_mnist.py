"""Train LeNet on handwritten digits, save and reload it, and show its predictions.

Run ``python -m mxcy.examples.train_mnist``; ``--help`` lists the options. Of the 5,000 MNIST images
next to this file, 4,000 are used for training and 1,000 for testing. With ``import mxnet as mx``
instead of mxcy, the program runs on MXNet 1.9.1 and draws the same random numbers.
"""

import argparse
import contextlib
import itertools
import math
import sys
from pathlib import Path

import numpy as np

import mxcy as mx

try:
    from tqdm import tqdm
except ImportError:  # optional progress bar: pip install 'mxcy[examples]'
    tqdm = None

DATA = Path(__file__).with_name("data") / "mnist_5k.npz"
BAR = "{desc} {percentage:3.0f}%|{bar:12}| {rate_noinv_fmt}{postfix}"


def load_digits():
    """Load images, float32 (n, 1, 28, 28) in 0..1, and labels, int32 (n,).

    Returns
    -------
    (images, digits), (images, digits)
        Training set, and held-out set: every fifth image of each digit.
    """
    with np.load(DATA) as file:
        images = file["images"][:, np.newaxis].astype("float32") / 255
        digits = file["digits"].astype("int32")
    held_out = np.zeros(len(digits), bool)
    for digit in range(10):
        held_out[np.flatnonzero(digits == digit)[4::5]] = True
    return (images[~held_out], digits[~held_out]), (images[held_out], digits[held_out])


def lenet():
    """LeNet (LeCun, 1998) with ReLU and dropout: (n, 1, 28, 28) to (n, 10)."""
    net = mx.gluon.nn.HybridSequential()
    net.add(
        mx.gluon.nn.Conv2D(32, kernel_size=5, padding=2, activation="relu"),
        mx.gluon.nn.MaxPool2D(pool_size=2, strides=2),
        mx.gluon.nn.Conv2D(64, kernel_size=5, activation="relu"),
        mx.gluon.nn.MaxPool2D(pool_size=2, strides=2),
        mx.gluon.nn.Flatten(),
        mx.gluon.nn.Dense(256, activation="relu"),
        mx.gluon.nn.Dropout(0.5),
        mx.gluon.nn.Dense(10),
    )
    return net


def progress(**options):
    """Context manager with a tqdm bar, or None without tqdm."""
    return contextlib.nullcontext() if tqdm is None else tqdm(**options)


def train_epoch(net, trainer, batches, bar):
    """Train on each batch and yield its mean loss."""
    cross_entropy = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    accuracy = mx.metric.Accuracy()
    for images, digits in batches:
        with mx.autograd.record():
            scores = net(images)
            loss = cross_entropy(scores, digits)
        loss.backward()
        trainer.step(len(images))
        mean_loss = float(loss.mean().asscalar())
        accuracy.update(digits, scores)
        if bar is not None:
            bar.set_postfix_str(f"loss {mean_loss:.4f}, accuracy {accuracy.get()[1]:.1%}", False)
            bar.update(len(images))
        yield mean_loss


def probabilities(net, images, batch_size=250):
    """Predicted probabilities of the digits, NumPy (n, 10)."""
    batches = np.split(images, range(batch_size, len(images), batch_size))
    return np.concatenate([net(mx.nd.array(batch)).softmax().asnumpy() for batch in batches])


def accuracy_on(net, images, digits):
    """Fraction of images classified correctly."""
    return float((probabilities(net, images).argmax(axis=1) == digits).mean())


def picture(image):
    """Draw an image (28, 28) as 7 lines of 14 Braille characters, 2 x 4 dots each."""
    dots = (image > 0.4).reshape(7, 4, 14, 2).transpose(0, 2, 1, 3).reshape(7, 14, 8)
    weights = np.array([0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80])
    return ["".join(chr(0x2800 + code) for code in row) for row in dots @ weights]


def show(net, images, digits, count=5):
    """Print some images that the network classifies correctly, and some that it does not."""
    scores = probabilities(net, images)
    answers = scores.argmax(axis=1)
    spread = np.arange(len(digits)) * 7919 % len(digits)  # a fixed shuffle
    for title, wanted in (("Read correctly:", answers == digits), ("Misread:", answers != digits)):
        chosen = [i for i in spread if wanted[i]][:count]
        if not chosen:
            continue
        print(f"\n{title}")
        for lines in zip(*(picture(images[i, 0]) for i in chosen), strict=True):
            print("  ".join(lines))
        captions = (f"{answers[i]} ({scores[i].max():.0%})" for i in chosen)
        print("  ".join(f"{caption:^14}" for caption in captions))
        if title == "Misread:":
            print("  ".join(f"{f'is a {digits[i]}':^14}" for i in chosen))


def _positive(text, kind=int):
    number = kind(text)
    if not number > 0:
        raise argparse.ArgumentTypeError(f"expected a positive number, got {number}")
    return number


def _rate(text):
    return _positive(text, float)


def parse_arguments(arguments=None):
    """Parse the command line."""
    parser = argparse.ArgumentParser(description="Train LeNet on handwritten digits")
    parser.add_argument("--epochs", type=_positive, default=10)
    parser.add_argument("--steps", type=_positive, help="stop after this many batches")
    parser.add_argument("--batch-size", type=_positive, default=50)
    parser.add_argument("--optimizer", default="sgd", help="sgd (with momentum), adam, ...")
    parser.add_argument("--lr", type=_rate, default=0.03, help="initial learning rate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--weights", default="lenet_mnist.params", help="the file to save")
    parser.add_argument("--losses", type=Path, help="write the loss of each batch to this file")
    options = parser.parse_args(arguments)
    if options.optimizer.lower() not in mx.optimizer.Optimizer.opt_registry:
        known = ", ".join(sorted(mx.optimizer.Optimizer.opt_registry))
        parser.error(f"--optimizer: unknown optimizer {options.optimizer!r}, choose from {known}")
    if not Path(options.weights).absolute().parent.is_dir():
        parser.error(f"--weights: there is no folder for {options.weights}")
    return options


def main(arguments=None):
    """Train, save, load, show.

    Returns
    -------
    losses : list of float
        Mean loss of each batch.
    accuracy : float
        Accuracy of the reloaded network on the held-out images.
    """
    options = parse_arguments(arguments)
    mx.random.seed(options.seed)  # initial weights and dropout
    np.random.seed(options.seed)  # order of the images
    learned, held_out = load_digits()
    batches = mx.gluon.data.DataLoader(
        mx.gluon.data.ArrayDataset(*learned), options.batch_size, shuffle=True
    )
    net = lenet()
    net.initialize(mx.init.Xavier())
    net.hybridize()
    settings = {"learning_rate": options.lr}
    if options.optimizer == "sgd":
        settings["momentum"] = 0.9
    trainer = mx.gluon.Trainer(net.collect_params(), options.optimizer, settings)

    losses = []
    pause = 0.1 if sys.stderr.isatty() else 5  # seconds between updates of the bar
    for epoch in range(options.epochs):
        trainer.set_learning_rate(options.lr * (1 + math.cos(math.pi * epoch / options.epochs)) / 2)
        title = f"epoch {epoch + 1:2}/{options.epochs}"
        with progress(
            desc=title, total=len(learned[0]), unit=" images", bar_format=BAR, mininterval=pause
        ) as bar:
            steps = options.steps and options.steps - len(losses)
            losses.extend(itertools.islice(train_epoch(net, trainer, batches, bar), steps))
        print(
            f"{'':{len(title)}} accuracy on the held-out images {accuracy_on(net, *held_out):.1%}"
        )
        if len(losses) == options.steps:
            break

    if options.losses:
        options.losses.write_text("".join(f"{loss!r}\n" for loss in losses))
    net.save_parameters(options.weights)
    again = lenet()
    again.load_parameters(options.weights)
    accuracy = accuracy_on(again, *held_out)
    print(f"\nSaved {options.weights}; loaded again, it reads {accuracy:.1%} of held-out images.")
    show(again, *held_out)
    return losses, accuracy


if __name__ == "__main__":
    main()
