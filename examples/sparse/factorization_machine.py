"""Train a factorization machine on csr batches, to classify digits as even or odd.

Run ``python examples/sparse/factorization_machine.py``. The data set is a LibSVM file created from
scikit-learn's digits: 1,797 images of 64 pixels, half of them zero. Weights are dense with
row_sparse gradients: Adam updates only the rows of pixels that occur in a batch.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from tqdm import tqdm

import mxcy as mx
from mxcy import autograd, gluon, nd

PIXELS = 64


def write_digits(folder):
    """Write ``train.libsvm`` and ``test.libsvm``, one line ``label pixel:value ...`` per image.

    Returns
    -------
    (pathlib.Path, pathlib.Path)
    """
    from sklearn.datasets import load_digits

    images, digits = load_digits(return_X_y=True)
    held_out = np.arange(len(digits)) % 5 == 0
    paths = []
    for name, chosen in (("train", ~held_out), ("test", held_out)):
        paths.append(Path(folder) / f"{name}.libsvm")
        with open(paths[-1], "w") as file:
            for image, digit in zip(images[chosen] / 16, digits[chosen], strict=True):
                pixels = (f"{i}:{image[i]:g}" for i in np.flatnonzero(image))
                file.write(f"{digit % 2} {' '.join(pixels)}\n")
    return tuple(paths)


class FactorizationMachine(gluon.Block):
    """``bias + x w + ((x v)^2 - x^2 v^2) / 2``: weights of pixels and of pairs (Rendle, 2010).

    Parameters
    ----------
    columns : int
    factors : int
        Length of each pixel's vector; a pair's weight is the product of two.
    """

    def __init__(self, columns, factors, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.bias = self.params.get("bias", shape=(1,), init="zeros")
            self.weight = self.params.get(
                "weight", shape=(columns, 1), init="zeros", grad_stype="row_sparse"
            )
            self.vectors = self.params.get(
                "vectors",
                shape=(columns, factors),
                init=mx.init.Normal(0.05),
                grad_stype="row_sparse",
            )

    def forward(self, x):
        """Scores (n,) of the rows of x, a csr matrix."""
        vectors = self.vectors.data()
        sums = nd.square(nd.dot(x, vectors)) - nd.dot(nd.square(x), nd.square(vectors))
        linear = nd.dot(x, self.weight.data()).reshape((-1,))
        return linear + sums.sum(axis=1) / 2 + self.bias.data()


def batches_of(path, size):
    """Iterate over the batches of a file."""
    return mx.io.LibSVMIter(data_libsvm=str(path), data_shape=(PIXELS,), batch_size=size)


def accuracy_on(net, path):
    """Return the accuracy on a file."""
    correct = count = 0
    for batch in batches_of(path, 64):
        kept = batch.data[0].shape[0] - batch.pad
        scores = net(batch.data[0]).asnumpy()[:kept]
        correct += ((scores > 0) == (batch.label[0].asnumpy().reshape(-1)[:kept] > 0)).sum()
        count += kept
    return correct / count


def main(arguments=None):
    """Train, print the accuracy on held-out images and return it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--factors", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=64)
    options = parser.parse_args(arguments)
    mx.random.seed(1)
    net = FactorizationMachine(PIXELS, options.factors)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.02})
    logistic = gluon.loss.SigmoidBinaryCrossEntropyLoss()
    with tempfile.TemporaryDirectory() as folder:
        train, test = write_digits(folder)
        for epoch in range(options.epochs):
            losses = []
            batches = batches_of(train, options.batch_size)
            for batch in tqdm(batches, unit=" batches", disable=None, leave=False):
                with autograd.record():
                    loss = logistic(net(batch.data[0]), batch.label[0].reshape((-1,)))
                loss.backward()
                trainer.step(options.batch_size)
                losses.append(loss.mean().asscalar())
            print(f"epoch {epoch + 1:2}: loss {np.mean(losses):.4f}")
        accuracy = accuracy_on(net, test)
    print(f"accuracy on the held-out images {accuracy:.1%}")
    return accuracy


if __name__ == "__main__":
    main()
