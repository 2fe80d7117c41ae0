"""Thresholds of histograms as calibration finds them: 8001 bins of 100,000 numbers."""

import numpy as np

from tests.ops.golden.case import Case

__all__ = ["FAMILY"]

_BINS = 8001


def _counts(values):
    """(histogram, edges) of numbers about zero."""
    top = np.abs(values).max()
    places = np.floor((values / top + 1) / 2 * _BINS).astype(int)
    histogram = np.bincount(np.minimum(places, _BINS - 1), minlength=_BINS)
    return histogram.astype("float32"), np.linspace(-top, top, _BINS + 1).astype("float32")


def entropy():
    draw = np.random.RandomState(1)
    drawn = {
        "normal": draw.normal(size=100000),
        "positive": np.maximum(draw.normal(size=100000), 0),
        "exponential": draw.exponential(size=100000),
        "few": draw.randint(-3, 4, 500).astype(float),
    }
    for name, values in drawn.items():
        for levels in (255, 511):
            inputs = _counts(values)
            attrs = {"num_quantized_bins": levels}
            yield f"{name}_{levels}", Case("contrib.calibrate_entropy", *inputs, tol=5, **attrs)


FAMILY = (entropy,)
