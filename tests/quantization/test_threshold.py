"""The optimal threshold is found without computing the loss of every candidate."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.ops.quantization import threshold
from mxcy.quantization.collectors import LayerHistogramCollector

_DRAWS = {
    "smooth": lambda rng: np.rint(1000 * np.exp(-(np.linspace(-3, 3, 401) ** 2))),
    "noisy": lambda rng: rng.poisson(3, 401),
    "positive": lambda rng: rng.poisson(20 * np.linspace(-1, 1, 401).clip(0)),
    "sparse": lambda rng: rng.poisson(0.02, 401),
    "fractions": lambda rng: rng.uniform(0, 1, 401) * rng.integers(0, 2, 401),
    "one bin": lambda rng: np.eye(401)[200],
    "an edge": lambda rng: 1000 * np.eye(401)[-1],
    "nothing": lambda rng: np.zeros(401),
}


@pytest.mark.parametrize("levels", (5, 31, 255, 500))
@pytest.mark.parametrize("kind", _DRAWS)
def test_best_of_all_candidates(kind, levels):
    counts = _DRAWS[kind](np.random.default_rng(3)).astype("float32")
    edges = np.linspace(-2, 2, counts.size + 1, dtype="float32")
    widths = np.arange(min(levels // 2, 200), 201)
    losses = [threshold._divergence(counts, width, levels) for width in widths]
    actual, loss = threshold.best_threshold(counts, edges, levels)
    assert actual == edges[200 + widths[np.argmin(losses)] + 1]
    assert loss == np.float32(min(losses))


@pytest.mark.parametrize("kind", _DRAWS)
def test_estimates_are_as_good_as_is_assumed(kind):
    counts = _DRAWS[kind](np.random.default_rng(5)).astype("float32")
    widths = np.arange(15, 201)
    estimates = threshold._estimates(counts.astype("float64"), widths, 31)
    losses = np.array([threshold._divergence(counts, width, 31) for width in widths])
    told = ~np.isnan(estimates)
    assert (np.isinf(estimates) == np.isinf(losses))[told].all()
    told &= np.isfinite(losses)
    assert np.all(np.abs(estimates[told] - losses[told]) < threshold._DOUBT)


@pytest.mark.parametrize("bins, edges", ((400, 401), (401, 401), (0, 1)))
def test_bins_that_make_no_histogram(bins, edges):
    with pytest.raises(ValueError, match="odd number of bins and one edge more"):
        threshold.best_threshold(np.ones(bins), np.arange(edges))


def test_collectors_keep_outliers_over_a_background():
    rng = np.random.default_rng(0)
    numbers = np.where(rng.uniform(size=200_000) < 0.8, 0, rng.normal(size=200_000))
    collector = LayerHistogramCollector()
    collector.collect("x", "relu", numbers.astype("float32"))
    alone = collector.get_optimal_threshold(collector.hist_dict["x"], "int8")[2]
    low, high = collector.post_collect()["x"]
    assert alone < 1 and low == -high
    clipped = (np.abs(numbers) > high).sum() / (numbers != 0).sum()
    assert 5e-4 < clipped <= 1e-3


def test_collectors_of_zeros_and_of_one_number():
    collector = LayerHistogramCollector(401)
    collector.collect("zeros", "relu", np.zeros(5, "float32"))
    collector.collect("one", "relu", np.array([0, 0, 3], "float32"))
    ranges = collector.post_collect()
    assert np.isfinite(ranges["zeros"]).all()
    assert ranges["one"][1] == pytest.approx(3)


def test_more_numbers_than_bins_are_refused():
    histogram, edges = mx.nd.ones((301,)), mx.nd.arange(302)
    threshold, _ = mx.nd.contrib.calibrate_entropy(histogram, edges, num_quantized_bins=301)
    assert threshold.shape == (1,)
    for number in (303, 2**31 - 1):
        with pytest.raises(mx.MXNetError, match="num_quantized_bins: expected at most 301"):
            mx.nd.contrib.calibrate_entropy(histogram, edges, num_quantized_bins=number)
