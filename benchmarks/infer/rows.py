"""The rows of the table. Every contender's environment imports this, so it needs only NumPy."""

from dataclasses import dataclass

import numpy as np

from benchmarks.train.rows import Row

__all__ = ["ROWS", "inputs"]

MOST_SAMPLES = 8


@dataclass(frozen=True)
class InferRow(Row):
    """A network and its inputs; see `Row`.

    Parameters
    ----------
    sizes : tuple of int
        The batch sizes that are timed.
    states : tuple of (int, int)
        Layers and units of each state that a run hands to the next one; the batch lies between.
    """

    sizes: tuple = (1, 8)
    states: tuple = ()


def inputs(row):
    """The samples of a row, the same in every process; float32, words too."""
    random = np.random.RandomState(len(row.name))
    shape = (MOST_SAMPLES, *row.shape)
    if row.words:
        return random.randint(0, row.words, shape).astype("float32")
    return random.standard_normal(shape).astype("float32")


def _images(name, network=None, size=224, **about):
    return InferRow(name, 8, (3, size, size), network or f"zoo:{name}", 1000, **about)


_BERT_BASE = {"length": 128, "units": 768, "heads": 12, "layers": 12}

ROWS = {
    row.name: row
    for row in (
        _images("mobilenetv2_1.0"),
        _images("mobilenetv3_large", "mobilenet_v3"),
        _images("efficientnet_b0", "efficientnet"),
        _images("squeezenet1.0"),
        _images("densenet121"),
        _images("ssd_300", "ssd", 300, sizes=(1,)),
        InferRow("bert_base", 8, (128,), "bert", 2, 30_522, about=_BERT_BASE),
        InferRow(
            "lstm_step",
            8,
            (1,),
            "lstm_step",
            10_000,
            10_000,
            about={"units": 650},
            states=((2, 650),) * 2,
        ),
    )
}
