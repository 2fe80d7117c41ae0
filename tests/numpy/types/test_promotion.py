"""Queries of element types: promotion and casting."""

import numpy as onp
import pytest

import mxcy as mx
from mxcy import np


def test_conversions_follow_numpy():
    assert np.can_cast("int8", "int16") and not np.can_cast("int32", np.float32)
    assert np.can_cast(np.ones(2), "float64") and np.can_cast("int64", "int8", casting="same_kind")
    assert np.promote_types("int32", "float32") == onp.float64
    assert np.promote_types(np.int8, "uint8") == onp.int16


def test_results_follow_the_policy():
    integers, singles = np.ones(2, dtype="int32"), np.ones(2, dtype="float32")
    assert np.result_type(integers, singles) == onp.float32
    assert np.result_type(integers, "int64", 3) == onp.int64
    assert np.result_type(integers, 2.5) == onp.float64
    assert np.result_type(np.bool_, True) == onp.bool_
    with mx.util.np_default_dtype(True):
        assert np.result_type(integers, singles) == onp.float64
    with pytest.raises(ValueError, match="expected an array or a type"):
        np.result_type(1, 2.0)


@pytest.mark.parametrize("first", np.numeric_dtypes + np.boolean_dtypes)
def test_results_are_those_of_sums(first):
    for second in np.numeric_dtypes:
        total = np.ones(1, dtype=first) + np.ones(1, dtype=second)
        assert total.dtype == np.result_type(first, second)


@pytest.mark.parametrize("other", ["bool", "int8", "int64", "float16", "float64"])
def test_single_elements_of_several_types_and_dimensions_meet(other):
    one, number = np.array([[1.5]]), np.array(1, dtype=other)
    for actual in (one * number, number * one, (one[0] + number) - 1, (number + one) - 1):
        onp.testing.assert_array_equal(actual.asnumpy(), onp.full(actual.shape, 1.5))
