"""Log-uniform (Zipfian) sampling of classes without replacement."""

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Int, Shape
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.record import op, sample
from mxcy.ops.random.distributions import generator

__all__ = []


def _row(draw, range_max, count):
    """Return the first `count` distinct classes, and the number of draws needed."""
    classes = np.empty(0, np.int64)
    while True:
        uniform = draw(count + 16)
        drawn = np.rint(np.exp(uniform * np.log(range_max))).astype(np.int64) - 1
        classes = np.concatenate([classes, drawn % range_max])
        _, first = np.unique(classes, return_index=True)
        if len(first) >= count:
            first = np.sort(first)[:count]
            return classes[first], first[-1] + 1


@op("_sample_unique_zipfian", inputs="", outputs="samples trials", uses_rng=True)
class SampleUniqueZipfian:
    """Draw classes without replacement from an approximately log-uniform (Zipfian) distribution.

    Class c of `range_max` has probability ``log((c + 2) / (c + 1)) / log(range_max + 1)``. `shape`
    is (rows, classes): each row of the first output holds distinct classes; the second output,
    (rows,), holds the number of draws with replacement that this took.
    """

    range_max: Int
    shape: Shape = ()

    def infer(a):
        shape = a.shape or ()
        require(len(shape) == 2, f"shape: expected (rows, classes), got {shape}")
        require(
            0 < shape[1] <= a.range_max,
            f"shape: expected 1 to range_max = {a.range_max} classes in a row, got {shape[1]}",
        )
        integers = dtypes.code_of("int64")
        return Spec(shape, integers), Spec(shape[:1], integers)

    def ref(a, xp):
        rows, count = a.shape
        draw = generator(xp).random
        drawn = [_row(draw, a.range_max, count) for _ in range(rows)]
        samples = np.array([classes for classes, _ in drawn], np.int64).reshape(rows, count)
        return samples, np.array([trials for _, trials in drawn], np.int64)

    samples = (sample(range_max=100, shape=(3, 7), grad=False),)
