"""Divergences: closed forms against integrals, sums and samples."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd

mgp = mx.gluon.probability
pytestmark = pytest.mark.usefixtures("np_arrays")


def a(*values):
    return mx.np.array(values, dtype="float64")


#: pairs in which the support of q contains that of p, and a range for values of p
GRID = {  # the middles of equal intervals
    "reals": (np.arange(240000) + 0.5) / 2000 - 60,
    "positive": (np.arange(960000) + 0.5) / 8000,
    "unit": (np.arange(400000) + 0.5) / 400000,
    "counts": np.arange(200.0),
}
PAIRS = {
    "Normal": (
        lambda: mgp.Normal(a(0.5, -1), a(0.7, 2)),
        lambda: mgp.Normal(a(0, 1), 1.5),
        "reals",
    ),
    "Laplace": (lambda: mgp.Laplace(a(0.5, -1), a(0.7, 2)), lambda: mgp.Laplace(0.0, 1.5), "reals"),
    "Gumbel": (lambda: mgp.Gumbel(a(0.5, 1), a(0.7, 2)), lambda: mgp.Gumbel(0.0, 2.5), "reals"),
    "Uniform": (
        lambda: mgp.Uniform(a(0.5, 1), 2.0),
        lambda: mgp.Uniform(a(0.25, -1), 2.5),
        "reals",
    ),
    "Uniform-Normal": (
        lambda: mgp.Uniform(a(0.5, 1), 2.0),
        lambda: mgp.Normal(a(0.25, -1), 2.5),
        "reals",
    ),
    "Uniform-Gumbel": (
        lambda: mgp.Uniform(a(0.5, 1), 2.0),
        lambda: mgp.Gumbel(a(0.25, -1), 2.5),
        "reals",
    ),
    "Exponential": (
        lambda: mgp.Exponential(a(0.5, 2)),
        lambda: mgp.Exponential(a(1.5, 0.7)),
        "positive",
    ),
    "Exponential-Normal": (
        lambda: mgp.Exponential(a(0.5, 2)),
        lambda: mgp.Normal(a(0.25, -1), 2.5),
        "positive",
    ),
    "Exponential-Gumbel": (
        lambda: mgp.Exponential(a(0.5, 2)),
        lambda: mgp.Gumbel(a(0.25, -1), 2.5),
        "positive",
    ),
    "Exponential-Gamma": (
        lambda: mgp.Exponential(a(0.5, 2)),
        lambda: mgp.Gamma(a(1.25, 3), 0.5),
        "positive",
    ),
    "HalfNormal": (lambda: mgp.HalfNormal(a(0.5, 2)), lambda: mgp.HalfNormal(1.5), "positive"),
    "Gamma": (
        lambda: mgp.Gamma(a(1.5, 2), a(0.5, 2)),
        lambda: mgp.Gamma(a(2.5, 1), 1.5),
        "positive",
    ),
    "Chi2-Gamma": (lambda: mgp.Chi2(a(3, 4)), lambda: mgp.Gamma(a(2.5, 1), 1.5), "positive"),
    "Beta": (lambda: mgp.Beta(a(1.5, 2), a(2, 3)), lambda: mgp.Beta(2.0, a(1, 2.5)), "unit"),
    "Poisson": (lambda: mgp.Poisson(a(1.5, 4)), lambda: mgp.Poisson(2.5), "counts"),
    "Geometric": (
        lambda: mgp.Geometric(prob=a(0.2, 0.5)),
        lambda: mgp.Geometric(logit=a(0.2, -0.5)),
        "counts",
    ),
    "Bernoulli": (
        lambda: mgp.Bernoulli(prob=a(0.2, 0.5)),
        lambda: mgp.Bernoulli(logit=a(0.2, -0.5)),
        "counts",
    ),
    "Binomial": (
        lambda: mgp.Binomial(5, prob=a(0.2, 0.5)),
        lambda: mgp.Binomial(5, logit=a(0.2, -0.5)),
        "counts",
    ),
    "Binomial-smaller": (
        lambda: mgp.Binomial(3, prob=a(0.2, 0.5)),
        lambda: mgp.Binomial(5, logit=a(0.2, -0.5)),
        "counts",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_closed_forms_are_integrals(name):
    make_p, make_q, where = PAIRS[name]
    p, q, grid = make_p(), make_q(), GRID[where]
    points = mx.np.array(grid[:, None], dtype="float64")
    log_p, log_q = p.log_prob(points).asnumpy(), q.log_prob(points).asnumpy()
    if name.startswith(("Bernoulli", "Binomial")):
        inside = grid <= (1 if name == "Bernoulli" else p.n)
        log_p[~inside], log_q[~inside] = -np.inf, 0
    with np.errstate(invalid="ignore"):
        terms = np.where(log_p == -np.inf, 0, np.exp(log_p) * (log_p - log_q))
    step = 1 if where == "counts" else grid[1] - grid[0]
    actual = mgp.kl_divergence(p, q)
    assert actual.shape == (2,)
    np.testing.assert_allclose(actual.asnumpy(), terms.sum(0) * step, rtol=2e-3, atol=1e-4)
    if "-" not in name:
        np.testing.assert_allclose(mgp.kl_divergence(p, p).asnumpy(), 0, atol=1e-12)


def test_of_cauchy_and_pareto():
    """Their tails are too heavy for a grid; their samples are not."""
    mx.np.random.seed(11)
    for p, q in (
        (mgp.Cauchy(a(0.5, -1), a(0.7, 2)), mgp.Cauchy(a(0, 1), 1.5)),
        (mgp.Pareto(a(2, 3), a(1.5, 2)), mgp.Pareto(a(1, 2.5), 1.0)),
    ):
        exact, near = mgp.kl_divergence(p, q), mgp.empirical_kl(p, q, 20000)
        assert exact.shape == near.shape == (2,)
        np.testing.assert_allclose(exact.asnumpy(), near.asnumpy(), atol=0.05)


def test_of_vectors():
    mx.np.random.seed(12)
    root = mx.np.array([[1.0, 0], [0.5, 2]], dtype="float64")
    prob, other = a([0.2, 0.3, 0.5], [0.1, 0.6, 0.3]), a(0.3, 0.3, 0.4)
    pairs = [
        (mgp.Dirichlet(prob * 5), mgp.Dirichlet(a(1, 2, 3))),
        (mgp.Categorical(3, prob=prob), mgp.Categorical(3, logit=mx.np.log(other) + 1)),
        (mgp.OneHotCategorical(3, prob=prob), mgp.OneHotCategorical(3, prob=other)),
        (
            mgp.MultivariateNormal(a([0, 1], [1, 2]), scale_tril=root),
            mgp.MultivariateNormal(a(1, 1), precision=mx.np.eye(2, dtype="float64") / 3),
        ),
        (
            mgp.Independent(mgp.Normal(a([0, 1], [1, 2]), 2.0), 1),
            mgp.Independent(mgp.Normal(a([0, 0.5], [1, 1]), 3.0), 1),
        ),
    ]
    for p, q in pairs:
        exact, near = mgp.kl_divergence(p, q), mgp.empirical_kl(p, q, 20000)
        assert exact.shape == near.shape == (2,)
        np.testing.assert_allclose(exact.asnumpy(), near.asnumpy(), atol=0.05)
        np.testing.assert_allclose(mgp.kl_divergence(p, p).asnumpy(), 0, atol=1e-12)
    assert mgp.empirical_kl(*pairs[0]).shape == (2,)
    with pytest.raises(NotImplementedError, match="different dimensions"):
        mgp.kl_divergence(pairs[-1][0], mgp.Independent(mgp.Normal(a([0, 1]), 1.0), 2))


def test_divergence_is_infinite_outside_the_support():
    kl, inf = mgp.kl_divergence, np.inf
    assert kl(mgp.Uniform(a(0, 1), 2.0), mgp.Uniform(0.5, 2.0)).tolist()[0] == inf
    assert kl(mgp.Pareto(2.0, a(0.5, 1.5)), mgp.Pareto(2.0, 1.0)).tolist()[0] == inf
    assert kl(mgp.Binomial(5, prob=a(0.5)), mgp.Binomial(4, prob=0.5)).tolist() == [inf]
    assert kl(mgp.Bernoulli(prob=a(0.5, 0, 1)), mgp.Bernoulli(prob=a(0, 0, 1))).tolist() == [
        inf,
        0,
        0,
    ]
    n = a(3, 5, 4)
    actual = kl(mgp.Binomial(n, prob=0.5), mgp.Binomial(a(3, 4, 5), prob=0.5)).tolist()
    assert actual[:2] == [0, inf] and np.isnan(actual[2])


def test_of_numbers_and_their_types():
    actual = mgp.kl_divergence(mgp.Normal(0, 1), mgp.Normal(0.0, 2))
    assert actual.shape == () and actual.item() == pytest.approx(np.log(2) - 3 / 8)
    half = mgp.Normal(mx.np.zeros((2, 1), dtype="float16"), 1.0)
    assert mgp.kl_divergence(mgp.Normal(0.0, 2.0), half).dtype == np.float16
    assert mgp.kl_divergence(half, mgp.Normal(mx.np.zeros(3, dtype="float16"), 1.0)).shape == (2, 3)


def test_functions_are_found_by_the_nearest_types():
    class Mine(mgp.Normal):
        pass

    class Yours(Mine):
        pass

    normal = mgp.Normal(0.0, 1.0)
    assert mgp.kl_divergence(Mine(0.0, 1.0), normal).item() == 0

    @mgp.register_kl(Mine, mgp.Normal)
    def distance(p, q):
        return "mine"

    assert mgp.kl_divergence(Yours(0.0, 1.0), normal) == "mine"
    assert mgp.kl_divergence(normal, Mine(0.0, 1.0)).item() == 0
    with pytest.raises(NotImplementedError, match="between Normal and Gumbel is not implemented"):
        mgp.kl_divergence(normal, mgp.Gumbel(0.0, 1.0))


def test_gradients_and_graphs():
    class Net(mx.gluon.HybridBlock):
        def forward(self, loc, scale):
            return mgp.kl_divergence(mgp.Normal(loc, scale), mgp.Normal(0.0, 1.0))

    net = Net()
    for hybrid in (False, True):
        net.hybridize(hybrid)
        loc, scale = a(0.5, -2), a(0.5, 3)
        loc.attach_grad()
        scale.attach_grad()
        with autograd.record():
            actual = net(loc, scale)
        actual.backward()
        np.testing.assert_allclose(loc.grad.asnumpy(), [0.5, -2])
        np.testing.assert_allclose(scale.grad.asnumpy(), [0.5 - 2, 3 - 1 / 3])
