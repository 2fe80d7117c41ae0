"""Random numbers on gpu(0): Philox's test vectors, distributions, seeds, streams, graphs."""

import ctypes
import math

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd, gluon
from mxcy.gpu.compile import function
from mxcy.gpu.driver import start, wait
from mxcy.gpu.elementwise.pointwise import elements, text_of
from tests.gpu.device.test_launches import launches

GPU = mx.gpu(0)
COUNT = 4000

#: counter, key and result of Random123's known-answer tests of philox4x32-10
VECTORS = (
    ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
)


@pytest.fixture(autouse=True)
def seeded():
    mx.random.seed(11)


@pytest.mark.parametrize(("counter", "key", "expected"), VECTORS)
def test_known_answers(counter, key, expected):
    text = f"""{elements()}{text_of("philox.cuh")}
    extern "C" __global__ void answer(const int* c, int* out) {{
      const Words words{{{{(unsigned)c[0], (unsigned)c[1], (unsigned)c[2], (unsigned)c[3]}}}};
      const Words found = philox(words, (unsigned)c[4], (unsigned)c[5]);
      for (int i = 0; i < 4; ++i) out[i] = (int)found.x[i];
    }}"""
    given = np.array([*counter, *key], np.uint32).view(np.int32)
    words, out = mx.nd.array(given, ctx=GPU, dtype="int32"), mx.nd.zeros(4, ctx=GPU, dtype="int32")
    out.wait_to_read()
    addresses = [ctypes.c_uint64(array.address) for array in (words, out)]
    start(0, function(text, "answer", 0), (1, 1, 1), (1, 1, 1), 0, addresses)
    wait(0)
    assert " ".join(f"{x:08x}" for x in out.asnumpy().view(np.uint32)) == expected


#: name -> (keywords, mean, variance)
DISTRIBUTIONS = {
    "uniform": ({"low": -1, "high": 3}, 1, 16 / 12),
    "normal": ({"loc": 2, "scale": 3}, 2, 9),
    "exponential": ({"lam": 4}, 0.25, 1 / 16),
    "gamma": ({"alpha": 3, "beta": 2}, 6, 12),
    "gamma of a small shape": ({"alpha": 0.5, "beta": 2}, 1, 2),
    "poisson": ({"lam": 3}, 3, 3),
    "poisson of a large rate": ({"lam": 60}, 60, 60),
    "binomial": ({"n": 12, "p": 0.25}, 3, 2.25),
    "binomial of many": ({"n": 100, "p": 0.7}, 70, 21),
    "negative_binomial": ({"k": 3, "p": 0.4}, 4.5, 11.25),
    "generalized_negative_binomial": ({"mu": 3, "alpha": 0.5}, 3, 7.5),
}


def is_like(samples, mean, variance):
    """Return whether mean and variance are within six standard errors."""
    samples = np.asarray(samples, np.float64).reshape(-1)
    error = math.sqrt(variance / samples.size)
    spread = np.square(samples - mean)
    assert abs(samples.mean() - mean) < 6 * error
    assert abs(spread.mean() - variance) < 6 * spread.std() / math.sqrt(samples.size)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions(name, dtype):
    attrs, mean, variance = DISTRIBUTIONS[name]
    draw = getattr(mx.nd, f"random_{name.split()[0]}")
    before = launches()
    samples = draw(shape=(COUNT,), ctx=GPU, dtype=dtype, **attrs)
    assert samples.context == GPU
    values = samples.asnumpy()
    assert launches() == before + 2  # the draw, and advancing the streams
    assert values.dtype == dtype
    is_like(values, mean, variance)
    again = draw(shape=(COUNT,), ctx=GPU, dtype=dtype, **attrs).asnumpy()
    assert not np.array_equal(again, values)
    mx.random.seed(11)
    np.testing.assert_array_equal(
        draw(shape=(COUNT,), ctx=GPU, dtype=dtype, **attrs).asnumpy(), values
    )


def test_uniform_numbers_fill_their_range():
    values = mx.nd.random.uniform(shape=(COUNT,), ctx=GPU).asnumpy()
    assert 0 <= values.min() < 0.005
    assert 0.995 < values.max() < 1
    counts, _ = np.histogram(values, 16, (0, 1))
    expected = COUNT / 16
    assert ((counts - expected) ** 2 / expected).sum() < 45  # chi-square, p = 1e-4


def test_neighbours_are_unrelated():
    values = mx.nd.random.normal(shape=(COUNT,), ctx=GPU).asnumpy()
    for lag in (1, 2, 3, 4, 8):
        assert abs(np.corrcoef(values[:-lag], values[lag:])[0, 1]) < 6 / math.sqrt(COUNT)


def test_rows():
    mean, deviation = (mx.nd.array(v, ctx=GPU) for v in ([0, 50], [1, 4]))
    samples = mx.nd.sample_normal(mean, deviation, shape=(COUNT,)).asnumpy()
    is_like(samples[0], 0, 1)
    is_like(samples[1], 50, 16)
    rates = mx.nd.array([2, 30], ctx=GPU)
    samples = mx.nd.sample_poisson(rates, shape=(COUNT,)).asnumpy()
    is_like(samples[0], 2, 2)
    is_like(samples[1], 30, 30)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers(dtype):
    values = mx.nd.random.randint(-3, 5, shape=(COUNT,), ctx=GPU, dtype=dtype).asnumpy()
    assert values.dtype == dtype
    assert set(values.tolist()) == set(range(-3, 5))
    is_like(values, 0.5, 63 / 12)


#: name -> (keywords, mean, variance)
NUMPY = {
    "laplace": ({"loc": 1, "scale": 2}, 1, 8),
    "gumbel": ({"loc": 1, "scale": 2}, 1 + 2 * np.euler_gamma, 4 * math.pi**2 / 6),
    "logistic": ({"loc": 1, "scale": 2}, 1, 4 * math.pi**2 / 3),
    "exponential": ({"scale": 3}, 3, 9),
    "rayleigh": ({"scale": 2}, 2 * math.sqrt(math.pi / 2), (4 - math.pi) / 2 * 4),
    "weibull": ({"a": 2}, math.sqrt(math.pi) / 2, 1 - math.pi / 4),
    "pareto": ({"a": 6}, 1 / 5, 6 / 25 / 4),
    "power": ({"a": 2}, 2 / 3, 2 / 4 / 9),
    "gamma": ({"shape": 2, "scale": 3}, 6, 18),
}


@pytest.mark.parametrize("name", NUMPY)
def test_distributions_of_mx_np(name):
    attrs, mean, variance = NUMPY[name]
    with GPU:
        samples = getattr(mx.np.random, name)(size=(COUNT,), **attrs)
    assert samples.ctx == GPU
    is_like(samples.asnumpy(), mean, variance)


@pytest.mark.parametrize("axes", [(), (1,), (0, 2)])
def test_dropout(axes):
    x = mx.nd.ones((20, 30, 40), ctx=GPU)
    x.attach_grad()
    with autograd.record():
        y = mx.nd.Dropout(x, p=0.25, axes=axes)
    y.backward(mx.nd.full(y.shape, 2, ctx=GPU))
    values = y.asnumpy()
    kept = values != 0
    np.testing.assert_allclose(values[kept], 4 / 3, rtol=1e-6)
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * values, rtol=1e-6)
    draws = kept
    for axis in axes:
        first = np.take(draws, [0], axis)
        assert (draws == first).all()
        draws = first
    share, error = draws.mean(), math.sqrt(0.25 * 0.75 / draws.size)
    assert abs(share - 0.75) < 6 * error
    np.testing.assert_array_equal(mx.nd.Dropout(x, p=0.25).asnumpy(), np.ones(x.shape))


def test_sets_of_streams_take_turns():
    """The fifth draw continues in the first of four sets; Dropout has separate sets."""
    first = mx.nd.random.uniform(shape=(4,), ctx=GPU).asnumpy()
    others = [mx.nd.random.uniform(shape=(4,), ctx=GPU).asnumpy() for _ in range(3)]
    assert len({values.tobytes() for values in (first, *others)}) == 4
    mx.random.seed(11)
    with autograd.train_mode():
        mx.nd.Dropout(mx.nd.ones((4,), ctx=GPU)).wait_to_read()
    np.testing.assert_array_equal(mx.nd.random.uniform(shape=(4,), ctx=GPU).asnumpy(), first)


def test_graphs_draw_anew(monkeypatch):
    """Each replay of a CUDA graph drops different elements."""
    results = {}
    for enabled in ("0", "1"):
        monkeypatch.setenv("MXNET_ENABLE_CUDA_GRAPHS", enabled)
        net = gluon.nn.HybridLambda(lambda F, a: F.dot(F.Dropout(F.dot(a, a), p=0.5), a))
        net.hybridize(static_alloc=True, static_shape=True)
        x = mx.nd.array(np.eye(16), ctx=GPU)
        mx.random.seed(3)
        results[enabled] = []
        for _ in range(5):
            with autograd.record():
                results[enabled].append(net(x).asnumpy())
    assert len({values.tobytes() for values in results["1"]}) == 5
    for launched, replayed in zip(results["0"], results["1"], strict=True):
        np.testing.assert_array_equal(launched, replayed)
