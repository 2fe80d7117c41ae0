"""Transformations, transformed distributions, and registries of constraints."""

import gc

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd

mgp = mx.gluon.probability
constraint = mgp.distributions.constraint
pytestmark = pytest.mark.usefixtures("np_arrays")


def a(*values):
    return mx.np.array(values, dtype="float64")


X = (0.3, 0.5, 2.0)
TRANSFORMS = {
    "exp": lambda: mgp.ExpTransform(),
    "affine": lambda: mgp.AffineTransform(1.0, a(2, -0.5, 3)),
    "power": lambda: mgp.PowerTransform(a(2, 0.5, -1)),
    "sigmoid": lambda: mgp.SigmoidTransform(),
    "compose": lambda: mgp.ComposeTransform([mgp.ExpTransform(), mgp.AffineTransform(1, -2)]),
    "nothing": lambda: mgp.ComposeTransform([]),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_inverses_and_slopes(name):
    distribution, x = TRANSFORMS[name](), a(*X)
    x.attach_grad()
    with autograd.record():
        y = distribution(x)
    y.backward()
    slopes = x.grad.asnumpy()
    np.testing.assert_allclose(distribution.inv(y).asnumpy(), X, rtol=1e-9)
    np.testing.assert_allclose(
        distribution.log_det_jacobian(x, y).asnumpy(), np.log(np.abs(slopes)), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(
        distribution.inv.log_det_jacobian(y, x).asnumpy(),
        -np.log(np.abs(slopes)),
        rtol=1e-9,
        atol=1e-9,
    )
    assert (
        distribution.bijective
        and distribution.inv.bijective
        and distribution.event_dim == distribution.inv.event_dim == 0
    )
    signs = [
        np.broadcast_to(mx.np.array(t.sign).asnumpy(), 3) for t in (distribution, distribution.inv)
    ]
    np.testing.assert_array_equal(signs[0], np.sign(slopes))
    np.testing.assert_array_equal(signs[1], np.sign(slopes))
    assert (
        distribution.inv.inv is distribution
        and distribution.inv.parameter_shape == distribution.parameter_shape
    )
    inverse = distribution.inv
    del distribution
    gc.collect()
    assert np.isfinite(inverse.inv(x).asnumpy()).all()


def test_vectors():
    softmax, x = mgp.SoftmaxTransform(), a(0.3, 0.5, 2.0)
    weights = softmax(x)
    assert weights.sum().item() == pytest.approx(1) and softmax.event_dim == 1
    np.testing.assert_allclose(softmax(softmax.inv(weights)).asnumpy(), weights.asnumpy())
    affine = mgp.AffineTransform(0.0, a(2, -3), event_dim=1)
    both = mgp.ComposeTransform([mgp.ExpTransform(), affine])
    x = a([0.5, 1], [2, 3], [0, 0])
    assert affine.log_det_jacobian(x, affine(x)).shape == (3,)
    np.testing.assert_allclose(
        both.log_det_jacobian(x, both(x)).asnumpy(), np.log(6) + x.asnumpy().sum(-1)
    )
    assert both.event_dim == 1 and both.inv.event_dim == 1


def test_transformations_without_log_det_jacobian():
    absolute = mgp.AbsTransform()
    assert absolute(a(-1, 2)).tolist() == [1, 2] and absolute.inv(a(3)).tolist() == [3]
    assert not absolute.bijective
    with pytest.raises(NotImplementedError, match="AbsTransform is not monotonic"):
        absolute.sign  # noqa: B018
    with pytest.raises(NotImplementedError, match="log_det_jacobian"):
        absolute.log_det_jacobian(a(1), a(1))
    nothing = mgp.Transformation()
    with pytest.raises(NotImplementedError, match="_forward_compute"):
        nothing(a(1))
    with pytest.raises(NotImplementedError, match="_inverse_compute"):
        nothing.inv(a(1))


def test_sigmoids_far_out():
    sigmoid = mgp.SigmoidTransform()
    far = mx.np.array([-100.0, 100.0, -30.0])
    np.testing.assert_allclose(sigmoid.log_det_jacobian(far, None).asnumpy(), [-100, -100, -30])
    back = sigmoid.inv(sigmoid(far)).asnumpy()
    assert np.isfinite(back).all() and back[2] == pytest.approx(-30, rel=1e-5)


def test_transformed_distributions():
    """A log-normal distribution, and a decreasing transformation."""
    stats = pytest.importorskip("scipy.stats")
    mx.np.random.seed(1)
    loc, scale = np.array([0.0, 1.0]), np.array([0.5, 1.5])
    normal = mgp.Normal(a(*loc), a(*scale))
    distribution, reference = (
        mgp.TransformedDistribution(normal, mgp.ExpTransform()),
        stats.lognorm(scale, 0, np.exp(loc)),
    )
    value, below = a(0.5, 2.0), a(0.2, 0.7)
    for name, ours, points in (
        ("logpdf", "log_prob", value),
        ("cdf", "cdf", value),
        ("ppf", "icdf", below),
    ):
        actual = getattr(distribution, ours)(points)
        np.testing.assert_allclose(
            actual.asnumpy(), getattr(reference, name)(points.asnumpy()), rtol=1e-6
        )
    drawn = distribution.sample_n(5000)
    assert distribution.has_grad and drawn.shape == (5000, 2)
    share = (drawn <= value).mean(axis=0).asnumpy()
    np.testing.assert_allclose(share, reference.cdf(value.asnumpy()), atol=0.04)
    falling = mgp.TransformedDistribution(
        normal, [mgp.ExpTransform(), mgp.AffineTransform(0.0, -1.0)]
    )
    np.testing.assert_allclose(falling.cdf(-value).asnumpy(), 1 - distribution.cdf(value).asnumpy())
    np.testing.assert_allclose(
        falling.icdf(below).asnumpy(), -distribution.icdf(1 - below).asnumpy()
    )
    wide = distribution.broadcast_to((3, 2))
    assert wide.sample().shape == (3, 2) and wide.log_prob(value).shape == (3, 2)
    assert (
        repr(distribution)
        == "TransformedDistribution(Normal(loc=(2,), scale=(2,)), [ExpTransform])"
    )
    mixed = mgp.TransformedDistribution(normal, mgp.AffineTransform(0.0, a(1, -1)))
    np.testing.assert_allclose(mixed.cdf(value).asnumpy()[1], 1 - normal.cdf(-value).asnumpy()[1])
    with pytest.raises(NotImplementedError, match="support"):
        distribution.support  # noqa: B018
    checked = mgp.TransformedDistribution(normal, mgp.ExpTransform(), validate_args=True)
    assert checked.log_prob(value).shape == (2,)  # no support is known
    same = mgp.TransformedDistribution(normal, [])
    np.testing.assert_allclose(same.log_prob(value).asnumpy(), normal.log_prob(value).asnumpy())


def test_each_element_has_noise_of_its_own():
    mx.np.random.seed(1)
    distribution = mgp.TransformedDistribution(
        mgp.Normal(0.0, 1.0), mgp.AffineTransform(a(1, 1, 1), 2.0)
    )
    assert len(set(distribution.sample().tolist())) == 3 and distribution.sample_n(4).shape == (
        4,
        3,
    )


def test_joint_densities_of_vectors():
    normal = mgp.Independent(mgp.Normal(mx.np.zeros((4, 3)), 1.0), 1)
    distribution = mgp.TransformedDistribution(normal, mgp.ExpTransform())
    value = mx.np.array(np.random.default_rng(0).uniform(0.5, 2, (4, 3)))
    expected = normal.log_prob(mx.np.log(value)) - mx.np.log(value).sum(axis=-1)
    assert distribution.event_dim == 1 and distribution.log_prob(value).shape == (4,)
    np.testing.assert_allclose(
        distribution.log_prob(value).asnumpy(), expected.asnumpy(), rtol=1e-4
    )


def test_blocks_are_transformations():
    """A learned scale: the parameter is found, and gets a gradient."""

    class Scale(mgp.TransformBlock):
        bijective = True

        def __init__(self):
            super().__init__()
            self.power = mx.gluon.Parameter("power", shape=(1,), init="ones")

        def _forward_compute(self, x):
            return x * mx.np.exp(self.power.data())

        def _inverse_compute(self, y):
            return y * mx.np.exp(-self.power.data())

        def log_det_jacobian(self, x, y):
            return mx.np.zeros_like(x) + self.power.data()

    scale = Scale()
    scale.initialize()
    assert len(scale.collect_params()) == 1
    distribution = mgp.TransformedDistribution(mgp.Normal(mx.np.zeros(3), 1.0), scale)
    with autograd.record():
        loss = -distribution.log_prob(mx.np.array([1.0, 2, 3])).sum()
    loss.backward()
    e = float(np.exp(-2))
    assert scale.power.grad().item() == pytest.approx(3 - 14 * e, rel=1e-4)
    assert distribution.sample_n(2).shape == (2, 3)


@pytest.mark.parametrize("table", [mgp.biject_to, mgp.transform_to])
def test_maps_lead_into_constraints(table):
    x = mx.np.array([-30.0, -1, 0.5, 4])
    for target, kind in (
        (constraint.Real(), mgp.ComposeTransform),
        (constraint.Positive(), mgp.ExpTransform),
        (constraint.NonNegative(), mgp.ExpTransform),
        (constraint.GreaterThan(2), mgp.ComposeTransform),
        (constraint.GreaterThanEq(2), mgp.ComposeTransform),
        (constraint.LessThan(2), mgp.ComposeTransform),
        (constraint.LessThanEq(-2.5), mgp.ComposeTransform),
        (constraint.UnitInterval(), mgp.SigmoidTransform),
        (constraint.Interval(0, 1), mgp.SigmoidTransform),
        (constraint.OpenInterval(-1, 1), mgp.ComposeTransform),
        (constraint.HalfOpenInterval(1, 3), mgp.ComposeTransform),
        (constraint.Interval(x - 1, x + 1), mgp.ComposeTransform),
    ):
        distribution = table(target)
        assert type(distribution) is kind
        inner = x[1:] if type(target).__name__.endswith(("Than", "OpenInterval")) else x
        target.check(distribution(inner))
        np.testing.assert_allclose(
            distribution.inv(distribution(x))[1:].asnumpy(), x[1:].asnumpy(), rtol=1e-4
        )


def test_user_defined_domain_map():
    table = mgp.domain_map()
    with pytest.raises(NotImplementedError, match="Cannot transform Positive constraints"):
        table(constraint.Positive())

    @table.register(constraint.Positive)
    def square(target):
        return mgp.PowerTransform(2)

    table.register(constraint.Real(), lambda target: mgp.ComposeTransform([]))
    assert isinstance(table(constraint.Positive()), mgp.PowerTransform)
    assert isinstance(table(constraint.Real()), mgp.ComposeTransform)
    with pytest.raises(TypeError, match="expected a constraint"):
        table.register(int, square)
    assert isinstance(mgp.transform_to(constraint.Simplex()), mgp.SoftmaxTransform)
    with pytest.raises(NotImplementedError):
        mgp.biject_to(constraint.Simplex())
