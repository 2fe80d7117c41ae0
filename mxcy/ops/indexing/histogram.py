"""Histograms."""

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core.attrs import DoubleTuple, IntOrNone
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.record import op, sample

_INT64 = dtypes.CODES["int64"]
_EXACT_BINS = 1 << 16  # up to here float32 division finds the bin +-1, which NumPy corrects


@op("_histogram", aliases=("_npi_histogram",), inputs="data bins?", outputs="output0 output1")
class Histogram:
    """Compute a histogram; bins are half-open except the last, elements outside are ignored.

    The edges are given as `bins`, or by `bin_cnt` equal-width bins over `range`. Returns the int64
    counts and the edges.
    """

    bin_cnt: IntOrNone = None
    range: DoubleTuple = ()

    def arguments(a):
        return ("data", "bins") if a.bin_cnt is None else ("data",)

    def infer(a, data, bins=None):
        if a.bin_cnt is None:
            if bins.shape is None:
                return Spec(None, _INT64), Spec(None, bins.dtype)
            require(bins.ndim == 1, f"bins must have one dimension, got shape {bins.shape}")
            intervals = bins.shape[0] - 1
            require(intervals != 0 and intervals != -1, "bins must hold at least two bounds")
            return Spec((max(intervals, -1),), _INT64), Spec(bins.shape, bins.dtype)
        require(a.bin_cnt > 0, f"bin_cnt must be positive, got {a.bin_cnt}")
        require(
            len(a.range) == 2 and a.range[0] < a.range[1],
            f"range must be two ascending bounds, got {a.range}",
        )
        return Spec((a.bin_cnt,), _INT64), Spec((a.bin_cnt + 1,), data.dtype)

    def ref(a, xp, data, bins=None):
        flat = data.reshape(-1)
        if bins is None:
            bins = xp.linspace(*a.range, a.bin_cnt + 1).astype(data.dtype)
            if data.dtype.kind == "f" and data.dtype.itemsize >= 4 and a.bin_cnt <= _EXACT_BINS:
                counts, _ = xp.histogram(flat, a.bin_cnt, a.range)  # by division, not by search
                return counts, bins
        counts, _ = xp.histogram(flat, bins=bins)
        return counts, bins

    samples = (
        sample((3, 4), np.array([-1.0, 0.0, 0.25, 1.0], np.float32), dtypes=("float32",)),
        sample((3, 4), bin_cnt=3, range=(-0.5, 1.0)),
    )
