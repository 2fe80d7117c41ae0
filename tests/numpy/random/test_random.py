"""mx.np.random and mx.npx.random: MXNet's numbers, shapes, types, gradients and errors."""

from pathlib import Path

import numpy as onp
import pytest
from scipy.stats import gamma

import mxcy as mx
from mxcy import autograd, np, npx
from mxcy.base import MXNetError
from tests.numpy.random.random_draws import all_draws

GOLDEN = Path(__file__).parents[2] / "data" / "np_random_golden.npz"


def test_numbers_equal_those_of_mxnet():
    golden = onp.load(GOLDEN)
    names = []
    for name, drawn in all_draws(mx):
        names.append(name)
        want = golden[name]
        assert (drawn.dtype, drawn.shape) == (want.dtype, want.shape), name
        onp.testing.assert_allclose(drawn, want, rtol=3e-6, atol=1e-6, err_msg=name)
        if name.startswith(("uniform", "multinomial", "choice", "randint")) or "next" in name:
            onp.testing.assert_array_equal(drawn, want, err_msg=name)
    assert sorted(names) == sorted(golden.files)


@pytest.mark.parametrize(
    "seed, replace, want",  # of MXNet 1.9.1
    [
        (0, True, [3, 3, 4, 4]),
        (0, False, [3, 5, 4, 1]),
        (7, True, [3, 5, 4, 5]),
        (7, False, [3, 1, 4, 2]),
    ],
)
def test_weighted_choice_is_that_of_mxnet(seed, replace, want):
    np.random.seed(seed)
    weights = np.array([0.1, 0.2, 0.05, 0.3, 0.25, 0.1])
    assert np.random.choice(6, 4, replace=replace, p=weights).tolist() == want


def test_weighted_choice_follows_the_weights():
    np.random.seed(1)
    drawn = np.random.choice(3, 4000, p=[0.1, 0.0, 0.9]).asnumpy()
    assert set(drawn) == {0, 2} and abs((drawn == 0).mean() - 0.1) < 0.02
    assert np.random.choice(np.array([1.5, 7.0]), size=(2, 2)).dtype == onp.float32


@pytest.mark.parametrize("size", [None, (), 0, 3, (2, 0), (2, 3)])
def test_sizes(size):
    shape = onp.empty(() if size is None else size).shape
    for draw in (np.random.uniform, np.random.normal, np.random.gumbel, np.random.exponential):
        assert draw(size=size).shape == shape
    assert np.random.gamma(2.0, size=size).shape == shape
    assert np.random.randint(5, size=size).shape == shape
    assert np.random.choice(5, size=size).shape == shape
    assert np.random.multinomial(3, [0.5, 0.5], size=size).shape == (*shape, 2)


def test_types():
    assert np.random.uniform().dtype == onp.float32
    assert np.random.normal(size=2, dtype="float16").dtype == onp.float16
    assert np.random.randint(3, size=2, dtype="uint8").dtype == onp.uint8
    assert npx.random.bernoulli(0.5, size=3, dtype="bool").dtype == onp.bool_
    with mx.util.np_default_dtype(True):
        assert np.random.uniform().dtype == np.random.beta(1.0, 2.0).dtype == onp.float64


def test_parameters_broadcast():
    low, high = np.array([[0.0], [10.0]]), np.array([1.0, 2.0, 3.0])
    drawn = np.random.uniform(low, low + high, size=(40, 2, 3)).asnumpy()
    assert (drawn >= low.asnumpy()).all() and (drawn <= (low + high).asnumpy()).all()
    assert drawn[:, 0, 2].max() > 2.5 and drawn[:, 1, 0].max() <= 11
    assert npx.random.normal_n(low, high, batch_shape=(4,)).shape == (4, 2, 3)
    assert npx.random.uniform_n(0.0, 1.0, 4).shape == (4,)
    with pytest.raises(MXNetError, match="broadcast"):
        np.random.normal(high, 1.0, size=(2,))


@pytest.mark.parametrize(
    "name, number",
    [(n, 2) for n in ("uniform", "normal", "laplace", "gumbel", "logistic")]
    + [(n, 1) for n in ("exponential", "rayleigh", "weibull", "pareto", "power")],
)
def test_pathwise_gradients(name, number):
    draw = getattr(np.random, name)
    given = [onp.array([[0.7], [1.3]]), onp.array([1.1, 2.0, 2.5])][-number:]
    arrays = [np.array(value, dtype="float64") for value in given]
    for array in arrays:
        array.attach_grad()

    def total(values):
        np.random.seed(5)
        return draw(*values, size=(4, 2, 3), dtype="float64").sum()

    with autograd.record():
        total(arrays).backward()
    for i, array in enumerate(arrays):
        moved = [
            [np.array(v + (d if i == j else 0), dtype="float64") for j, v in enumerate(given)]
            for d in (1e-5, -1e-5)
        ]
        slope = (float(total(moved[0])) - float(total(moved[1]))) / 2e-5
        assert abs(slope - array.grad.asnumpy().sum()) < 1e-4 * (1 + abs(slope)), (name, i)


def test_out_and_devices():
    out = np.zeros((3,))
    assert np.random.normal(size=3, out=out) is out and out.asnumpy().any()
    assert np.random.uniform(size=2, device=mx.cpu()).shape == (2,)
    npx.random.seed(seed=4, ctx=mx.cpu())
    drawn = npx.random.normal_n(batch_shape=3, ctx=mx.cpu())
    np.random.seed(4)
    assert drawn.tolist() == np.random.normal(size=3).tolist()


def test_shuffling_keeps_elements():
    x = np.arange(12).reshape(6, 2)
    np.random.shuffle(x)
    rows = x.asnumpy()
    assert (rows[:, 1] - rows[:, 0] == 1).all() and sorted(rows[:, 0]) == [0, 2, 4, 6, 8, 10]
    order = np.random.permutation(9)
    assert order.dtype == onp.int64 and sorted(order.tolist()) == list(range(9))


def test_multivariate_normal_has_the_covariance():
    np.random.seed(2)
    cov = onp.array([[2.0, 0.6], [0.6, 1.0]])
    drawn = np.random.multivariate_normal([1.0, -1.0], cov, 20000).asnumpy()
    onp.testing.assert_allclose(onp.cov(drawn.T), cov, atol=0.08)
    assert np.random.multivariate_normal(np.zeros(2), np.array([cov] * 3), 5).shape == (5, 3, 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: np.random.normal(0, -1),
        lambda: np.random.gamma(0.0),
        lambda: np.random.gamma(1.0, 0.0).asnumpy(),
        lambda: np.random.gamma(np.array(1.0), np.array(0.0)).asnumpy(),
        lambda: np.random.normal(np.array([0.0]), np.array([-1.0])).asnumpy(),
        lambda: npx.random.bernoulli(2.0),
        lambda: npx.random.bernoulli(),
        lambda: np.random.multinomial(3, [0.9, 0.9, 0.1]).asnumpy(),
    ],
)
def test_bad_parameters(call):
    with pytest.raises((ValueError, MXNetError)):
        call()


def test_choices_that_are_impossible():
    for call in (lambda: np.random.choice(3, 5, replace=False), lambda: np.random.choice(0, 1)):
        with pytest.raises(MXNetError):
            call()
    assert np.random.uniform(2, 1, size=2).shape == (2,)


@pytest.mark.parametrize(("population", "count"), [(100, 3), (100, 60), (100_000, 5), (2**33, 4)])
def test_choices_without_replacement_are_places_of_a_list(population, count):
    words = min(count, population - count)
    np.random.seed(7)
    drawn = np.random.choice(2**32, words).asnumpy()
    start, places = population - words, {}
    for i, word in enumerate(drawn.tolist()):
        last, other = start + i, word % (start + i + 1)
        if other < start:
            places[last], places[other] = places.get(other, other), places.get(last, last)
    first = population - count if 2 * count < population else 0
    np.random.seed(7)
    chosen = np.random.choice(population, count, replace=False).asnumpy()
    assert chosen.tolist() == [places.get(first + i, first + i) for i in range(count)]


def test_counted_draws():
    n, p = np.array([0, 3, 50]), np.array([[0.2, 0.8], [1.0, 0.0], [0.5, 0.5]])
    for actual in (
        npx.random.multinomial(n, p, shape=4),
        npx.random.multinomial(n, p, shape=(2, 2)),
    ):
        counts = actual.asnumpy().reshape(3, 4, 2)
        assert actual.dtype == "float32" and (counts.sum(-1) == [[0], [3], [50]]).all()
        assert (counts[1] == [3, 0]).all() and 0 < counts[2].min()
    actual = mx.nd.random.multinomial(
        n=mx.nd.array([5]), p=mx.nd.array([[0.0, 1.0]]), dtype="int32"
    )
    assert actual.dtype == onp.int32 and actual.asnumpy().tolist() == [[0, 5]]
    with pytest.raises(MXNetError, match="multinomial: n has shape"):
        npx.random.multinomial(n, p[:2])


def test_no_multivariate_samples():
    assert np.random.multivariate_normal(np.zeros(2), np.eye(2), (2, 0)).shape == (2, 0, 2)
    assert np.random.multivariate_normal(np.zeros((2, 2)), np.eye(2), (0,)).shape == (0, 2, 2)


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gamma_moves_with_its_shape(hybridize, dtype):
    alphas = onp.array([0.05, 0.7, 3, 40, 900, 1100, 5e4])
    actual = []

    class Draw(mx.gluon.HybridBlock):
        def forward(self, shape, scale):
            return np.random.gamma(shape, scale, size=(5, len(alphas)), dtype=dtype)

    draw = Draw()
    if hybridize:
        draw.hybridize()
    shape, scale = np.array(alphas, dtype), np.array([2.0], dtype)
    shape.attach_grad()
    scale.attach_grad()
    with autograd.record():
        samples = draw(shape, scale)
    samples.backward()
    actual = samples.asnumpy().astype("float64") / 2
    onp.testing.assert_allclose(scale.grad.asnumpy(), [actual.sum()], rtol=1e-4)
    step = 1e-4 * alphas
    slope = (gamma.cdf(actual, alphas - step) - gamma.cdf(actual, alphas + step)) / (2 * step)
    want = 2 * slope / gamma.pdf(actual, alphas)
    onp.testing.assert_allclose(shape.grad.asnumpy(), want.sum(0), rtol=2e-3)


def test_gamma_moves_with_parameters_that_broadcast():
    shape, scale = np.full((2, 1), 3.0), np.ones(4)
    shape.attach_grad()
    with autograd.record():
        samples = np.random.gamma(shape, scale)
    samples.backward()
    assert samples.shape == (2, 4) and shape.grad.shape == (2, 1)
    assert (shape.grad > 0.5).all()
    with autograd.record():
        drawn = np.random.gamma(shape, 1.0, size=(0, 2, 1))
    drawn.backward()
    assert (shape.grad == 0).all()


def test_multinomial_without_classes():
    for classes in ([], (), np.array([])):
        assert np.random.multinomial(5, classes).shape == (0,)
        assert np.random.multinomial(5, classes, size=(2, 3)).shape == (2, 3, 0)
        assert np.random.multinomial(5, classes, size=3).dtype == "int64"


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_integer_types_cut_off_fractions(dtype):
    np.random.seed(7)
    floats = np.random.uniform(0, 100, size=(50,)).asnumpy()
    np.random.seed(7)
    drawn = np.random.uniform(0, 100, size=(50,), dtype=dtype)
    assert drawn.dtype == dtype
    onp.testing.assert_array_equal(drawn.asnumpy(), onp.trunc(floats))
    out = np.zeros((50,), dtype=dtype)
    np.random.seed(7)
    assert np.random.uniform(0, 100, size=(50,), dtype=dtype, out=out) is out
    onp.testing.assert_array_equal(out.asnumpy(), onp.trunc(floats))


def test_short_names_draw_the_same():
    for short, full in (("random", np.random.uniform), ("standard_normal", np.random.normal)):
        np.random.seed(5)
        first = getattr(np.random, short)((2, 3))
        np.random.seed(5)
        assert first.tolist() == full(size=(2, 3)).tolist()
        assert getattr(np.random, short)().shape == ()
