"""Multi-array operators."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError

FINE = mx.nd.array(np.linspace(-1e30, 1e30, 1001))


@pytest.mark.parametrize("dtype", ("float16", "float32", "float64", "bfloat16"))
@pytest.mark.parametrize("bad", (np.inf, -np.inf, np.nan))
@pytest.mark.parametrize("place", (0, 500, 1000))
def test_single_nonfinite_element_is_found(dtype, bad, place):
    values = np.linspace(-1, 1, 1001).astype("float32")
    assert mx.nd.all_finite(mx.nd.array(values).astype(dtype)).asscalar() == 1
    values[place] = bad
    array = mx.nd.array(values).astype(dtype)
    assert mx.nd.all_finite(array).asscalar() == 0
    other = mx.nd.zeros((3,), dtype=dtype)
    assert mx.nd.multi_all_finite(other, array, num_arrays=2).asscalar() == 0


def test_calls_follow_one_another():
    actual, bad = mx.nd.ones((1,)), mx.nd.array([np.nan])
    mx.nd.all_finite(FINE, init_output=False, out=actual)
    assert actual.asscalar() == 1
    mx.nd.multi_all_finite(FINE, bad, num_arrays=2, init_output=False, out=actual)
    assert actual.asscalar() == 0
    mx.nd.all_finite(FINE, init_output=False, out=actual)
    assert actual.asscalar() == 0
    mx.nd.all_finite(FINE, out=actual)
    assert actual.asscalar() == 1


def test_a_new_output_has_no_past():
    assert mx.nd.all_finite(FINE, init_output=False).asscalar() == 1
    assert mx.nd.multi_all_finite(FINE, FINE, num_arrays=2, init_output=False).asscalar() == 1


def test_sums_of_squares_of_large_arrays():
    arrays = [np.random.RandomState(i).normal(size=(100 + i, 1000)) for i in range(5)]
    actual = mx.nd.multi_sum_sq(*map(mx.nd.array, arrays), num_arrays=5).asnumpy()
    np.testing.assert_allclose(actual, [(x**2).sum() for x in arrays], rtol=1e-6)


def test_arrays_are_reset():
    arrays = mx.nd.ones((2, 3)), mx.nd.ones((4,))
    assert mx.nd.reset_arrays(*arrays, num_arrays=2) == []
    assert not any(x.asnumpy().any() for x in arrays)


@pytest.mark.parametrize(
    ("call", "message"),
    (
        (lambda: mx.nd.all_finite(mx.nd.ones((2,), dtype="int32")), r"all_finite: data.*floating"),
        (lambda: mx.nd.multi_sum_sq(FINE, num_arrays=2), r"num_arrays: 2 differs from 1"),
        (
            lambda: mx.nd.multi_sum_sq(num_arrays=0),
            r"multi_sum_sq: data: expected at least one array",
        ),
        (lambda: mx.nd.multi_all_finite(FINE, FINE), r"num_arrays: 1 differs from 2"),
        (
            lambda: mx.nd.multi_sum_sq(FINE, FINE.astype("float16"), num_arrays=2),
            r"argument data1: expected dtype float32",
        ),
        (
            lambda: mx.nd.multi_sgd_update(FINE, FINE, FINE, lrs=(1,), wds=(0,)),
            r"multi_sgd_update: data: expected 2 arrays for 1 weights, got 3",
        ),
        (
            lambda: mx.nd.multi_sgd_update(FINE, FINE, lrs=(1, 2), wds=(0,)),
            r"multi_sgd_update: lrs: expected 1 values, got 2",
        ),
    ),
)
def test_bad_input_is_named(call, message):
    with pytest.raises(MXNetError, match=message):
        call()


def test_layer_adaptive_steps_move_the_master_weight():
    weight, direction = mx.nd.array([0.5, 0.25], dtype="float16"), mx.nd.array([0.1, 0.2])
    master = weight.astype("float32")
    norms = mx.nd.array([2.0]), mx.nd.array([3.0])
    mx.nd.mp_lamb_update_phase2(weight, direction, *norms, master, lr=0.1, out=weight)
    want = np.array([0.5, 0.25]) - 0.1 * 2 / 3 * np.array([0.1, 0.2])
    np.testing.assert_allclose(master.asnumpy(), want, rtol=1e-6)
    np.testing.assert_array_equal(weight.asnumpy(), master.asnumpy().astype("float16"))
