"""Elementwise functions that are composites or have additional parameters."""

import numpy as onp
import pytest

import mxcy as mx

np = mx.np
VALUES = onp.array([-2.5, -1.5, -0.26, 0.0, 0.5, 1.5, 12.34], "float32")


@pytest.mark.parametrize("decimals", [0, 1, -1])
@pytest.mark.parametrize("name", ["around", "round", "round_"])
def test_rounding(name, decimals):
    actual = getattr(np, name)(np.array(VALUES), decimals)
    onp.testing.assert_allclose(actual.asnumpy(), onp.round(VALUES, decimals), rtol=1e-6)
    assert np.array(VALUES).round(1).shape == VALUES.shape
    assert np.around(np.array([3], "int32"), 1).dtype == "int32"
    assert round(np.array(2.5)).item() == 2


def test_nan_to_num():
    values = onp.array([onp.nan, onp.inf, -onp.inf, 2.0], "float32")
    for keywords in ({}, {"nan": 1.0, "posinf": 5.0, "neginf": -5.0}):
        actual = np.nan_to_num(np.array(values), **keywords)
        onp.testing.assert_array_equal(actual.asnumpy(), onp.nan_to_num(values, **keywords))


def test_clip():
    array = np.array(VALUES)
    for bounds in ((-1, 1), (None, 1.0), (0, None), (np.array(-1.0), 1), (onp.zeros(7, "f4"), 9)):
        plain = [b.asnumpy() if isinstance(b, np.ndarray) else b for b in bounds]
        expected = onp.clip(VALUES, *plain)
        onp.testing.assert_array_equal(np.clip(array, *bounds).asnumpy(), expected)
    assert array.clip(0, 1).tolist() == np.clip(array, min=0, max=1).tolist()
    nan = float("nan")
    for low, high in ((1.0, -1.0), (1, -1), (nan, 1.0), (0.0, nan), (None, nan), (nan, 1)):
        expected = onp.clip(VALUES, low, high)
        onp.testing.assert_array_equal(np.clip(array, low, high).asnumpy(), expected)
    assert np.clip(np.arange(3, dtype="int32"), 2, 1).tolist() == [1, 1, 1]
    array.attach_grad()
    with mx.autograd.record():
        loss = np.clip(array, -1.5, 1.5).sum()
    loss.backward()
    assert array.grad.tolist() == [0, 1, 1, 1, 1, 1, 0]


def test_parts_of_numbers():
    array = np.array(VALUES)
    for actual, expected in zip(np.modf(array), onp.modf(VALUES), strict=True):
        onp.testing.assert_array_equal(actual.asnumpy(), expected)
    parts = onp.divmod(VALUES, onp.float32(0.7))
    for actual, expected in zip(np.divmod(array, 0.7), parts, strict=True):
        onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=1e-5, atol=1e-6)
    assert np.modf(np.array([onp.inf]))[0].item() == 0
    assert np.real(array) is array and np.imag(array).tolist() == [0] * 7
    assert np.float_power(array, 2).dtype == "float64"


def test_heaviside():
    actual = np.heaviside(np.array([-1.0, 0, 2, onp.nan]), 0.5)
    onp.testing.assert_array_equal(actual.asnumpy(), [0, 0.5, 1, onp.nan])


def test_activations():
    array = np.array([-1.0, 0, 2])
    array.attach_grad()
    with mx.autograd.record():
        loss = mx.npx.relu(array).sum() + mx.npx.sigmoid(array).sum()
    loss.backward()
    gate = 1 / (1 + onp.exp(-array.asnumpy()))
    onp.testing.assert_allclose(array.grad.asnumpy(), [0, 0, 1] + gate * (1 - gate), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64"])
@pytest.mark.parametrize("shapes", [((), (1,)), ((1,), ()), ((1, 1), (1,)), ((), (1, 1))])
def test_one_element_in_several_shapes(shapes, dtype):
    x, y = (onp.full(shape, 3, dtype) for shape in shapes)
    for name in ("add", "multiply", "maximum", "power", "less"):
        expected = getattr(onp, name)(x, y)
        actual = getattr(np, name)(np.array(x, dtype), np.array(y, dtype))
        assert actual.shape == expected.shape
        assert (actual.asnumpy() == expected).all(), name


def test_numbers_alone():
    assert type(np.exp(0.0)) is onp.float64
    actual = np.broadcast_to(1.5, (2, 2))  # an array in NumPy, and so one here
    assert type(actual) is np.ndarray and actual.asnumpy().tolist() == [[1.5, 1.5]] * 2


@pytest.mark.parametrize("order", ["C", "F", "other"])
def test_orders_of_elements(order):
    x = np.ones((2, 2))
    with pytest.raises(NotImplementedError, match="order"):
        np.add(x, x, order=order)
    with pytest.raises(NotImplementedError, match="order"):
        np.fix(x, order=order)
    assert np.add(x, x, order="K").asnumpy().tolist() == [[2, 2], [2, 2]]


@pytest.mark.parametrize("name", ["mod", "fmod"])
def test_remainders_of_integers_have_no_slope(name):
    x, y = np.array([5, 7], "int32"), np.array([3, 2], "int32")
    x.attach_grad()
    y.attach_grad()
    with mx.autograd.record():
        z = getattr(np, name)(x, y)
    z.backward()
    assert z.tolist() == [2, 1]
    assert not x.grad.asnumpy().any() and not y.grad.asnumpy().any()


def test_types_that_functions_are_told():
    x = np.array([5, 7], "int32")
    assert np.add(x, x, dtype="int64").dtype == "int64"
    assert np.add(x, 1, dtype="int32").dtype == "int32"
    with pytest.raises(NotImplementedError, match="dtype"):
        np.add(x, x, dtype="int8")


def test_keywords_of_logic():
    x = np.ones((2,))
    for keywords in ({"where": False}, {"order": "C"}, {"casting": "safe"}):
        with pytest.raises(NotImplementedError):
            np.logical_and(x, x, **keywords)
        with pytest.raises(TypeError):
            np.equal(x, x, **keywords)
    with pytest.raises(TypeError):
        np.logical_or(x, x, dtype="no type")


@pytest.mark.parametrize("shape", [(4,), (2, 2), ()])
def test_nan_to_num_in_place(shape):
    values = onp.resize(onp.array([onp.nan, onp.inf, -onp.inf, 2.0], "float16"), shape)
    array = np.array(values, dtype="float16")
    assert np.nan_to_num(array, copy=False, posinf=9.0) is array
    onp.testing.assert_array_equal(array.asnumpy(), onp.nan_to_num(values, posinf=9.0))
    whole = np.array([1, 2], "int64")
    assert np.nan_to_num(whole, False) is whole
    assert np.nan_to_num(float("nan"), copy=False) == 0
    array = np.array([onp.inf, 3.0])
    array.attach_grad()
    with mx.autograd.record():
        actual = np.nan_to_num(array, copy=False)
    actual.backward()
    assert np.isinf(array).any() and array.grad.tolist() == [0.0, 1.0]  # recorded: a copy
    assert "_npi_nan_to_num" in np_symbol().tojson()


def np_symbol():
    return mx.sym.np.nan_to_num(mx.sym.var("x").as_np_ndarray(), copy=False)


BEYOND = [0, 1, 3, 2**31, 2**63 - 1, 2**63, 2**64 - 1]  # of int64
FUNCTIONS = (
    "add subtract multiply floor_divide mod maximum minimum bitwise_and bitwise_or bitwise_xor "
    "left_shift right_shift gcd equal less greater_equal logical_and power"
)


@pytest.mark.parametrize("name", FUNCTIONS.split())
def test_64_bits_without_a_sign(name):
    left, right = onp.array(BEYOND * 9, "uint64"), onp.array(BEYOND[::-1] * 9, "uint64")
    if name in ("left_shift", "right_shift", "power"):
        right %= onp.uint64(60)
    with onp.errstate(all="ignore"):
        expected = getattr(onp, name)(left, right)
        rows = getattr(onp, name)(left[:7, None], right)
        halves = getattr(onp, name)(left, onp.uint64(2))
    a, b = np.array(left, dtype="uint64"), np.array(right, dtype="uint64")
    actual = getattr(np, name)(a, b)
    assert actual.dtype == expected.dtype
    assert actual.tolist() == expected.tolist()
    assert getattr(np, name)(a[:7, None], b).tolist() == rows.tolist()
    assert getattr(np, name)(a, 2).tolist() == halves.tolist()


def test_one_operand_of_64_bits_without_a_sign():
    values = onp.array(BEYOND, "uint64")
    array = np.array(values, dtype="uint64")
    for name in ("absolute", "sign", "square", "negative", "invert", "logical_not"):
        expected = getattr(onp, name)(values)
        assert getattr(np, name)(array).tolist() == expected.tolist(), name


def test_powers_of_two_and_sinc():
    array = np.array([-1.5, 0, 0.25, 1, 3], dtype="float64")
    for name in ("exp2", "sinc"):
        actual = getattr(np, name)(array)
        onp.testing.assert_allclose(
            actual.asnumpy(), getattr(onp, name)(array.asnumpy()), atol=1e-15
        )
        assert getattr(np, name)(np.arange(3, dtype="int32")).dtype == "float32"
    array.attach_grad()
    with mx.autograd.record():
        total = np.sinc(array).sum() + np.exp2(array).sum()
    total.backward()
    places = array.asnumpy()
    slopes = [0 if x == 0 else (onp.cos(onp.pi * x) - onp.sinc(x)) / x for x in places]
    onp.testing.assert_allclose(array.grad.asnumpy(), slopes + onp.log(2) * 2**places, atol=1e-9)


def test_powers_of_two_added():
    x1, x2 = onp.array([-3.0, 0.0, 5.0], "float32"), onp.array([2.0, 0.5, 5.5], "float32")
    actual = np.logaddexp2(np.array(x1), np.array(x2))
    onp.testing.assert_allclose(actual.asnumpy(), onp.logaddexp2(x1, x2), rtol=1e-6)
    out = np.zeros(3)
    assert np.logaddexp2(np.array(x1), 2.0, out=out) is out


def test_imaginary_parts_that_are_zero():
    z = np.array([1, 2j, 3 + 1e-9j])
    assert np.isreal(z).tolist() == [True, False, False]
    assert np.iscomplex(z).tolist() == [False, True, True]
    assert np.real_if_close(z[2:]).dtype == "float32" and np.real_if_close(z).dtype == "complex64"
    assert np.real_if_close(np.ones(2)).tolist() == [1, 1]
