"""LeNet on handwritten digits, with `mx.np` arrays and a custom `forward`.

Of the 5,000 MNIST images in mxcy, 4,000 are used for training and 1,000 held out. Run
``python examples/numpy/lenet_np.py``; ``--help`` lists the options. Training images are shifted at
random by up to two pixels, by slicing.
"""

import argparse
import math

import numpy as onp
from tqdm import tqdm

import mxcy as mx
from mxcy import autograd, gluon, np, npx
from mxcy.examples import train_mnist
from mxcy.gluon import nn


class LeNet(nn.HybridBlock):
    """Maps images (n, 1, 28, 28) to scores of the digits (n, 10)."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.first = nn.Conv2D(20, kernel_size=5, padding=2)
        self.second = nn.Conv2D(50, kernel_size=5)
        self.dense = nn.Dense(200)
        self.dropout = nn.Dropout(0.5)
        self.scores = nn.Dense(10)

    def forward(self, images):
        x = npx.relu(self.first(images))
        x = npx.pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")
        x = npx.relu(self.second(x))
        x = npx.pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")
        x = np.tanh(self.dense(x.reshape(x.shape[0], -1)))
        return self.scores(self.dropout(x))


def shifted(images, most=2):
    """Shift all images by the same random number of pixels in each direction."""
    down, right = (int(step) for step in np.random.randint(0, 2 * most + 1, (2,)))
    padded = np.pad(images, ((0, 0), (0, 0), (most, most), (most, most)))
    height, width = images.shape[2:]
    return padded[:, :, down : down + height, right : right + width]


def train_epoch(net, trainer, batches, bar):
    """Train on each batch; return the mean loss."""
    loss_of, total, count = gluon.loss.SoftmaxCrossEntropyLoss(), 0.0, 0
    for images, digits in batches:
        with autograd.record():
            loss = loss_of(net(shifted(images)), digits)
        loss.backward()
        trainer.step(len(images))
        total, count = total + loss.sum().item(), count + loss.size
        bar.set_postfix_str(f"loss {total / count:.4f}", False)
        bar.update(len(images))
    return total / count


def evaluate(net, images, digits):
    """Return the accuracy and the confusion matrix."""
    taken = np.zeros((10, 10), dtype="int32")
    for start in range(0, len(images), 250):
        answers = net(images[start : start + 250]).argmax(axis=1).astype("int32")
        wanted = digits[start : start + 250]
        taken += (npx.one_hot(wanted, 10).T @ npx.one_hot(answers, 10)).astype("int32")
    return (np.trace(taken) / taken.sum()).item(), taken


def parse(arguments=None):
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--images", type=int, help="approximate number of images to train on")
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--learning-rate", type=float, default=0.002)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


def main(arguments=None):
    """Train and print the most frequent errors; return the accuracy on held-out images."""
    args = parse(arguments)
    npx.set_np()
    mx.random.seed(args.seed)
    onp.random.seed(args.seed)  # order of the images
    learned, held_out = train_mnist.load_digits()
    every = max(1, len(learned[0]) // args.images) if args.images else 1  # sorted by digit
    dataset = gluon.data.ArrayDataset(*(part[::every] for part in learned))
    batches = gluon.data.DataLoader(dataset, args.batch_size, shuffle=True)
    images, digits = np.array(held_out[0]), np.array(held_out[1], dtype="int32")

    net = LeNet()
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = gluon.Trainer(
        net.collect_params(), "adam", {"learning_rate": args.learning_rate, "wd": 1e-5}
    )
    accuracy = math.nan
    for epoch in range(args.epochs):
        rate = args.learning_rate * (1 + math.cos(math.pi * epoch / args.epochs)) / 2
        trainer.set_learning_rate(rate)
        with tqdm(total=len(dataset), unit=" images", disable=None) as bar:
            bar.set_description(f"epoch {epoch + 1}/{args.epochs}")
            train_epoch(net, trainer, batches, bar)
        accuracy, taken = evaluate(net, images, digits)
        print(f"accuracy on the held-out images {accuracy:.1%}")
    mistakes = taken * (1 - np.eye(10, dtype="int32"))
    for place in np.argsort(-mistakes.reshape(-1))[:5].tolist():
        digit, answer = divmod(int(place), 10)
        print(f"{mistakes[digit, answer].item()} of the {digit}s were read as {answer}")
    return accuracy


if __name__ == "__main__":
    main()
