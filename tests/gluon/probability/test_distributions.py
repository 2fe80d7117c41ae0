"""Scalar distributions: densities and moments equal SciPy's, eagerly and as graphs."""

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
    """Numbers work like arrays, but never determine the result type."""
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
    """Gradients of parameters, and of values of continuous distributions, against differences."""
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
    """At constant probability, samples move by -(dF/dparameter) / density."""
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
