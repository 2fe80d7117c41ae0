"""Complex arithmetic in every form that has a kernel."""

import operator

import numpy as onp
import pytest

import mxcy as mx

np = mx.np
TOLERANCE = {"complex64": 2e-6, "complex128": 1e-14}
FORMS = [
    ((3, 4), (3, 4)),
    ((301,), (301,)),
    ((), ()),
    ((5, 3), (3,)),
    ((7, 1), (1, 40)),
    ((40, 2, 3), (2, 1)),
    ((2, 0), (1,)),
]


def draw(shape, dtype, seed):
    random = onp.random.RandomState(seed)
    return onp.asarray(random.randn(*shape) + 1j * random.randn(*shape), dtype)


def array(values):
    return np.array(values, dtype=values.dtype)


def check(actual, expected, dtype):
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    tolerance = TOLERANCE[dtype]
    onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv"])
def test_two_operands(name, dtype):
    function = getattr(operator, name)
    for left, right in FORMS:
        a, b = draw(left, dtype, 1), draw(right, dtype, 2)
        check(function(array(a), array(b)), onp.asarray(function(a, b)), dtype)
    a = draw((37,), dtype, 3)
    for number in (2, -0.75, 1.5 - 2j):
        check(function(array(a), number), function(a, number), dtype)
        check(function(number, array(a)), function(number, a), dtype)
    own = array(a)
    check(getattr(operator, f"i{name}")(own, own), function(a, a), dtype)
    check(own, function(a, a), dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", ["negative", "square", "exp", "abs"])
@pytest.mark.parametrize("shape", [(37,), (3, 4, 5), (), (0, 2)])
def test_one_operand(name, shape, dtype):
    values = draw(shape, dtype, 4)
    check(getattr(np, name)(array(values)), onp.asarray(getattr(onp, name)(values)), dtype)


def test_quotients_keep_their_size():
    values = onp.array([3e200 + 4e200j, 1e-200 - 2e-200j, 5 + 0j, 0 - 5j])
    for divisor in (values, values[::-1].copy(), 1j * values):
        with onp.errstate(over="ignore", under="ignore", invalid="ignore"):
            expected = values / divisor
        actual = np.array(values, dtype="complex128") / np.array(divisor, dtype="complex128")
        onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=1e-14)
    zero = (np.array([1 + 2j, 0]) / np.array([0j, 0])).asnumpy()
    assert onp.isinf(zero[0].real) and onp.isinf(zero[0].imag) and onp.isnan(zero[1])


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_limits(dtype):
    inf, nan = onp.inf, onp.nan
    values = onp.array(
        [complex(*pair) for pair in ((inf, 1), (nan, inf), (nan, 1), (-inf, -inf), (0, 0))], dtype
    )
    onp.testing.assert_array_equal(np.abs(array(values)).asnumpy(), onp.abs(values))
    largest = onp.finfo(dtype).max
    assert np.abs(np.array([largest + 0j], dtype=dtype)).item() == largest
    powers = onp.array([complex(*p) for p in ((-inf, 1), (inf, 0), (nan, 0), (800, 0), (1, 30))])
    with onp.errstate(over="ignore", invalid="ignore"):
        expected = onp.exp(powers.astype(dtype))
        actual = np.exp(np.array(powers, dtype=dtype)).asnumpy()
    onp.testing.assert_allclose(actual, expected, rtol=TOLERANCE[dtype])


def test_several_threads():
    a, b = draw((70001,), "complex64", 5), draw((70001,), "complex64", 6)
    before = mx.util.set_num_threads(2)
    try:
        check(array(a) * array(b), a * b, "complex64")
        check(array(a) - 2, a - 2, "complex64")
        check(np.abs(array(a)), onp.abs(a), "complex64")
    finally:
        mx.util.set_num_threads(before)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", ["complex64", "complex128"])
def test_quotients_of_zeros_and_nan(kind):
    inf, nan = float("inf"), float("nan")
    parts = (0.0, -0.0, 1.0, inf, nan)
    values = onp.asarray([complex(re, im) for re in parts for im in parts], kind)
    finite = values[onp.isfinite(values)]
    above, below = onp.repeat(finite, len(values)), onp.tile(values, len(finite))
    actual = (np.array(above, dtype=kind) / np.array(below, dtype=kind)).asnumpy()
    wanted = above / below
    for part in ("real", "imag"):
        onp.testing.assert_array_equal(getattr(actual, part), getattr(wanted, part))
