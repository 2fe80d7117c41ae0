"""Distributions of vectors and of categories."""

import math

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd

mgp = mx.gluon.probability
pytestmark = pytest.mark.usefixtures("np_arrays")

PROB = np.array([[0.2, 0.3, 0.5], [0.1, 0.6, 0.3]])
ALPHA = np.array([[0.7, 1.0, 2.5], [4.5, 6.0, 1.25]])
ROOT = np.array([[1.0, 0, 0], [0.5, 2, 0], [-1, 0.25, 0.75]])
COV = np.stack([ROOT @ ROOT.T, np.diag([1.0, 2, 3])])
LOC = np.array([[0.0, 1, 2], [-1, 0.5, 3]])


def array(values, dtype="float64"):
    return mx.np.array(values, dtype=dtype)


def close(actual, expected, tolerance=1e-9):
    assert actual.shape == np.shape(expected)
    np.testing.assert_allclose(actual.asnumpy(), expected, rtol=tolerance, atol=tolerance)


def odds(name):
    """Probabilities, or logarithms of weights that need not sum to one."""
    return {name: array(PROB if name == "prob" else np.log(PROB) + 1.5)}


def graph_of(method, make, *arrays):
    """A method's result from a hybridized block."""

    class Net(mx.gluon.HybridBlock):
        def forward(self, first, *inputs):
            return getattr(make(first), method)(*inputs)

    net = Net()
    net.hybridize()
    actual = net(*arrays)
    assert net._only_trace() is not None
    return actual


both = pytest.mark.parametrize("name", ["prob", "logit"])


@both
def test_categorical(name):
    distribution = mgp.Categorical(3, **odds(name))
    values = np.array([[0, 2], [1, 1], [2, 0]])
    expected = np.log(np.take_along_axis(np.broadcast_to(PROB, (3, 2, 3)), values[..., None], -1))
    close(distribution.log_prob(mx.np.array(values)), expected[..., 0])
    close(distribution.log_prob(array(values)[0]), expected[0, :, 0])
    close(distribution.entropy(), -(PROB * np.log(PROB)).sum(-1))
    close(distribution.prob, PROB)
    assert distribution.support.check(array([0, 2])).shape == (2,)
    listed = distribution.enumerate_support()
    assert listed.shape == (3, 2) and listed[:, 0].tolist() == [0, 1, 2]
    total = mx.np.exp(distribution.log_prob(listed)).sum(axis=0)
    close(total, [1.0, 1.0])
    actual = graph_of(
        "log_prob", lambda p: mgp.Categorical(3, **{name: p}), *odds(name).values(), array(values)
    )
    close(actual, expected[..., 0])
    (given,) = odds(name).values()
    one = mgp.Categorical(3, **{name: given[0]})
    close(one.log_prob(mx.np.array([2, 0])), np.log(PROB[0, [2, 0]]))
    assert one.sample().shape == () and one.sample(5).shape == (5,)
    assert repr(one) == f"Categorical({name}=(3,), num_events=3)"


@both
def test_samples_of_categories(name):
    mx.np.random.seed(5)
    distribution = mgp.Categorical(3, **odds(name))
    assert distribution.sample().shape == (2,) and distribution.sample((4, 2)).shape == (4, 2)
    assert distribution.sample((5, 4, 2)).dtype == np.int64
    drawn = distribution.sample_n((40, 100)).asnumpy()
    assert drawn.shape == (40, 100, 2)
    shares = np.stack([(drawn == k).mean((0, 1)) for k in range(3)], -1)
    np.testing.assert_allclose(shares, PROB, atol=0.04)
    assert distribution.broadcast_to((4, 2)).sample().shape == (4, 2)


@both
def test_one_hot_categorical(name):
    mx.np.random.seed(5)
    distribution = mgp.OneHotCategorical(3, **odds(name))
    eye = np.eye(3)
    close(distribution.log_prob(array(eye[[2, 0]])), np.log([0.5, 0.1]))
    close(distribution.mean, PROB)
    close(distribution.variance, PROB * (1 - PROB))
    close(distribution.entropy(), -(PROB * np.log(PROB)).sum(-1))
    assert distribution.event_dim == 1 and distribution.enumerate_support().shape == (3, 2, 3)
    drawn = distribution.sample_n(4000)
    assert drawn.shape == (4000, 2, 3) and (drawn.sum(axis=-1) == 1).all()
    np.testing.assert_allclose(drawn.mean(axis=0).asnumpy(), PROB, atol=0.05)
    assert distribution.sample((5, 2)).shape == (5, 2, 3)
    assert distribution.broadcast_to((4, 2)).mean.shape == (4, 2, 3)
    zero = mgp.OneHotCategorical(2, prob=array([0.0, 1]))
    assert zero.log_prob(array([0.0, 1])).item() == 0


@both
def test_multinomial(name):
    stats = pytest.importorskip("scipy.stats")
    mx.np.random.seed(5)
    distribution = mgp.Multinomial(3, total_count=6, **odds(name), validate_args=name == "prob")
    counts = np.array([[1.0, 2, 3], [0, 0, 6]])
    expected = [stats.multinomial(6, p).logpmf(c) for p, c in zip(PROB, counts, strict=True)]
    close(distribution.log_prob(array(counts)), expected)
    close(distribution.mean, 6 * PROB)
    close(distribution.variance, 6 * PROB * (1 - PROB))
    drawn = distribution.sample_n((3, 1000))
    assert drawn.shape == (3, 1000, 2, 3) and (drawn.sum(axis=-1) == 6).all()
    np.testing.assert_allclose(drawn.mean(axis=(0, 1)).asnumpy(), 6 * PROB, atol=0.15)
    assert distribution.sample().shape == (2, 3) and distribution.support.holds(array([6.0])).all()
    wide = distribution.broadcast_to((4, 2))
    assert wide.sample().shape == (4, 2, 3) and wide.total_count == 6
    assert mgp.Multinomial(3, prob=array(PROB[0]), total_count=0).sample().tolist() == [0, 0, 0]


@pytest.mark.parametrize("cls", [mgp.Categorical, mgp.OneHotCategorical, mgp.Multinomial])
def test_arguments_of_categories(cls):
    with pytest.raises(ValueError, match="exactly one of `prob`, `logit`"):
        cls(3)
    for count in (0, -3, 2.5, "3"):
        with pytest.raises(ValueError, match="integer greater than zero, got"):
            cls(count, prob=array(PROB))
    with pytest.raises(ValueError, match="num_events=4 elements, got 3"):
        cls(4, prob=array(PROB))
    with pytest.raises(ValueError, match="at least 1 dimensions"):
        cls(1, prob=0.5)
    with pytest.raises(ValueError, match=f"{cls.__name__}: prob should be numbers >= 0 that sum"):
        cls(2, prob=array([0.5, 0.6]), validate_args=True)
    with pytest.raises(ValueError, match="total_count"):
        mgp.Multinomial(2, prob=array([0.5, 0.5]), total_count=-1)


def test_dirichlet():
    stats = pytest.importorskip("scipy.stats")
    mx.np.random.seed(2)
    distribution = mgp.Dirichlet(array(ALPHA))
    reference = [stats.dirichlet(alpha) for alpha in ALPHA]
    close(
        distribution.log_prob(array(PROB)),
        [r.logpdf(p) for r, p in zip(reference, PROB, strict=True)],
    )
    close(distribution.mean, [r.mean() for r in reference])
    close(distribution.variance, [r.var() for r in reference])
    close(distribution.entropy(), [r.entropy() for r in reference])
    drawn = distribution.sample_n(4000).asnumpy()
    assert drawn.shape == (4000, 2, 3)
    np.testing.assert_allclose(drawn.sum(-1), 1, rtol=1e-5)
    np.testing.assert_allclose(drawn.mean(0), distribution.mean.asnumpy(), atol=0.03)
    np.testing.assert_allclose(drawn.var(0), distribution.variance.asnumpy(), atol=0.02)
    assert distribution.sample((5, 2)).shape == (5, 2, 3)
    assert distribution.broadcast_to((4, 2)).sample().shape == (4, 2, 3)
    actual = graph_of("log_prob", mgp.Dirichlet, array(ALPHA), array(PROB))
    close(actual, distribution.log_prob(array(PROB)).asnumpy())


KINDS = {"cov": lambda c: c, "precision": np.linalg.inv, "scale_tril": np.linalg.cholesky}


@pytest.mark.parametrize("kind", KINDS)
def test_multivariate_normal(kind):
    stats = pytest.importorskip("scipy.stats")
    mx.np.random.seed(4)

    def make(matrix, **options):
        return mgp.MultivariateNormal(array(LOC), **{kind: matrix}, **options)

    distribution = make(array(KINDS[kind](COV)), validate_args=True)
    values = np.array([[0.5, 1, -1], [0.0, 2, 2.5]])
    reference = [stats.multivariate_normal(m, c) for m, c in zip(LOC, COV, strict=True)]
    expected = [r.logpdf(v) for r, v in zip(reference, values, strict=True)]
    close(distribution.log_prob(array(values)), expected)
    close(distribution.log_prob(array(np.stack([values] * 4))), [expected] * 4)
    close(distribution.entropy(), [r.entropy() for r in reference])
    close(distribution.mean, LOC)
    close(distribution.variance, np.diagonal(COV, axis1=1, axis2=2))
    close(distribution.cov, COV)
    close(distribution.precision, np.linalg.inv(COV))
    close(distribution.scale_tril, np.linalg.cholesky(COV))
    assert distribution.event_dim == 1 and distribution.sample().shape == (2, 3)
    drawn = distribution.sample_n(6000).asnumpy()
    for k in range(2):
        np.testing.assert_allclose(drawn[:, k].mean(0), LOC[k], atol=0.15)
        np.testing.assert_allclose(np.cov(drawn[:, k].T), COV[k], atol=0.4)
    assert distribution.sample((5, 2)).shape == (5, 2, 3)
    assert distribution.broadcast_to((4, 2)).sample().shape == (4, 2, 3)
    close(graph_of("log_prob", make, array(KINDS[kind](COV)), array(values)), expected)
    flat = mgp.MultivariateNormal(array(LOC[0]), **{kind: array(KINDS[kind](COV[0]))})
    assert flat.sample().shape == (3,) and flat.sample((7, 5)).shape == (7, 5, 3)
    close(flat.log_prob(array(values[0])), expected[0])
    wide = mgp.MultivariateNormal(array(LOC), **{kind: array(KINDS[kind](COV[0]))})
    assert wide.sample().shape == wide.mean.shape == wide.variance.shape == (2, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_of_multivariate_normals(kind):
    matrix, loc, value = array(KINDS[kind](COV[0])), array(LOC[0]), array([0.5, 1, -1])
    for a in (matrix, loc):
        a.attach_grad()

    def density(matrix):
        return mgp.MultivariateNormal(loc, **{kind: matrix}).log_prob(value)

    with autograd.record():
        actual = density(matrix)
    actual.backward()
    step, expected = 1e-6, np.zeros((3, 3))
    for i in range(3):
        for j in range(i + 1):
            moved = np.zeros((3, 3))
            moved[i, j] += step
            if kind != "scale_tril":
                moved = (moved + moved.T) / 2
            up, down = density(matrix + array(moved)), density(matrix - array(moved))
            expected[i, j] = (up - down).item() / (2 * step)
    given = matrix.grad.asnumpy()
    if kind != "scale_tril":
        given = (given + given.T) / 2  # along symmetric directions
    np.testing.assert_allclose(np.tril(given), expected, rtol=1e-4, atol=1e-6)
    close(loc.grad, np.linalg.inv(COV[0]) @ (value.asnumpy() - LOC[0]), 1e-6)
    mx.np.random.seed(1)
    with autograd.record():
        drawn = mgp.MultivariateNormal(loc, **{kind: matrix}).sample_n(3)
    drawn.backward()
    assert loc.grad.tolist() == [3, 3, 3] and matrix.grad.any()


def test_arguments_of_multivariate_normals():
    with pytest.raises(ValueError, match="exactly one of `cov`, `precision`, `scale_tril`"):
        mgp.MultivariateNormal(array(LOC[0]))
    with pytest.raises(ValueError, match=r"same size, got 3 and \(2, 2\)"):
        mgp.MultivariateNormal(array(LOC[0]), cov=mx.np.eye(2))
    with pytest.raises(ValueError, match="cov should be symmetric positive definite"):
        mgp.MultivariateNormal(array(LOC[0]), cov=-mx.np.eye(3), validate_args=True)


@both
def test_relaxed_bernoulli(name):
    mx.np.random.seed(6)
    (logits,) = odds("logit").values()
    keywords = {name: mx.npx.sigmoid(logits) if name == "prob" else logits}
    distribution = mgp.RelaxedBernoulli(0.5, **keywords)
    value, scores = np.array([[0.2, 0.5, 0.9], [0.01, 0.7, 0.99]]), logits.asnumpy()
    # the density of Maddison, Mnih and Teh, 2016
    odd = np.exp(scores)
    parts = odd * value**-0.5 + (1 - value) ** -0.5
    expected = 0.5 * odd * value**-1.5 * (1 - value) ** -1.5 / parts**2
    close(distribution.pdf(array(value)), expected, 1e-6)
    close(distribution.logit, scores, 1e-6)
    close(distribution.prob, 1 / (1 + np.exp(-scores)), 1e-6)
    assert (
        distribution.T == 0.5
        and distribution.has_grad
        and distribution.sample_n(4).shape == (4, 2, 3)
    )
    drawn = distribution.sample_n(4000).asnumpy()
    assert ((drawn >= 0) & (drawn <= 1)).all()
    np.testing.assert_allclose((drawn > 0.5).mean(0), distribution.prob.asnumpy(), atol=0.05)
    assert distribution.broadcast_to((4, 2, 3)).sample().shape == (4, 2, 3)
    logits.attach_grad()
    with autograd.record():
        drawn = mgp.RelaxedBernoulli(array([0.5]), logit=logits).sample()
    drawn.backward()
    close(logits.grad, 2 * (drawn * (1 - drawn)).asnumpy())
    assert np.isfinite(distribution.log_prob(array([[0.0, 1, 0.5]])).asnumpy()).all()
    temperatures = mgp.RelaxedBernoulli(array([0.1, 1, 10]), prob=0.5)
    assert temperatures.sample().shape == (3,) and temperatures.sample_n(4).shape == (4, 3)


@both
def test_relaxed_one_hot_categorical(name):
    mx.np.random.seed(6)
    distribution = mgp.RelaxedOneHotCategorical(0.5, 3, **odds(name))
    value = np.array([[0.2, 0.5, 0.3], [0.01, 0.7, 0.29]])
    terms = PROB * value**-0.5
    expected = 2 * 0.5**2 * np.prod(terms / value, -1) / terms.sum(-1) ** 3
    close(distribution.pdf(array(value)), expected, 1e-6)
    assert distribution.T == 0.5 and distribution.has_grad and distribution.event_dim == 1
    drawn = distribution.sample_n(3000)
    assert drawn.shape == (3000, 2, 3)
    np.testing.assert_allclose(drawn.sum(axis=-1).asnumpy(), 1, rtol=1e-4)
    best = np.eye(3)[drawn.asnumpy().argmax(-1)].mean(0)
    np.testing.assert_allclose(best, PROB, atol=0.05)
    assert distribution.sample((5, 2)).shape == (5, 2, 3)
    assert distribution.broadcast_to((4, 2)).sample().shape == (4, 2, 3)
    close(distribution.prob, PROB)
    (given,) = odds(name).values()
    given.attach_grad()
    with autograd.record():
        drawn = mgp.RelaxedOneHotCategorical(0.5, 3, **{name: given}).sample()[..., 0].sum()
    drawn.backward()
    assert given.grad.any()


def test_independent():
    mx.np.random.seed(6)
    base = mgp.Normal(array(LOC), 2.0)
    distribution = mgp.Independent(base, 1)
    assert (
        distribution.event_dim == 1
        and distribution.has_grad
        and not distribution.has_enumerate_support
    )
    value = array(LOC + 0.5)
    close(distribution.log_prob(value), base.log_prob(value).asnumpy().sum(-1))
    close(distribution.entropy(), base.entropy().asnumpy().sum(-1))
    close(distribution.mean, LOC)
    close(distribution.variance, np.full((2, 3), 4.0))
    close(distribution.stddev, np.full((2, 3), 2.0))
    assert distribution.sample().shape == (2, 3) and distribution.sample((4, 2, 3)).shape == (
        4,
        2,
        3,
    )
    assert distribution.sample_n(5).shape == (5, 2, 3)
    wide = distribution.broadcast_to((4, 2))
    assert wide.sample().shape == (4, 2, 3) and wide.log_prob(value).shape == (4, 2)
    assert repr(distribution) == "Independent(Normal(loc=(2, 3), scale=2.0), 1)"
    with pytest.raises(ValueError, match="0 to 2"):
        mgp.Independent(base, 3)
    with pytest.raises(NotImplementedError):
        distribution.enumerate_support()
    same = mgp.Independent(mgp.Categorical(3, prob=array(PROB)), 0, validate_args=True)
    assert same.has_enumerate_support and same.enumerate_support().shape == (3, 2)
    with pytest.raises(ValueError, match="Independent: value should be"):
        same.log_prob(array([3.0, 0]))
    rows = mgp.Independent(mgp.Dirichlet(array(ALPHA)), 1)
    assert rows.event_dim == 2 and rows.log_prob(array(PROB)).shape == ()
    assert math.isfinite(rows.entropy().item())
