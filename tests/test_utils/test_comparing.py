"""Comparisons of mx.test_utils, with real MXNet 1.9.1's messages."""

import numpy as np
import pytest

import mxcy as mx

utils = mx.test_utils
ONE = np.array([[1, 2], [3, 4]], np.float32)
OTHER = np.array([[1, 2.1], [3, 9]], np.float32)


def test_equal_arrays():
    for convert in (np.asarray, mx.nd.array):
        utils.assert_almost_equal(convert(ONE), convert(ONE + 1e-5))
    utils.assert_almost_equal(1.0, 1.0)
    utils.assert_almost_equal(ONE, ONE[:1] * 0 + ONE, use_broadcast=False)
    assert utils.almost_equal(np.float16(1), np.float16(1.001))
    assert not utils.almost_equal(mx.nd.array(ONE), mx.nd.array(OTHER))
    assert utils.same(ONE, ONE.copy()) and not utils.same(ONE, OTHER)


def test_differences_are_reported(capsys):
    with pytest.raises(AssertionError) as error:
        utils.assert_almost_equal(mx.nd.array(ONE), mx.nd.array(OTHER), rtol=0.1, names=("x", "y"))
    text = str(error.value)
    assert "Error 5.549390 exceeds tolerance rtol=1.000000e-01, atol=1.000000e-03" in text
    assert "(mismatch 25.000000%)" in text
    assert "Location of maximum error: (1, 1), x=4.00000000, y=9.00000000" in text
    printed = capsys.readouterr().out
    assert "*** Maximum errors for vector of size 4:  rtol=0.1, atol=0.001" in printed
    assert "  1: Error 5.549390  Location of error: (1, 1), x=4.00000000, y=9.00000000" in printed
    assert "  2:" not in printed


def test_shapes():
    utils.assert_almost_equal(ONE, np.float32([1, 2]) * 0 + ONE)
    with pytest.raises(AssertionError, match="are not equal"):
        utils.assert_almost_equal(ONE, np.ones((1, 2)), use_broadcast=False)
    with pytest.raises(AssertionError, match=r"a.shape = \(2,\) and b.shape = \(3,\)"):
        utils.checkShapes(np.ones(2), np.ones(3))


def test_nan():
    nan = np.array([np.nan, 1])
    utils.assert_almost_equal(nan, nan, equal_nan=True)
    utils.assert_almost_equal_ignore_nan(nan, np.array([5.0, 1.0]))
    with pytest.raises(AssertionError, match="Error nan exceeds"):
        utils.assert_almost_equal(nan, nan)


def test_a_share_may_differ():
    utils.assert_almost_equal_with_err(ONE, OTHER, etol=0.5)
    with pytest.raises(AssertionError, match="mismatch 50"):
        utils.assert_almost_equal_with_err(ONE, OTHER, etol=0.4)


def test_tolerances_go_by_the_less_precise_type():
    half, single = ONE.astype(np.float16), ONE
    assert utils.get_tols(half, single, None, None) == (1e-2, 1e-1)
    assert utils.get_tols(single, single, None, 0.5) == (1e-4, 0.5)
    assert utils.get_tols(1, 2, {np.dtype("int64"): 0.3}, None) == (0.3, 0)
    assert utils.get_rtol() == 1e-5 and utils.get_atol(dtype=np.dtype("float16")) == 0.1
    assert utils.get_etol() == 0 and utils.get_etol(0.2) == 0.2
    assert utils.default_numeric_eps()[np.dtype("float32")] == 2**-9


def test_exceptions():
    utils.assert_exception(int, ValueError, "x")
    with pytest.raises(AssertionError, match="ValueError was not raised"):
        utils.assert_exception(int, ValueError, "1")


def test_memory():
    array = mx.nd.array(ONE)
    assert utils.same_array(array, array) and utils.same_array(array[0:1], array[0:1])
    assert not utils.same_array(array, array.copy())
    assert (array.asnumpy() == ONE).all()


def test_nested_tuples():
    array = mx.nd.array(ONE)
    utils.compare_ndarray_tuple((array, (array, None)), (array, (array, array)))
    with pytest.raises(AssertionError):
        utils.compare_ndarray_tuple((array,), (mx.nd.array(OTHER),))


def test_retries():
    calls = []

    @utils.retry(3)
    def flaky(limit):
        calls.append(limit)
        assert len(calls) >= limit
        return "done"

    assert flaky(2) == "done" and calls == [2, 2]
    calls.clear()
    with pytest.raises(AssertionError):
        flaky(4)
    assert calls == [4, 4, 4]
