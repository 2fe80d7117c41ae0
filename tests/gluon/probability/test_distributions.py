"""Distributions of numbers: densities and moments are SciPy's, eagerly and as graphs."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd
from tests.gluon.probability.cases import PROB, cases

CASES = cases()
each = pytest.mark.parametrize("case", CASES, ids=str)
pytestmark = pytest.mark.usefixtures("np_arrays")


def close(actual, expected, dtype="float32"):
    tight = dtype == "float64"
    assert actual.shape == np.shape(expected)
    assert str(actual.dtype) == dtype
    np.testing.assert_allclose(
        actual.asnumpy(), expected, rtol=1e-9 if tight else 2e-5, atol=1e-10 if tight else 2e-6
    )


@each
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_densities(case, dtype):
    actual, reference = case.make(mx, dtype), case.densities()
    values = mx.np.array(case.values, dtype=dtype)
    density = "pmf" if case.discrete else "pdf"
    close(actual.log_prob(values), getattr(reference, f"log{density}")(case.values), dtype)
    close(actual.pdf(values), getattr(reference, density)(case.values), dtype)
    for outside in case.outside:
        assert (actual.log_prob(values * 0 + outside) == -np.inf).all()


@each
def test_cumulative_functions(case):
    actual, reference = case.make(mx, "float64"), case.reference()
    below = np.array([[0.1, 0.5, 0.9], [0.25, 0.6, 0.01]])
    for name, values in (("cdf", case.values), ("icdf", below)):
        function = getattr(actual, name)
        if name in case.lacks:
            with pytest.raises(NotImplementedError, match=case.name):
                function(mx.np.array(values))
        else:
            expected = getattr(reference, "ppf" if name == "icdf" else name)(values)
            tolerance = 1e-6 if case.name in ("Normal", "HalfNormal") else 1e-10  # erfinv
            result = function(mx.np.array(values, dtype="float64")).asnumpy()
            np.testing.assert_allclose(result, expected, rtol=tolerance, atol=1e-12)
    if "cdf" not in case.lacks:
        low, high = (actual.cdf(mx.np.full((2, 3), x, dtype="float64")) for x in (-1e9, 1e9))
        np.testing.assert_allclose(low.asnumpy(), 0, atol=1e-8)
        np.testing.assert_allclose(high.asnumpy(), 1, atol=1e-4)  # heavy tails


@each
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_moments(case, dtype):
    actual, reference = case.make(mx, dtype), case.reference()
    expected = reference.mean()
    if case.name == "StudentT":  # there is no mean, of which some versions say that it is infinite
        expected = np.where(case.parameters["df"] > 1, expected, np.nan)
    close(actual.mean, expected, dtype)
    expected = reference.var()
    if case.name == "HalfCauchy":  # SciPy says nan
        expected = np.full((2, 3), np.inf)
    close(actual.variance, expected, dtype)
    close(actual.stddev, np.sqrt(expected), dtype)
    if "entropy" in case.lacks:
        with pytest.raises(NotImplementedError):
            actual.entropy()
    else:
        expected = reference.entropy()
        close(actual.entropy(), expected, dtype)
        close(actual.perplexity(), np.exp(expected), dtype)


@each
def test_shapes(case):
    actual = case.make(mx)
    assert actual.event_dim == 0
    assert actual.sample().shape == (2, 3)
    assert actual.sample((4, 2, 3)).shape == (4, 2, 3)
    assert actual.sample_n(4).shape == (4, 2, 3)
    assert actual.sample_n((4, 5)).shape == (4, 5, 2, 3)
    assert actual.sample_n().shape == actual.sample_n(()).shape == (2, 3)
    assert actual.sample((0, 2, 3)).shape == (0, 2, 3)
    wide = actual.broadcast_to((4, 2, 3))
    assert type(wide) is type(actual) and wide.mean.shape == wide.sample().shape == (4, 2, 3)
    value = mx.np.array(case.values)
    np.testing.assert_array_equal(
        wide.log_prob(value).asnumpy(), np.broadcast_to(actual.log_prob(value).asnumpy(), (4, 2, 3))
    )
    assert actual.log_prob(mx.np.array(np.broadcast_to(case.values, (5, 2, 3)))).shape == (5, 2, 3)
    assert case.name in repr(actual) and "(2, 3)" in repr(actual)


@each
def test_numbers_are_parameters(case):
    """Numbers serve as arrays do, and never decide the type of results."""
    numbers = {name: float(values[0, 2]) for name, values in case.parameters.items()}
    if "n" in numbers:
        numbers["n"] = int(numbers["n"])
    cls = getattr(mx.gluon.probability, case.name)
    plain = cls(**numbers)
    arrays = cls(**{name: mx.np.array([value]) for name, value in numbers.items()})
    for policy in (False, True):
        with mx.util.np_default_dtype(policy):
            value = mx.np.array(case.values[0], dtype="float32")
            actual = plain.log_prob(value)
            assert actual.dtype == np.float32
            np.testing.assert_allclose(
                actual.asnumpy(), arrays.log_prob(value).asnumpy(), rtol=1e-5, atol=1e-6
            )
            drawn, mean = plain.sample(), plain.mean
            assert drawn.dtype == mean.dtype == (np.float64 if policy else np.float32)
    assert plain.mean.shape == plain.sample().shape == plain.variance.shape == ()
    assert plain.sample(3).shape == (3,) and plain.sample_n((4, 5)).shape == (4, 5)
    assert plain.log_prob(float(case.values[0, 2])).shape == ()
    np.testing.assert_allclose(plain.mean.item(), arrays.mean.item(), rtol=1e-5)
    wide = plain.broadcast_to((2,))
    assert wide.sample().shape == (2,) and "(2,)" in repr(wide)


def both_ways(case, name, *inputs):
    """A method's results and gradients, eagerly and hybridized, for random parameters' order."""

    class Net(mx.gluon.HybridBlock):
        def forward(self, *args):
            parameters = dict(zip(case.parameters, args, strict=False))
            distribution = getattr(mx.gluon.probability, case.name)(
                **parameters, validate_args=True
            )
            actual = getattr(distribution, name)
            return actual(*args[len(parameters) :]) if callable(actual) else actual

    results = []
    for hybridize in (False, True):
        net = Net()
        if hybridize:
            net.hybridize()
        arrays = [mx.np.array(v, dtype="float64") for v in (*case.parameters.values(), *inputs)]
        for array in arrays:
            array.attach_grad()
        with autograd.record():
            out = net(*arrays)
        out.backward()
        results.append([out.asnumpy()] + [array.grad.asnumpy() for array in arrays])
        if hybridize:
            assert net._only_trace() is not None
    return results


@each
def test_graphs_compute_the_same(case):
    inputs = {"log_prob": [case.values], "cdf": [case.values], "icdf": [PROB]}
    for name in ("log_prob", "cdf", "icdf", "mean", "variance", "entropy"):
        if name in case.lacks or (name in ("mean", "variance") and "Cauchy" in case.name):
            continue
        for eager, planned in zip(*both_ways(case, name, *inputs.get(name, [])), strict=True):
            np.testing.assert_allclose(planned, eager, rtol=1e-9, atol=1e-9)


@each
def test_gradients_of_densities(case):
    """Those of parameters, and of values of continuous distributions, by differences."""
    arrays = {k: mx.np.array(v, dtype="float64") for k, v in case.parameters.items()}
    value = mx.np.array(case.values, dtype="float64")
    cls = getattr(mx.gluon.probability, case.name)
    for array in (*arrays.values(), value):
        array.attach_grad()
    with autograd.record():
        total = cls(**arrays).log_prob(value).sum()
    total.backward()

    def shifted(which, step):
        moved = {k: a + step if k == which else a for k, a in arrays.items()}
        at = value + step if which == "value" else value
        return cls(**moved).log_prob(at).asnumpy()

    for which, array in (*arrays.items(), ("value", value)):
        if which == "n" or (which == "value" and case.discrete):
            continue
        step = 1e-6
        slope = (shifted(which, step) - shifted(which, -step)) / (2 * step)
        if case.name == "Uniform" and which == "value":
            slope = np.zeros((2, 3))
        np.testing.assert_allclose(array.grad.asnumpy(), slope, rtol=2e-5, atol=2e-5)


@each
def test_samples_have_the_moments(case):
    mx.np.random.seed(13)
    actual, reference = case.make(mx), case.reference()
    count = 8000
    samples = actual.sample_n(count).asnumpy()
    assert np.isfinite(samples).all() and samples.dtype == np.float32
    if case.discrete:
        assert (samples == np.floor(samples)).all()
    # the share of samples not above a value is known to five standard errors
    for at in (case.values, reference.median()):
        share, expected = (samples <= at).mean(axis=0), reference.cdf(at)
        error = np.sqrt(expected * (1 - expected) / count)
        assert (np.abs(share - expected) <= 5 * error + 1e-4).all()
    assert len(np.unique(samples[:, 0, 0])) > 1 and (samples[0] != samples[1]).any()


@each
def test_gradients_of_samples(case):
    """At a constant probability, samples move as -(dF/dparameter) / density says."""
    actual = case.make(mx)
    if not actual.has_grad:
        assert case.name not in ("Normal", "Laplace", "Uniform", "Weibull")
        return
    mx.np.random.seed(3)
    cls = getattr(mx.gluon.probability, case.name)
    arrays = {k: mx.np.array(v, dtype="float64") for k, v in case.parameters.items()}
    for array in arrays.values():
        array.attach_grad()
    with autograd.record():
        samples = cls(**arrays).sample()
    samples.backward()
    moved = {k: a.grad.copy() for k, a in arrays.items()}
    with autograd.record():
        below = cls(**arrays).cdf(samples.detach())
    below.backward()
    density = cls(**arrays).pdf(samples)
    for name, array in arrays.items():
        expected = -array.grad / density
        np.testing.assert_allclose(
            moved[name].asnumpy(), expected.asnumpy(), rtol=2e-3, atol=1e-4, err_msg=name
        )


# --- edges ---------------------------------------------------------------------------------------


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


def test_one_of_two_parameters_is_given():
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


def test_what_is_not_defined_is_told():
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
    """What natural parameters and the log normalizer give, also its gradient."""
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
    """What is computed while recording is not kept for later."""
    logit = mx.np.array([0.5, 1.0])
    logit.attach_grad()
    distribution = mx.gluon.probability.Bernoulli(logit=logit)
    for _ in range(2):
        with autograd.record():
            total = distribution.mean.sum()
        total.backward()
        assert (logit.grad > 0).all()
    assert distribution.prob is distribution.prob
