"""Calibration's operator."""

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Int
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.record import op, sample, stop
from mxcy.ops.quantization.threshold import best_threshold

__all__ = []

_FLOAT = dtypes.code_of("float32")


def _counted(rng):
    """Return a histogram as a layer's outputs may have it."""
    numbers = rng.standard_normal(4000)
    return np.histogram(numbers, 301, (-3.5, 3.5))[0].astype(np.float32)


@op(
    "_contrib_calibrate_entropy",
    aliases=("_npx_contrib_calibrate_entropy",),
    inputs="hist hist_edges",
    outputs="threshold divergence",
    amp="fp32",
)
class CalibrateEntropy:
    """Find the quantization threshold of minimal KL divergence for a histogram.

    Minimises the Kullback-Leibler divergence between the histogram clipped to (-threshold,
    threshold) and its quantization to `num_quantized_bins` levels.

    Shapes: hist (n,) with n odd, hist_edges (n + 1,). Returns threshold and divergence (1,).
    """

    num_quantized_bins: Int = 255

    dtypes = ("float32",)
    samples = (
        sample(
            _counted,
            lambda rng: np.linspace(-3.5, 3.5, 302, dtype=np.float32),
            num_quantized_bins=31,
        ),
        sample(_counted, lambda rng: np.linspace(-3.5, 3.5, 302, dtype=np.float32)),
    )
    grad = stop

    def infer(a, hist, hist_edges):
        require(a.num_quantized_bins > 0, f"num_quantized_bins: got {a.num_quantized_bins}")
        for name, spec in (("hist", hist), ("hist_edges", hist_edges)):
            spec.fill(name, None, _FLOAT)
            require(spec.shape is None or len(spec.shape) == 1, f"{name}: expected one dimension")
        if hist.shape is not None and hist.shape[0] != -1:
            require(hist.shape[0] % 2 == 1, f"hist: expected an odd number, got {hist.shape[0]}")
            most, wanted = hist.shape[0], a.num_quantized_bins
            require(wanted <= most, f"num_quantized_bins: expected at most {most}, got {wanted}")
            hist_edges.fill("hist_edges", (hist.shape[0] + 1,))
        return Spec((1,), _FLOAT), Spec((1,), _FLOAT)

    def ref(a, xp, hist, hist_edges):
        threshold = best_threshold(hist, hist_edges, a.num_quantized_bins)
        return tuple(xp.asarray([number], "float32") for number in threshold)
