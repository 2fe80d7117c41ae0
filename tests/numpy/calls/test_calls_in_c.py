"""Fast paths in C for common arguments match NumPy; other arguments still work."""

import numpy as onp
import pytest

from mxcy import autograd, np
from mxcy.base import MXNetError


@pytest.mark.parametrize(
    "values",
    [
        [1.5],
        [1, 2, 3],
        (0.1, 2),
        [[1, 2.5], [3, 4]],
        [(1, 2), (3, 4), (5, 6)],
        [[[0.1]], [[0.2]]],
        [True, False],
        [1, 2**60 + 1],
        [0.5, 2**53 + 1],
        [],
        [[], []],
        [onp.float32(1.5), 2.0],
        [1e300, -1e300],
    ],
)
@pytest.mark.parametrize("dtype", [None, "float64", "int32", "uint8"])
def test_arrays_of_lists(values, dtype):
    if dtype in ("int32", "uint8") and any(
        not 0 <= x < 100 for x in onp.asarray(values, float).ravel()
    ):
        pytest.skip("NumPy refuses, or wraps")
    with onp.errstate(over="ignore"):
        expected = onp.asarray(values).astype(dtype or "float32")
    actual = np.array(values) if dtype is None else np.array(values, dtype=dtype)
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    onp.testing.assert_array_equal(actual.asnumpy(), expected)


def test_ragged_lists_are_refused():
    with pytest.raises(TypeError):
        np.array([[1, 2], [3]])
    with pytest.raises(TypeError):
        np.array([[1, 2], 3])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int64", "bool"])
@pytest.mark.parametrize("places", ["int32", "int64"])
def test_elements_by_places(dtype, places):
    values = onp.arange(24).reshape(4, 6).astype(dtype)
    array = np.array(values, dtype=dtype)
    for chosen in ([0, 3, -1], [[1, 2], [-4, 0]], 2, []):
        index = onp.array(chosen, places)
        own = np.array(index, dtype=places)
        onp.testing.assert_array_equal(array[own].asnumpy(), values[index])
        onp.testing.assert_array_equal(np.take(array, own, axis=0).asnumpy(), values[index])
        onp.testing.assert_array_equal(np.take(array, own).asnumpy(), values.ravel()[index])
        onp.testing.assert_array_equal(
            np.take(array, own, axis=1).asnumpy(), values.take(index, axis=1)
        )
    assert array[np.array([0, 1], dtype=places)].dtype == values.dtype


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "bool"])
def test_elements_by_masks(dtype):
    values = onp.arange(24).reshape(4, 6).astype(dtype)
    array = np.array(values, dtype=dtype)
    for mask in (values > 0, values == values[1, 2], values != values, onp.array([1, 0, 1, 0]) > 0):
        own = np.array(mask, dtype="bool")
        onp.testing.assert_array_equal(array[own].asnumpy(), values[mask])


def test_places_out_of_bounds_are_refused():
    array = np.arange(4)
    for wrong in (4, -5):
        with pytest.raises(IndexError):
            array[np.array([0, wrong], dtype="int64")]
    with pytest.raises(IndexError):
        array[np.array([True, False, True], dtype="bool")]


def test_recorded_elements_have_gradients():
    array = np.array([1.0, 2.0, 3.0])
    array.attach_grad()
    with autograd.record():
        total = array[np.array([0, 2, 2], dtype="int64")].sum() + array[array > 1.5].sum()
    total.backward()
    assert array.grad.tolist() == [1, 1, 3]


def test_where_with_a_number():
    values = onp.array([[1.5, -2.0], [0.0, 4.0]], "float32")
    array, mask = np.array(values), np.array(values > 0, dtype="bool")
    for number in (2.5, -3, 0):
        onp.testing.assert_array_equal(
            np.where(mask, array, number).asnumpy(), onp.where(values > 0, values, number)
        )
        onp.testing.assert_array_equal(
            np.where(mask, number, array).asnumpy(), onp.where(values > 0, number, values)
        )
        onp.testing.assert_array_equal(
            np.where(mask[0], array, number).asnumpy(), onp.where(values[0] > 0, values, number)
        )
    whole = np.array([1, 2], dtype="int32")
    assert np.where(mask[0], whole, 2.5).dtype == onp.float64
    assert np.where(mask[0], whole, 3).dtype == onp.int32


def test_joins_of_usual_and_unusual_arrays():
    one, two = np.ones((2, 3)), np.zeros((2, 3))
    assert np.concatenate([one, two]).shape == (4, 3)
    assert np.concatenate((one, two), axis=1).shape == (2, 6)
    assert np.concatenate([one, two], axis=None).shape == (12,)
    assert np.concatenate([one, np.ones((2, 3), dtype="float64")]).dtype == onp.float64
    assert np.stack([one, two]).shape == (2, 2, 3)
    assert np.stack([one, two], axis=-1).shape == (2, 3, 2)
    out = np.empty((4, 3))
    assert np.concatenate([one, two], out=out) is out and float(out.sum()) == 6
    with pytest.raises(ValueError):
        np.stack([one, np.ones((3, 2))])
    with pytest.raises(ValueError):
        np.concatenate([np.array(1.0), np.array(2.0)])
    with pytest.raises(MXNetError):
        np.concatenate([one, np.ones((2, 2))])


def test_orders_repetitions_and_norms():
    values = onp.array([[3, 1, 2], [0, 5, 4]], "float32")
    array = np.array(values)
    for axis in (-1, 0, None):
        onp.testing.assert_array_equal(np.sort(array, axis=axis).asnumpy(), onp.sort(values, axis))
        actual = np.argsort(array, axis=axis)
        assert actual.dtype == onp.int64
        onp.testing.assert_array_equal(actual.asnumpy(), onp.argsort(values, axis))
        onp.testing.assert_array_equal(
            np.repeat(array, 2, axis=axis).asnumpy(), onp.repeat(values, 2, axis)
        )
    assert np.sort(array, descending=True).tolist() == [[3, 2, 1], [5, 4, 0]]
    onp.testing.assert_array_equal(np.repeat(array, [1, 2], 0), onp.repeat(values, [1, 2], 0))
    onp.testing.assert_array_equal(array.T.asnumpy(), values.T)
    with pytest.raises(onp.exceptions.AxisError):
        np.sort(np.array(1.0))
    for arguments in ({}, {"axis": 1}, {"ord": 1, "axis": 0}, {"keepdims": True}):
        onp.testing.assert_allclose(
            np.linalg.norm(array, **arguments).asnumpy(),
            onp.linalg.norm(values, **arguments),
            rtol=1e-6,
        )


def test_astype_names_types_as_before():
    array = np.array([1.7, -2.2])
    for kind in ("int32", onp.int32, onp.dtype("int32"), int, "int16", "bool", "float16"):
        assert array.astype(kind).dtype == onp.dtype(kind)
    assert array.astype("float32") is not array
    with pytest.raises(TypeError):
        array.astype("no type")
