"""Random operators: the numbers of MXNet 1.9.1, gradients and arguments."""

import json
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd, util
from mxcy.base import MXNetError
from tests.ops.random.random_cases import cases

DATA = Path(__file__).parents[2] / "data"
GOLDEN = json.loads((DATA / "random_golden.json").read_text())["cases"]


def ones(*shape, dtype=np.float32):
    return mx.nd.array(np.ones(shape), dtype=dtype)


# --- the numbers of MXNet 1.9.1 ------------------------------------------------------------------


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.name)
def test_numbers_equal_those_of_mxnet(case):
    for seed, shapes in case.seeds():
        got = case.summary(case.draw(mx, seed, shapes))
        want = GOLDEN[case.name][str(seed)]
        np.testing.assert_allclose(got["first"], want["first"], rtol=1e-15 if case.rounded else 0)
        assert got["digest"] == want["digest"], f"seed {seed}"


def test_dropout_passes_data_when_nothing_is_dropped():
    data = mx.nd.array(np.linspace(-1, 1, 60).reshape(4, 15))
    mx.random.seed(7)
    same = [mx.nd.Dropout(data, p=0.5)]
    with autograd.record():
        same.append(mx.nd.Dropout(data, p=0.0))
        same.append(mx.nd.Dropout(data, p=0.0, mode="always"))
    with autograd.train_mode():
        dropped = mx.nd.Dropout(data, p=0.5).asnumpy()
    for out in same:
        np.testing.assert_array_equal(out.asnumpy(), data.asnumpy())
    mx.random.seed(7)  # the calls that dropped nothing drew nothing
    np.testing.assert_array_equal(mx.nd.Dropout(data, p=0.5, mode="always").asnumpy(), dropped)
    assert (dropped == 0).any() and (dropped != 0).any()


@pytest.mark.parametrize("axes", [(), (0,), (1,)])
def test_dropout_gradient_is_the_mask(axes):
    data, grad = ones(40, 30), ones(40, 30)
    autograd.mark_variables([data], [grad])
    with autograd.record():
        out = mx.nd.Dropout(data, p=0.4, axes=axes)
    out.backward()
    np.testing.assert_array_equal(grad.asnumpy(), out.asnumpy())
    mask = out.asnumpy()
    for axis in axes:
        assert (mask == mask.take([0], axis)).all()
    assert 0 < (mask == 0).mean() < 1


def test_samples_have_zero_gradient():
    mean, deviation = ones(3), ones(3)
    mean.attach_grad()
    with autograd.record():
        out = mx.nd.random.normal(mean, deviation, shape=2) * 3
        like = mx.nd.random.normal_like(mean)
    autograd.backward([out, like])
    np.testing.assert_array_equal(mean.grad.asnumpy(), np.zeros(3))
    with autograd.record():
        out = mx.nd.random.shuffle(mean)
    with pytest.raises(MXNetError, match="_shuffle is non-differentiable"):
        out.backward()


def test_multinomial_gradient_of_the_log_probability():
    table = mx.nd.array([[0.2, 0.3, 0.5], [0.1, 0.9, 0.0]])
    table.attach_grad()
    mx.random.seed(3)
    weights = mx.nd.array([[1, 2, 3, 4], [5, 6, 7, 8]])
    with autograd.record():
        chosen, log_probability = mx.nd.random.multinomial(table, shape=4, get_prob=True)
        loss = (log_probability * weights).sum()
    loss.backward()
    np.testing.assert_array_equal(chosen.asnumpy(), [[2, 1, 1, 1], [1, 1, 1, 1]])
    want = [[0, 9 / 0.3, 1 / 0.5], [0, 26 / 0.9, 0]]
    np.testing.assert_allclose(table.grad.asnumpy(), want, rtol=1e-6)


def test_python_functions_draw_the_operators_numbers():
    array = ones(2)
    pairs = [
        (mx.nd.random.uniform, {"low": 1, "high": 3, "shape": 5}, "random_uniform"),
        (mx.nd.random.normal, {"loc": 1, "scale": 3, "shape": 5}, "random_normal"),
        (mx.nd.random.gamma, {"alpha": 2, "beta": 3, "shape": 5}, "random_gamma"),
        (mx.nd.random.poisson, {"lam": 2, "shape": 5}, "random_poisson"),
        (mx.nd.random.negative_binomial, {"k": 2, "p": 0.5}, "random_negative_binomial"),
        (mx.nd.random.randint, {"low": 2, "high": 50, "shape": 5}, "random_randint"),
        (mx.nd.random.uniform, {"low": array, "high": array, "shape": 5}, "sample_uniform"),
        (mx.nd.random.shuffle, {"data": mx.nd.array(np.arange(9))}, "shuffle"),
        (mx.random.uniform, {"shape": 5}, "uniform"),
        (mx.random.normal, {"shape": 5}, "normal"),
    ]
    for function, given, operator in pairs:
        mx.random.seed(3)
        got = function(**given).asnumpy()
        mx.random.seed(3)
        given = {"shape": 1, **given} if "random" in operator else given
        np.testing.assert_array_equal(got, getattr(mx.nd, operator)(**given).asnumpy())
    mx.random.seed(3)
    got = mx.nd.random.exponential(4.0, shape=5).asnumpy()
    mx.random.seed(3)
    np.testing.assert_array_equal(got, mx.nd.random_exponential(lam=0.25, shape=5).asnumpy())
    mx.random.seed(3)
    got = mx.nd.random.randn(2, 3, loc=2).asnumpy()
    mx.random.seed(3)
    np.testing.assert_array_equal(got, mx.nd.random_normal(2, 1, shape=(2, 3)).asnumpy())


@pytest.mark.parametrize("name", ["uniform", "normal", "exponential", "gamma", "poisson"])
def test_like_draws_with_shape_and_dtype_of_the_data(name):
    for dtype in ("float32", "float64", "float16"):
        mx.random.seed(8)
        got = getattr(mx.nd.random, f"{name}_like")(ones(3, 4, dtype=dtype)).asnumpy()
        mx.random.seed(8)
        want = getattr(mx.nd, f"random_{name}")(shape=(3, 4), dtype=dtype).asnumpy()
        np.testing.assert_array_equal(got, want, strict=True)
    with pytest.raises(MXNetError, match=rf"_random_{name}_like.*data.*floating"):
        getattr(mx.nd.random, f"{name}_like")(ones(3, dtype=np.int32))


def test_integer_parameters_count_as_floats():
    low, high = np.array([1, -3]), np.array([2, 9])
    drawn = []
    for dtype in (np.float32, np.int32, np.int64, np.int8):
        mx.random.seed(1)
        arrays = mx.nd.array(low, dtype=dtype), mx.nd.array(high, dtype=dtype)
        drawn.append(mx.nd.random.uniform(*arrays, shape=4).asnumpy())
        assert drawn[-1].dtype == np.float32
    for other in drawn[1:]:
        np.testing.assert_array_equal(other, drawn[0])


# --- arguments -----------------------------------------------------------------------------------


def test_shapes():
    random = mx.nd.random
    assert random.uniform().shape == random.normal(0, 1).shape == random.randint(0, 5).shape == (1,)
    assert random.uniform(shape=3).shape == (3,)
    assert random.uniform(shape=[2, 3]).shape == random.randn(2, 3).shape == (2, 3)
    assert random.normal(ones(2, 3), ones(2, 3)).shape == (2, 3)
    assert random.normal(ones(2, 3), ones(2, 3), shape=(4, 5)).shape == (2, 3, 4, 5)
    assert random.poisson(ones(2), shape=4).shape == (2, 4)
    row, table = mx.nd.array([0.5, 0.5]), mx.nd.array([[0.5, 0.5]] * 3)
    assert random.multinomial(row).shape == (1,)
    assert random.multinomial(row, shape=(2, 3)).shape == (2, 3)
    assert random.multinomial(table).shape == (3,)
    assert [out.shape for out in random.multinomial(table, 2, True)] == [(3, 2), (3, 2)]


def test_context_of_the_result():
    random = mx.nd.random
    assert random.uniform().context == mx.cpu(0)
    for ctx in (mx.cpu(2), "cpu(2)"):
        assert random.uniform(ctx=ctx).context == mx.cpu(2)
    rates = mx.nd.ones(2, ctx=mx.cpu(1))
    with mx.cpu(3):
        assert random.normal(shape=2).context == random.randint(0, 9).context == mx.cpu(3)
        assert random.poisson(rates).context == mx.cpu(1)
    with pytest.raises(MXNetError, match="gpu"):
        random.uniform(ctx=mx.gpu(99))


def test_out_decides_shape_and_dtype():
    for dtype in ("float32", "float64", "float16"):
        out = ones(2, 3, dtype=dtype)
        assert mx.nd.random.uniform(5, 6, out=out) is out
        assert (out.asnumpy() >= 5).all()
        mx.nd.random_normal(loc=100, scale=0.1, out=out)
        assert (out.asnumpy() > 90).all()
        mx.nd.random.normal(ones(2) * 100, ones(2), shape=3, out=out)
        assert (out.asnumpy() > 90).all()
    out = ones(3, dtype="int64")
    mx.nd.random.randint(2**40, 2**41, out=out)
    assert (out.asnumpy() >= 2**40).all()
    with pytest.raises(MXNetError, match=r"_random_uniform.*out"):
        mx.nd.random.uniform(shape=(3, 3), out=ones(2, 3))
    with pytest.raises(MXNetError, match=r"dtype.*_random_uniform"):
        mx.nd.random.uniform(out=ones(2, 3, dtype=np.int32))


@pytest.mark.parametrize(
    ("name", "given", "needs"),
    [
        ("uniform", {"low": 2, "high": 1}, "low <= high"),
        ("normal", {"scale": 0}, "scale > 0"),
        ("normal", {"scale": float("nan")}, "scale > 0"),
        ("exponential", {"scale": -1}, "lam > 0"),
        ("gamma", {"alpha": 0}, "alpha > 0"),
        ("poisson", {"lam": -1}, "lam >= 0"),
        ("binomial", {"p": 1.5}, "0 <= p <= 1"),
        ("negative_binomial", {"k": -1}, "k >= 0"),
        ("negative_binomial", {"p": 0}, "0 < p <= 1"),
        ("negative_binomial", {"k": 2.5}, "k=2.5"),
        ("generalized_negative_binomial", {"alpha": -1}, "alpha >= 0"),
        ("uniform", {"shape": ()}, "np_shape"),
        ("normal", {"shape": (2, 0)}, "np_shape"),
        ("normal", {"shape": None}, "shape must be given"),
        ("uniform", {"shape": (-1, 2)}, "negative"),
        ("uniform", {"dtype": "int32"}, "dtype"),
        ("randint", {"low": 5, "high": 5}, "low must be less than high"),
        ("randint", {"low": 0.5, "high": 5}, "low=0.5"),
        ("randint", {"low": 0, "high": 5, "dtype": "float32"}, "dtype"),
    ],
)
def test_bad_arguments_are_named(name, given, needs):
    with pytest.raises(MXNetError) as caught:
        getattr(mx.nd.random, name)(**given)
        mx.nd.waitall()
    assert f"_random_{name}" in str(caught.value) and needs in str(caught.value)


def test_parameters_of_mixed_kinds():
    with pytest.raises(AssertionError, match="must all have the same type"):
        mx.nd.random.uniform(ones(2), 1)
    with pytest.raises(AssertionError, match="must all have the same type"):
        mx.nd.random.normal(0, ones(2))
    with pytest.raises(ValueError, match="must be either NDArray or numbers"):
        mx.nd.random.uniform("a", 1)
    with pytest.raises(MXNetError, match=r"_sample_uniform.*high"):
        mx.nd.random.uniform(ones(2), ones(3))
    with pytest.raises(MXNetError, match="_sample_uniform.*float"):
        mx.nd.random.uniform(ones(2), ones(2, dtype=np.float64))


def test_zero_size_and_rows_without_samples():
    mx.random.seed(2)
    with util.np_shape():
        assert mx.nd.random.uniform(shape=(2, 0)).shape == (2, 0)
        assert mx.nd.random.normal(ones(2), ones(2), shape=(0,)).shape == (2, 0)
    first = mx.nd.random.uniform().asnumpy()
    mx.random.seed(2)  # nothing was drawn for no elements
    with util.np_shape():
        scalar = mx.nd.random.uniform(shape=())
    assert scalar.shape == () and scalar.asnumpy() == first[0]
    mx.random.seed(2)
    np.testing.assert_array_equal(mx.nd.random.uniform().asnumpy(), first)


def test_impossible_row_parameters_end():
    nan = float("nan")
    shapes = mx.nd.array([nan, -3.0, float("inf"), 2.0])
    drawn = mx.nd.random.gamma(shapes, ones(4), shape=5).asnumpy()
    assert np.isnan(drawn[:3]).all() and np.isfinite(drawn[3]).all()
    mx.nd.random.poisson(mx.nd.array([nan, -1.0, float("inf")]), shape=5).asnumpy()


def test_multinomial_never_leaves_the_table():
    table = mx.nd.array([0.25, 0.25])
    assert set(mx.nd.random.multinomial(table, shape=500).asnumpy()) == {0, 1}


def test_shuffle_keeps_rows_together_and_works_in_place():
    data = mx.nd.array(np.arange(40).reshape(10, 4))
    mixed = mx.nd.random.shuffle(data).asnumpy()
    order = mixed[:, 0].argsort()
    assert (order != np.arange(10)).any()
    np.testing.assert_array_equal(mixed[order], data.asnumpy())
    mx.random.seed(5)
    want = mx.nd.random.shuffle(data).asnumpy()
    mx.random.seed(5)
    assert mx.nd.random.shuffle(data, out=data) is data
    np.testing.assert_array_equal(data.asnumpy(), want)
