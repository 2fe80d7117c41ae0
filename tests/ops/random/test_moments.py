"""Distributions of random numbers: means, deviations, frequencies."""

import numpy as np
import pytest

import mxcy as mx
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.ops.core.record import REGISTRY, values

# --- distributions -------------------------------------------------------------------------------

#: operator -> (attributes, mean, standard deviation)
MOMENTS = {
    "_random_uniform": ({"low": 1, "high": 4}, 2.5, 3 / 12**0.5),
    "_random_normal": ({"loc": 3, "scale": 2}, 3, 2),
    "_random_exponential": ({"lam": 0.5}, 2, 2),
    "_random_gamma": ({"alpha": 0.5, "beta": 3}, 1.5, 4.5**0.5),
    "_random_poisson": ({"lam": 20}, 20, 20**0.5),
    "_random_binomial": ({"n": 40, "p": 0.7}, 28, 8.4**0.5),
    "_random_negative_binomial": ({"k": 4, "p": 0.4}, 6, 15**0.5),
    "_random_generalized_negative_binomial": ({"mu": 3, "alpha": 0.5}, 3, 7.5**0.5),
    "_random_randint": ({"low": -4, "high": 5}, 0, (80 / 12) ** 0.5),
}

#: kernels that CPUs do not have
DEVICE_ONLY = ("image_random_crop", "image_random_resized_crop")


@pytest.mark.parametrize("name", MOMENTS)
@pytest.mark.parametrize("kernel", [None, "ref"])
def test_mean_and_deviation(name, kernel):
    attrs, mean, deviation = MOMENTS[name]
    mx.random.seed(11)
    n = 40000
    outs, _ = front.execute(REGISTRY[name], (), {**attrs, "shape": (n,)}, kernel=kernel)
    drawn = outs[0].numpy_view().astype(np.float64)
    assert abs(drawn.mean() - mean) < 5 * deviation / n**0.5
    assert abs(drawn.std() / deviation - 1) < 0.05


@pytest.mark.parametrize("kernel", [None, "ref"])
def test_multinomial_frequencies(kernel):
    table = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]])
    mx.random.seed(12)
    attrs = {"shape": (20000,), "get_prob": True}
    record = REGISTRY["_sample_multinomial"]
    outs, _ = front.execute(record, (mx.nd.array(table),), attrs, kernel=kernel)
    indices, logs = (out.numpy_view() for out in outs)
    for row, chosen, log in zip(table, indices, logs, strict=True):
        np.testing.assert_allclose(np.bincount(chosen, minlength=3) / 20000, row, atol=0.02)
        np.testing.assert_allclose(log, np.log(row[chosen]), rtol=1e-6)


def test_references_make_the_kernels_shapes_and_dtypes():
    records = {record.name: record for record in REGISTRY.values() if record.uses_rng}
    rng = np.random.default_rng(0)
    tried = 0
    for record in records.values():
        if callable(record.samples):  # layers that draw in some calls only
            continue
        for sample in record.samples:
            sources = [values(1, 2, s) if isinstance(s, tuple) else s for s in sample.inputs]
            arrays = tuple(mx.nd.array(source(rng)) for source in sources)
            train = {"train": sample.train}
            native, ran = front.execute(record, arrays, sample.attrs, **train)
            device_only = all(kernel.name in DEVICE_ONLY for kernel in record.kernels)
            assert ran != "ref" or device_only
            reference, _ = front.execute(record, arrays, sample.attrs, kernel="ref", **train)
            for one, other in zip(native, reference, strict=True):
                assert (one.shape, one.dtype_code) == (other.shape, other.dtype_code)
            tried += 1
    assert tried > 30


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("axes", [(), (1,)])
def test_dropout_rate_of_one_gives_no_finite_value(dtype, axes):
    """In MXNet the result is 0 times the infinite scale."""
    x = mx.nd.ones((3, 4)).astype(dtype)
    assert (mx.nd.Dropout(x, p=1, axes=axes) == x).asnumpy().all()
    with mx.autograd.record():
        dropped = mx.nd.Dropout(x, p=1, axes=axes)
    assert np.isnan(dropped.astype("float32").asnumpy()).all()
    for p in (-0.1, 1.1):
        with pytest.raises(mx.MXNetError, match=r"Dropout: p: must be in \[0, 1\]"):
            mx.nd.Dropout(x, p=p)


def test_classes_without_replacement():
    """About as many draws are needed as chances say; frequent classes come first."""
    draw = mx.nd._internal._sample_unique_zipfian
    mx.random.seed(3)
    classes, trials = (array.asnumpy() for array in draw(20000, shape=(4, 500)))
    assert classes.dtype == trials.dtype == np.int64
    assert classes.min() >= 0 and classes.max() < 20000
    for row, count in zip(classes, trials, strict=True):
        assert len(set(row.tolist())) == 500
        # Expected: the number of draws until 500 of these classes have come.
        assert 700 < count < 1000
        assert row[:100].mean() < row[-100:].mean()
    everything, _ = draw(6, shape=(2, 6))
    assert np.sort(everything.asnumpy()).tolist() == [[0, 1, 2, 3, 4, 5]] * 2
    for attrs in ({"range_max": 3, "shape": (1, 4)}, {"range_max": 3, "shape": (3,)}):
        with pytest.raises(MXNetError, match="_sample_unique_zipfian: shape"):
            draw(**attrs)
