"""Random choice on gpu(0): frequencies, and absence of duplicates."""

import numpy as np
import pytest

import mxcy as mx
from tests.gpu.device.test_launches import launches
from tests.gpu.standin.seam import is_chosen

GPU = mx.gpu(0)
DRAWS = 6000


@pytest.fixture(autouse=True)
def seeded():
    mx.random.seed(5)


def assert_shares(drawn, probabilities):
    """Check frequencies against probabilities, within 5 standard deviations."""
    counts = np.bincount(np.ravel(drawn).astype(int), minlength=len(probabilities))
    n, p = counts.sum(), np.asarray(probabilities, float)
    assert len(counts) == len(p)
    assert (np.abs(counts - n * p) <= 5 * np.sqrt(n * p * (1 - p)) + 1e-6).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_multinomial(dtype):
    table = np.array([[0.1, 0, 0.4, 0.5], [1, 0, 0, 0]], dtype)
    data = mx.nd.array(table, ctx=GPU, dtype=dtype)
    data.attach_grad()
    with mx.autograd.record():
        drawn, logarithm = mx.nd.sample_multinomial(data, shape=DRAWS, get_prob=True)
    logarithm.backward()
    assert drawn.context == logarithm.context == GPU
    for row, p in zip(drawn.asnumpy(), table, strict=True):
        assert_shares(row, p)
    chosen = np.take_along_axis(table, drawn.asnumpy(), axis=1)
    np.testing.assert_allclose(logarithm.asnumpy(), np.log(chosen), rtol=2e-3)
    counts = np.bincount(drawn.asnumpy()[0], minlength=4)
    wanted = counts / np.where(counts, table[0], 1)
    np.testing.assert_allclose(data.grad.asnumpy()[0], wanted, rtol=1e-2)


def test_many_choices_and_other_types():
    p = np.arange(1, 601) / (300 * 601)
    drawn = mx.nd.sample_multinomial(mx.nd.array(p, ctx=GPU), shape=DRAWS, dtype="float32")
    assert drawn.dtype == np.float32
    assert abs(drawn.asnumpy().mean() - (np.arange(600) * p).sum()) < 10
    one = mx.nd.sample_multinomial(mx.nd.array([[0, 1, 0]] * 300, ctx=GPU), dtype="uint8")
    assert (one.asnumpy() == 1).all()


@pytest.mark.parametrize("shape", [(7,), (16, 3), (2048,), (5000, 2)])
def test_shuffle(shape):
    x = np.arange(np.prod(shape), dtype="float32").reshape(shape)
    orders = []
    for _ in range(2):
        out = mx.nd.shuffle(mx.nd.array(x, ctx=GPU))
        assert out.context == GPU
        values = out.asnumpy()
        order = values.reshape(len(x), -1)[:, 0].argsort()
        np.testing.assert_array_equal(values[order], x)  # whole items, each once
        orders.append(order)
    assert len(x) < 16 or (orders[0] != orders[1]).any()


@pytest.mark.parametrize("n", [5, 2100])
def test_shuffled_places_are_uniform(n):
    """The first place, and the mean of the first half, in 400 permutations."""
    x = mx.nd.arange(n, ctx=GPU)
    orders = np.stack([mx.nd.shuffle(x).asnumpy() for _ in range(400)])
    deviation = n / np.sqrt(12)
    assert abs(orders[:, 0].mean() - (n - 1) / 2) < 5 * deviation / 20
    half = orders[:, : n // 2].mean()
    assert abs(half - (n - 1) / 2) < 5 * deviation / np.sqrt(400 * (n // 2))


def test_numpy_choice():
    random = mx.np.random
    with mx.Context(GPU):
        p = [0.1, 0.2, 0.7]
        assert_shares(random.choice(3, DRAWS).asnumpy(), [1 / 3] * 3)
        assert_shares(random.choice(3, DRAWS, p=mx.np.array(p)).asnumpy(), p)
        for n, k in ((50, 20), (9000, 5000)):
            once = random.choice(n, k, replace=False)
            assert once.context == GPU
            assert len(set(once.asnumpy().tolist())) == k
            assert once.asnumpy().max() < n
        weights = mx.np.array([0, 0.5, 0, 0.25, 0.25])
        for _ in range(5):
            once = random.choice(5, 3, replace=False, p=weights).asnumpy()
            assert set(once.tolist()) == {1, 3, 4}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_choice_among_many_weights(dtype):
    """Items of zero weight are not chosen, heavy ones come earlier, and none repeats."""
    n, k = 5001, 2300
    weights = np.tile([0.0, 1.0, 3.0], n // 3)
    p = (weights / weights.sum()).astype(dtype)
    with mx.Context(GPU):
        drawn = mx.np.random.choice(n, k, replace=False, p=mx.np.array(p, dtype=dtype))
        assert drawn.context == GPU
        values = drawn.asnumpy()
        again = mx.np.random.choice(n, k, replace=False, p=mx.np.array(p, dtype=dtype)).asnumpy()
    assert len(set(values.tolist())) == k
    assert (weights[values] > 0).all()
    assert (values != again).any()
    # About three quarters of the first 500 have weight 3, and they are spread evenly.
    heavy = (weights[values[:500]] == 3).mean()
    assert abs(heavy - 0.73) < 0.1
    assert abs(values[:500].mean() - n / 2) < 5 * n / np.sqrt(12 * 500)


def test_numpy_multinomial():
    p = np.array([0.1, 0.4, 0, 0.5])
    with mx.Context(GPU):
        counts = mx.np.random.multinomial(100, mx.np.array(p), size=(400,))
        values = counts.asnumpy()
        assert counts.context == GPU
        assert (values.sum(-1) == 100).all()
        assert (np.abs(values.mean(0) - 100 * p) <= 5 * np.sqrt(p * (1 - p) / 4) + 1e-9).all()
        assert (np.abs(values.var(0) - 100 * p * (1 - p)) <= 25 * p * (1 - p) + 1e-9).all()
        with pytest.raises(ValueError, match="sum"):
            mx.np.random.multinomial(3, mx.np.array([0.8, 0.8, 0.1])).asnumpy()


def test_seeds_and_calls():
    """The same seed repeats the draws; further calls differ."""
    data = mx.nd.array([0.25] * 4, ctx=GPU)
    drawn = []
    for _ in range(2):
        mx.random.seed(3, ctx=GPU)
        drawn.append([mx.nd.sample_multinomial(data, shape=50).asnumpy() for _ in range(2)])
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0][0] != drawn[0][1]).any()


@pytest.mark.skipif(not is_chosen(), reason="the stand-in counts launches")
@pytest.mark.parametrize(
    ("call", "count"),
    [
        (lambda: mx.nd.sample_multinomial(mx.nd.array([0.5, 0.5])), 3),
        (lambda: mx.nd.shuffle(mx.nd.zeros((3, 2))), 3),
        (lambda: mx.np.random.choice(9, 3), 2),
        (lambda: mx.np.random.choice(9, 3, replace=False), 2),
        (lambda: mx.np.random.choice(3000, 3, False, mx.np.full(3000, 1 / 3000)), 4),
        (lambda: mx.np.random.multinomial(3, mx.np.array([0.5, 0.5])), 2),
    ],
)
def test_no_draw_is_made_on_the_host(call, count):
    with mx.Context(GPU):
        call().wait_to_read()  # creating its operands takes launches, too
        before = launches()
        call().wait_to_read()
    assert count <= launches() - before <= count + 1
