"""Results of empty arrays, masks and mixed types under NumPy's types, against NumPy's."""

import numpy as onp
import pytest

import mxcy as mx

np = mx.np


@pytest.fixture(autouse=True)
def numpy_types():
    with mx.util.np_default_dtype():
        yield


def agree(name, *arguments, **keywords):
    """Call both libraries' functions and compare types, shapes and elements."""
    with onp.errstate(all="ignore"):
        expected = onp.asarray(getattr(onp, name)(*arguments, **keywords))
    ours = [np.asarray(x) if isinstance(x, onp.ndarray) else x for x in arguments]
    for key, value in keywords.items():
        if isinstance(value, onp.ndarray):
            keywords[key] = np.asarray(value)
    actual = getattr(np, name)(*ours, **keywords)
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=1e-3)


@pytest.mark.parametrize(
    "name", ["hypot", "arctan2", "logaddexp", "logaddexp2", "copysign", "heaviside"]
)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32"])
def test_real_functions_of_arrays_and_numbers(name, dtype):
    array = onp.array([1, 0, 1], dtype)
    agree(name, array, 2)
    agree(name, 0, array)
    agree(name, array, 2.5)
    agree(name, array, onp.array([1, 2, 0], "uint16"))


def test_heaviside_of_nonfinite_values():
    steps = onp.array([-1, 0, 2, onp.nan])
    agree("heaviside", steps, onp.array([[onp.inf], [onp.nan]]))


def test_means_of_picked_elements_have_the_type_asked_for():
    agree("mean", onp.array([1.0, 4.0, 9.0]), dtype="int64", where=onp.array([True, True, False]))


@pytest.mark.parametrize("first", ["bool", "int8", "int32", "float16", "float32", "float64"])
@pytest.mark.parametrize("second", ["int8", "int32", "int64"])
def test_numbers_times_powers_of_two_keep_their_type(first, second):
    agree("ldexp", onp.array([1, 0], first), onp.array([3, 2], second))


@pytest.mark.parametrize("shape, mask", [((0, 3), (1, 3)), ((3, 0), (3, 1)), ((2, 0), (1,))])
def test_masks_over_no_elements(shape, mask):
    out = np.zeros(shape)
    assert np.sqrt(np.ones(shape), out=out, where=np.ones(mask, dtype="bool")) is out


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "uint32", "int64", "float32"])
@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_of_empty_arrays_with_initial(name, dtype):
    agree(name, onp.zeros((0, 3), dtype), axis=0, initial=1)
    agree(name, onp.zeros((0, 3), dtype), keepdims=True, initial=1)


@pytest.mark.parametrize("name", ["std", "var"])
def test_spreads_of_too_few_elements(name):
    values = onp.arange(6.0).reshape(2, 3)
    mask = onp.array([[True, True, False], [False, True, False]])
    with pytest.warns(RuntimeWarning, match="Degrees of freedom"):
        agree(name, values, axis=0, ddof=1, where=mask)


def test_unordered_dtypes_raise():
    for shape in ((0,), (3,)):
        numbers = np.ones(shape, dtype="complex64")
        for refused in (np.sort, np.argsort, lambda x: np.max(x, initial=1)):
            with pytest.raises(mx.MXNetError, match="arrays of complex64 are not supported"):
                refused(numbers)


def test_partition_of_empty_arrays():
    assert np.partition(np.zeros((3, 0)), 1).shape == (3, 0)


def test_complex_numbers_are_found_among_others():
    numbers = onp.array([[1 + 2j, 2], [0, onp.nan]])
    agree("isin", numbers, onp.array([2, 1 + 2j, onp.nan]))
    agree("isin", numbers, onp.array([0j]), invert=True)
