"""Train LeNet on handwritten digits with the estimator, keeping the best parameters.

Of the 5,000 MNIST images in mxcy, 4,000 are used for training and 1,000 held out. Run
``python examples/gluon/lenet_estimator.py``; ``--help`` lists the options. After 8 epochs the
accuracy on the held-out digits is 97.8 %.
"""

import argparse
import tempfile

from tqdm import tqdm

import mxcy as mx
from mxcy.examples.train_mnist import lenet, load_digits
from mxcy.gluon.contrib.estimator import (
    BatchEnd,
    CheckpointHandler,
    EarlyStoppingHandler,
    Estimator,
    TrainBegin,
    TrainEnd,
)
from mxcy.gluon.data import ArrayDataset, DataLoader


class ProgressBar(TrainBegin, BatchEnd, TrainEnd):
    """Shows the progress of training, and the metrics.

    Parameters
    ----------
    metrics : list of EvalMetric
        Metrics to show.
    total : int
        Number of batches of all epochs.
    """

    priority = 0  # after the metrics, before the log

    def __init__(self, metrics, total):
        self.metrics, self.total, self.bar = metrics, total, None

    def train_begin(self, estimator, *args, **kwargs):
        self.bar = tqdm(total=self.total, unit=" batches", disable=None)

    def batch_end(self, estimator, *args, **kwargs):
        told = ("{} {:.4f}".format(*metric.get()) for metric in self.metrics)
        self.bar.set_postfix_str(", ".join(told), False)
        self.bar.update()

    def train_end(self, estimator, *args, **kwargs):
        self.bar.close()


def parse(arguments=None):
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--learning-rate", type=float, default=0.001)
    parser.add_argument("--images", type=int, help="number of images to train on")
    parser.add_argument("--folder", help="folder of the parameters")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def train(args, folder):
    """Train a network; return the accuracy of its best parameters on held-out images."""
    mx.random.seed(args.seed)
    (images, digits), held_out = load_digits()
    count = len(images) if args.images is None else args.images
    order = mx.nd.random.shuffle(mx.nd.arange(len(images))).asnumpy().astype(int)[:count]
    learned = DataLoader(ArrayDataset(images[order], digits[order]), args.batch_size, shuffle=True)
    validation = DataLoader(ArrayDataset(*held_out), 250)

    net = lenet()
    net.hybridize()
    net.initialize(mx.init.Xavier())
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": args.learning_rate})
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    estimator = Estimator(net, loss, trainer=trainer)
    accuracy = estimator.val_metrics[0]
    handlers = [
        ProgressBar(estimator.train_metrics, args.epochs * len(learned)),
        CheckpointHandler(folder, "lenet", monitor=accuracy, save_best=True, mode="max"),
        EarlyStoppingHandler(accuracy, patience=3, mode="max"),
    ]
    estimator.fit(learned, validation, epochs=args.epochs, event_handlers=handlers)
    net.load_parameters(f"{folder}/lenet-best.params")
    estimator.evaluate(validation)
    return accuracy.get()[1]


def main(arguments=None):
    """Train, print the accuracy and return it."""
    args = parse(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        accuracy = train(args, args.folder or temporary)
    print(f"accuracy on the held-out digits: {accuracy:.1%}")
    return accuracy


if __name__ == "__main__":
    main()
