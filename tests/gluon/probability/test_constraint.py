"""Values that constraints allow, and errors for all others."""

import numpy as np
import pytest

import mxcy as mx

mgp = mx.gluon.probability
constraint = mgp.constraint
utils = mgp.distributions.utils
pytestmark = pytest.mark.usefixtures("np_arrays")

NAN, INF = float("nan"), float("inf")
MATRICES = {
    "unit": [[1.0, 0], [0, 1]],
    "lower": [[1.0, 0], [2, -1]],
    "upper": [[1.0, 2], [0, 1]],
    "full": [[2.0, 1], [1, 2]],
    "odd": [[1.0, 2], [2, 1]],
}
#: a constraint, allowed values, forbidden values, and its description
RULES = [
    (constraint.Real(), [0, -3, INF], [NAN], "a real number"),
    (constraint.Boolean(), [0, 1], [0.5, -1, 2], "0 or 1"),
    (constraint.Positive(), [1e-6, 3], [0, -1, NAN], "> 0"),
    (constraint.NonNegative(), [0, 3], [-1e-6], ">= 0"),
    (constraint.GreaterThan(2), [2.1], [2, 1], "> 2"),
    (constraint.GreaterThanEq(2), [2], [1.9], ">= 2"),
    (constraint.LessThan(2), [1.9], [2], "< 2"),
    (constraint.LessThanEq(2), [2], [2.1], "<= 2"),
    (constraint.Interval(0, 3), [0, 3], [-0.1, 3.1], ">= 0 and <= 3"),
    (constraint.OpenInterval(0, 3), [0.1, 2.9], [0, 3], "> 0 and < 3"),
    (constraint.HalfOpenInterval(0, 3), [0, 2.9], [3, -1], ">= 0 and < 3"),
    (constraint.UnitInterval(), [0, 1], [-0.1, 1.1], ">= 0 and <= 1"),
    (constraint.PositiveInteger(), [1, 7], [0, 1.5, INF], "an integer > 0"),
    (constraint.NonNegativeInteger(), [0, 7], [-1, 1.5], "an integer >= 0"),
    (constraint.IntegerGreaterThan(2), [3], [2, 2.5], "an integer > 2"),
    (constraint.IntegerGreaterThanEq(2), [2], [1, 2.5], "an integer >= 2"),
    (constraint.IntegerLessThan(2), [1, -1], [2, 1.5], "an integer < 2"),
    (constraint.IntegerLessThanEq(2), [2], [3, 1.5], "an integer <= 2"),
    (constraint.IntegerInterval(0, 3), [0, 3], [4, 0.5], "an integer >= 0 and <= 3"),
    (constraint.IntegerOpenInterval(0, 3), [1, 2], [0, 3, 0.5], "an integer > 0 and < 3"),
    (constraint.IntegerHalfOpenInterval(0, 3), [0, 2], [3, 0.5], "an integer >= 0 and < 3"),
    (constraint.Simplex(), [[0.2, 0.8], [0, 1]], [[0.5, 0.6], [-0.5, 1.5]], "that sum up to 1"),
    (
        constraint.LowerTriangular(),
        [MATRICES["unit"], MATRICES["lower"]],
        [MATRICES["upper"], MATRICES["full"]],
        "square lower triangular matrices",
    ),
    (
        constraint.LowerCholesky(),
        [MATRICES["unit"]],
        [MATRICES["upper"], MATRICES["lower"]],
        "with positive diagonals",
    ),
    (
        constraint.PositiveDefinite(),
        [MATRICES["unit"], MATRICES["full"]],
        [MATRICES["upper"], MATRICES["odd"]],
        "symmetric positive definite",
    ),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule[0]).__name__)
def test_allowed_values_pass(rule):
    judge, good, bad, words = rule
    allowed = mx.np.array(good)
    assert judge.check(allowed) is allowed
    for value in good:
        judge.check(mx.np.array(value))
    for value in bad:
        with pytest.raises(ValueError, match=words):
            judge.check(mx.np.array(value))
        with pytest.raises(ValueError, match=r"(?s)violated: .* at \[1\] \(1 of 2\)"):
            judge.check(mx.np.array([good[0], value]))
        if np.ndim(value) == 0:
            judge.check(good[0])
            with pytest.raises(ValueError, match=words):
                judge.check(value)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule[0]).__name__)
def test_checks_become_part_of_graphs(rule):
    judge, good, bad, words = rule

    class Net(mx.gluon.HybridBlock):
        def forward(self, x):
            return judge.check(x)

    net = Net()
    net.hybridize()
    np.testing.assert_array_equal(net(mx.np.array(good)).asnumpy(), np.array(good, "float32"))
    with pytest.raises(ValueError, match=words):
        net(mx.np.array(bad)).asnumpy()


def test_empty_arrays_and_arrays_of_bounds():
    empty = mx.np.zeros((0, 2))
    assert constraint.Positive().check(empty) is empty
    between = constraint.Interval(mx.np.array([0.0, 1]), mx.np.array([1.0, 2]))
    between.check(mx.np.array([[0.5, 1.5], [1, 1]]))
    with pytest.raises(ValueError, match=r">= an array and <= an array, got 0.5 at \[1\]"):
        between.check(mx.np.array([0.5, 0.5]))


def test_matrices_are_square():
    for judge in (constraint.LowerTriangular(), constraint.PositiveDefinite()):
        with pytest.raises(ValueError, match=r"got the shape \(2, 3\)"):
            judge.check(mx.np.ones((2, 3)))
        with pytest.raises(ValueError, match="matrices.*got 1"):
            judge.check(1.0)


def test_parts_have_constraints_of_their_own():
    real, positive = constraint.Real(), constraint.Positive()
    cat = constraint.Cat([real, positive], axis=0, lengths=[1, 2])
    value = mx.np.array([-1.0, 4, 3])
    np.testing.assert_array_equal(cat.check(value).asnumpy(), value.asnumpy())
    with pytest.raises(ValueError, match="> 0"):
        cat.check(-value)
    assert constraint.Cat([positive, real]).check(mx.np.array([1.0, -1, -2])).shape == (3,)
    stack = constraint.Stack([real, positive], axis=1)
    rows = mx.np.array([[-1.0, 4], [-3, 1]])
    np.testing.assert_array_equal(stack.check(rows).asnumpy(), rows.asnumpy())
    with pytest.raises(ValueError, match="> 0"):
        stack.check(-rows)
    with pytest.raises(ValueError, match="2 slices along axis 1, got 3"):
        stack.check(mx.np.ones((2, 3)))
    for cls in (constraint.Cat, constraint.Stack):
        with pytest.raises(TypeError, match="list of constraints"):
            cls([real, 3])
    with pytest.raises(ValueError, match="2 constraints and 1 lengths"):
        constraint.Cat([real, positive], lengths=[3])


def test_dependent_constraints():
    support = mgp.Uniform.support
    assert constraint.is_dependent(support) and not constraint.is_dependent(constraint.Real())
    with pytest.raises(ValueError, match="depends on other parameters"):
        support.check(1.0)
    assert isinstance(mgp.Uniform(0.0, 1.0).support, constraint.Interval)
    with pytest.raises(NotImplementedError, match="Constraint"):
        constraint.Constraint().check(mx.np.ones(1))


def test_conversions_of_odds():
    prob = mx.np.array([0.1, 0.5, 0.9])
    logit = utils.prob2logit(prob)
    np.testing.assert_allclose(logit.asnumpy(), np.log([1 / 9, 1, 9]), rtol=1e-5)
    np.testing.assert_allclose(utils.logit2prob(logit).asnumpy(), prob.asnumpy(), rtol=1e-6)
    assert utils.prob2logit(0.1) == pytest.approx(np.log(1 / 9))
    assert utils.logit2prob(np.log(1 / 9)) == pytest.approx(0.1)
    assert np.isfinite(utils.prob2logit(mx.np.array([0.0, 1])).asnumpy()).all()
    assert np.isfinite([utils.prob2logit(0.0), utils.prob2logit(1)]).all()
    weights = utils.prob2logit(mx.np.array([0.25, 0.75]), binary=False)
    np.testing.assert_allclose(weights.asnumpy(), np.log([0.25, 0.75]), rtol=1e-6)
    back = utils.logit2prob(weights + 3, binary=False)
    np.testing.assert_allclose(back.asnumpy(), [0.25, 0.75], rtol=1e-6)


def test_constraint_helpers():
    assert utils.sample_n_shape_converter(None) is utils.sample_n_shape_converter(()) is None
    assert utils.sample_n_shape_converter(3) == utils.sample_n_shape_converter([3]) == (-2, 3)
    x = mx.np.ones((2, 3, 4))
    assert utils.sum_right_most(x, 2).tolist() == [12, 12]
    assert utils.sum_right_most(x, 0) is x
    half = mx.np.array([0.5])
    assert utils.erfinv()(utils.erf()(half)).item() == pytest.approx(0.5, rel=1e-5)
    assert utils.gammaln()(half).item() == pytest.approx(np.log(np.pi) / 2, rel=1e-5)
    assert utils.digamma()(half).item() == pytest.approx(-1.9635100, rel=1e-5)
    check = utils.constraint_check()
    assert check(True, "no") == 1 and check(half > 0, "no").item()
    for condition in (False, half < 0):
        with pytest.raises(ValueError, match="just so"):
            mx.np.array(check(condition, "just so")).asnumpy()
