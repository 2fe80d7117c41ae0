"""Edge cases of distributions: bounds, invalid parameters, undefined methods, subclasses."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd

pytestmark = pytest.mark.usefixtures("np_arrays")


def test_probabilities_of_zero_and_one():
    mgp, a = mx.gluon.probability, mx.np.array
    prob, value = a([0.0, 1, 0, 1]), a([0.0, 1, 1, 0])
    prob.attach_grad()
    with autograd.record():
        actual = mgp.Bernoulli(prob=prob).log_prob(value)
    assert actual.tolist() == [0, 0, -np.inf, -np.inf]
    with autograd.record():
        total = mgp.Bernoulli(prob=prob[:2]).log_prob(value[:2]).sum()
    total.backward()
    assert prob.grad.tolist()[:2] == [-1, 1]
    assert mgp.Bernoulli(prob=prob).entropy().tolist() == [0, 0, 0, 0]
    assert mgp.Bernoulli(prob=prob).sample().tolist() == [0, 1, 0, 1]
    assert mgp.Binomial(3, prob=prob[:2]).log_prob(a([0.0, 3])).tolist() == [0, 0]
    assert mgp.Binomial(3, prob=1).log_prob(a([3.0, 2])).tolist() == [0, -np.inf]
    assert mgp.Geometric(prob=prob[1]).sample_n(3).tolist() == [0, 0, 0]
    assert np.isfinite(mgp.Bernoulli(prob=prob).logit.asnumpy()).all()
    far = mgp.Bernoulli(logit=a([-200.0, 200]))
    assert far.log_prob(a([1.0, 0])).tolist() == [-200, -200]


def test_densities_at_the_border():
    mgp, a = mx.gluon.probability, mx.np.array
    zero = a([0.0])
    assert mgp.Exponential(2.0).log_prob(zero).item() == pytest.approx(-np.log(2))
    assert mgp.Gamma(a([0.5, 1, 2]), 2.0).log_prob(zero).tolist() == pytest.approx(
        [np.inf, -np.log(2), -np.inf]
    )
    assert mgp.Beta(a([1.0, 2]), 1.0).log_prob(zero).tolist() == [0, -np.inf]
    assert mgp.Weibull(a([1.0, 2]), 1.0).log_prob(zero).tolist() == [0, -np.inf]
    assert mgp.Uniform(0.0, 2.0).pdf(a([-0.1, 0, 2, 2.1])).tolist() == [0, 0.5, 0.5, 0]
    shape = a([1.0])  # where the power of the value vanishes, its gradient does not
    shape.attach_grad()
    with autograd.record():
        density = mgp.Gamma(shape, 1.0).log_prob(a([3.0]))
    density.backward()
    assert shape.grad.item() == pytest.approx(np.log(3) + np.euler_gamma, rel=1e-5)


def test_small_shapes_give_samples():
    mx.np.random.seed(1)
    small = mx.np.full((2000,), 1e-3)
    drawn = mx.gluon.probability.Beta(small, small).sample().asnumpy()
    assert np.isfinite(drawn).all() and abs((drawn > 0.5).mean() - 0.5) < 0.06
    rows = mx.gluon.probability.Dirichlet(mx.np.full((500, 3), 1e-3)).sample().asnumpy()
    np.testing.assert_allclose(rows.sum(-1), 1, rtol=1e-5)


def test_half_precision():
    normal = mx.gluon.probability.Normal(mx.np.array([0.0, 1], dtype="float16"), 2.0)
    value = mx.np.array([0.5, 1.5], dtype="float16")
    for actual in (normal.sample(), normal.log_prob(value), normal.mean, normal.variance):
        assert actual.dtype == np.float16


def test_parameters_are_anything_array_like():
    mgp = mx.gluon.probability
    lists = mgp.Normal([0.0, 1.0], np.float32(2))
    assert lists.mean.tolist() == [0, 1] and lists.variance.tolist() == [4, 4]
    old = mgp.Normal(mx.nd.array([0.0, 1.0]), np.array([1.0, 2.0]))
    assert isinstance(old.sample(), mx.np.ndarray)
    with pytest.raises(TypeError, match="Normal: loc.*'far'"):
        mgp.Normal("far", 1.0)


def test_exactly_one_of_prob_and_logit_is_required():
    mgp = mx.gluon.probability
    for cls in (mgp.Bernoulli, mgp.Geometric, mgp.Binomial):
        with pytest.raises(ValueError, match=f"{cls.__name__}: exactly one of `prob`, `logit`"):
            cls(prob=0.5, logit=0.0)
        with pytest.raises(ValueError, match="got none"):
            cls()
    with pytest.raises(ValueError, match="non-negative integer, got 2.5"):
        mgp.Binomial(2.5, prob=0.5)


def test_values_are_checked_where_asked():
    mgp, a = mx.gluon.probability, mx.np.array
    with pytest.raises(
        ValueError, match=r"Normal: scale should be > 0, got -1.0 at \[1\] \(1 of 2"
    ):
        mgp.Normal(0.0, a([1.0, -1.0]), validate_args=True)
    with pytest.raises(ValueError, match="Normal: scale should be > 0, got -1"):
        mgp.Normal(0.0, -1, validate_args=True)
    mgp.Normal(0.0, -1)
    mgp.Normal(0.0, -1, validate_args=False)
    with pytest.raises(ValueError, match="Bernoulli: value should be 0 or 1, got 0.5"):
        mgp.Bernoulli(prob=0.5, validate_args=True).log_prob(a([0.5]))
    with pytest.raises(ValueError, match="Uniform: value should be >= 0.0 and <= 1.0, got 2"):
        mgp.Uniform(validate_args=True).cdf(a([2.0]))
    mgp.Distribution.set_default_validate_args(True)
    try:
        with pytest.raises(ValueError, match="Exponential: scale"):
            mgp.Exponential(0.0)
        mgp.Exponential(0.0, validate_args=False)
    finally:
        mgp.Distribution.set_default_validate_args(False)
    with pytest.raises(ValueError, match="True or False"):
        mgp.Distribution.set_default_validate_args("yes")


def test_checks_are_part_of_graphs():
    class Net(mx.gluon.HybridBlock):
        def forward(self, scale, value):
            return mx.gluon.probability.Exponential(scale, validate_args=True).log_prob(value)

    net = Net()
    net.hybridize()
    good, bad = mx.np.array([1.0, 2.0]), mx.np.array([1.0, -2.0])
    assert net(good, good).shape == (2,)
    for scale, value, name in ((bad, good, "scale"), (good, bad, "value")):
        with pytest.raises(ValueError, match=f"Exponential: {name}"):
            net(scale, value).asnumpy()


def test_undefined_methods_raise():
    base = mx.gluon.probability.Distribution(event_dim=0, validate_args=True)
    for name in ("mean", "variance", "support", "arg_constraints"):
        with pytest.raises(NotImplementedError, match="Distribution does not define"):
            getattr(base, name)
    one = mx.np.ones(())
    for name, args in (
        ("entropy", ()),
        ("sample", ()),
        ("enumerate_support", ()),
        ("broadcast_to", (3,)),
    ):
        with pytest.raises(NotImplementedError, match="Distribution"):
            getattr(base, name)(*args)
    base = mx.gluon.probability.Distribution(event_dim=0)
    for name in ("log_prob", "cdf", "icdf"):
        with pytest.raises(NotImplementedError, match=f"Distribution does not define {name}"):
            getattr(base, name)(one)


def test_distributions_of_the_users():
    """A subclass that keeps its parameters and overrides public methods."""
    mgp = mx.gluon.probability

    class Point(mgp.Distribution):
        arg_constraints = {"at": mgp.distributions.constraint.Positive()}

        def __init__(self, at, validate_args=None):
            self.at = at
            super().__init__(0, validate_args)

        def sample(self, size=None):
            return mx.np.full(size or (), self.at)

        @property
        def variance(self):
            return mx.np.zeros(())

    assert Point(3.0).sample().item() == 3 and Point(3.0).stddev.item() == 0
    assert Point(3.0).sample_n(2).tolist() == [3, 3]
    with pytest.raises(ValueError, match="Point: at should be > 0"):
        Point(-1.0, validate_args=True)


def test_exponential_families_have_an_entropy():
    """The entropy from natural parameters and the log normalizer, and its gradient."""
    mgp = mx.gluon.probability
    general = mgp.ExponentialFamily.entropy
    a = mx.np.array
    for distribution in (
        mgp.Normal(a([0.0, 1]), a([0.5, 2])),
        mgp.Bernoulli(logit=a([0.5, -2])),
        mgp.Exponential(a([0.5, 2])),
        mgp.Gamma(a([0.5, 2]), a([3.0, 0.3])),
        mgp.Beta(a([0.5, 2]), a([3.0, 0.3])),
        mgp.Dirichlet(a([[0.5, 2, 1], [3.0, 0.3, 4]])),
    ):
        np.testing.assert_allclose(
            general(distribution).asnumpy(), distribution.entropy().asnumpy(), rtol=1e-4, atol=1e-5
        )
    scale = a([0.5, 2.0])
    scale.attach_grad()
    with autograd.record():
        total = general(mgp.Exponential(scale)).sum()
    total.backward()
    np.testing.assert_allclose(scale.grad.asnumpy(), 1 / scale.asnumpy(), rtol=1e-5)
    family = mgp.ExponentialFamily(0)
    for name in ("_natural_params", "_log_normalizer"):
        with pytest.raises(NotImplementedError, match="ExponentialFamily"):
            actual = getattr(family, name)
            actual()


def test_properties_follow_records():
    """Values computed while recording are not cached."""
    logit = mx.np.array([0.5, 1.0])
    logit.attach_grad()
    distribution = mx.gluon.probability.Bernoulli(logit=logit)
    for _ in range(2):
        with autograd.record():
            total = distribution.mean.sum()
        total.backward()
        assert (logit.grad > 0).all()
    assert distribution.prob is distribution.prob
