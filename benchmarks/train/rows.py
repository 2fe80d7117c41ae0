"""The rows of the table. Every contender's environment imports this, so it needs only NumPy."""

from dataclasses import dataclass, field, replace

import numpy as np

__all__ = ["ROWS", "SMALL", "Row", "find"]

BATCHES = 3  # number of different batches, used in rotation
SGD = ("sgd", {"learning_rate": 0.005, "momentum": 0.9})
# New deep networks are ill-conditioned: larger steps amplify the gradients' last digits.
SLOW = ("sgd", {"learning_rate": 0.0001, "momentum": 0.9})
# Losses of MXNet's own Gluon and Module are 1.4 % apart after four slow steps of ResNet-50.
SLOWEST = ("sgd", {"learning_rate": 0.000001, "momentum": 0.9})
ADAM = ("adam", {"learning_rate": 0.0005})
BERT_SMALL = {"length": 128, "units": 512, "heads": 8, "layers": 4}


@dataclass(frozen=True)
class Row:
    """A network, its data and how it is trained.

    Parameters
    ----------
    name : str
    batch : int
        Samples per batch.
    shape : tuple of int
        Shape of one sample.
    network : str
        A function of `networks.py`; "zoo:NAME" is one of the model zoo.
    classes : int
        Number of classes; 0 for labels 0 or 1 with a logistic loss.
    words : int
        Vocabulary size, if samples are word indices; 0 for real-valued samples.
    labels : int
        Labels per sample.
    optimizer : tuple
        Its name and arguments.
    eager : bool
        Whether networks run without being hybridized, compiled or bound.
    about : dict
        Arguments of the network.
    dtype : str
        Type of data, labels and parameters.
    """

    name: str
    batch: int
    shape: tuple
    network: str
    classes: int = 10
    words: int = 0
    labels: int = 1
    optimizer: tuple = SGD
    eager: bool = False
    about: dict = field(default_factory=dict)
    dtype: str = "float32"

    @property
    def image(self):
        """Whether samples are images."""
        return len(self.shape) == 3

    def batches(self):
        """Pairs of data and labels, the same in every process."""
        random = np.random.RandomState(len(self.name))
        number = self.batch * self.labels
        for _ in range(BATCHES):
            shape = (self.batch, *self.shape)
            if self.words:
                data = random.randint(0, self.words, shape).astype(self.dtype)
            else:
                data = random.standard_normal(shape).astype(self.dtype)
            labels = random.randint(0, self.classes or 2, number).astype(self.dtype)
            yield data, labels


def _zoo(name, batch, size=224, optimizer=SLOW):
    return Row(name, batch, (3, size, size), f"zoo:{name}", 1000, optimizer=optimizer)


def _recommender(name, sparse):
    words, about = 200_000, {"width": 64, "sparse": sparse}
    return Row(name, 1024, (4,), "recommender", 0, words, optimizer=ADAM, about=about)


ROWS = {
    row.name: row
    for row in (
        Row("lenet", 64, (1, 28, 28), "lenet"),
        _zoo("alexnet", 32),
        _zoo("vgg16", 4),
        _zoo("resnet18_v1", 16),
        _zoo("resnet50_v1", 8, 224, SLOWEST),
        _zoo("inceptionv3", 8, 299, SLOWEST),
        _zoo("mobilenetv2_1.0", 16),
        Row("lstm_language", 20, (35,), "language", 10_000, 10_000, 35, about={"units": 200}),
        Row("gru", 32, (50, 128), "recurrent", about={"units": 256}),
        Row("bert_small", 8, (128,), "bert", 2, 30_522, 1, ADAM, about=BERT_SMALL),
        _recommender("recommender_dense", False),
        _recommender("recommender_sparse", True),
        Row("mlp_eager", 128, (784,), "perceptron", eager=True),
        Row("chain_eager", 64, (64,), "chain", eager=True),
    )
}

#: changes that make rows fit for many steps
_SIZES = {
    "lenet": {"batch": 16},
    "alexnet": {"batch": 4, "shape": (3, 96, 96)},
    "vgg16": {"batch": 4, "shape": (3, 64, 64)},
    "resnet18_v1": {"batch": 8, "shape": (3, 64, 64)},
    "resnet50_v1": {"batch": 8, "shape": (3, 64, 64)},
    "inceptionv3": {"batch": 2},
    "mobilenetv2_1.0": {"batch": 8, "shape": (3, 64, 64)},
    "lstm_language": {"batch": 4, "labels": 20, "shape": (20,), "classes": 1000, "words": 1000},
    "gru": {"batch": 8, "shape": (20, 128)},
    "bert_small": {"batch": 2, "words": 2000},
    "recommender_dense": {"batch": 128, "words": 2000},
    "recommender_sparse": {"batch": 128, "words": 2000},
}
#: smaller rows, whose names end with their type
SMALL = {
    f"{row.name}_{dtype}": replace(
        row, name=f"{row.name}_{dtype}", dtype=dtype, **_SIZES.get(row.name, {})
    )
    for row in ROWS.values()
    for dtype in ("float32", "float64")
}


def find(name):
    """Return the row of the table, or the smaller one, with a name."""
    return ROWS.get(name) or SMALL[name]
