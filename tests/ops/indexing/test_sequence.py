"""Batches of sequences of any layout and length, and running sums."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd

nd = mx.nd
RNG = np.random.default_rng(8)
DTYPES = ("float32", "float64", "float16", "int8", "int64")


def batch(dtype, axis, inner):
    """A batch of 40 sequences of up to 90 steps, and lengths from 0 to 90."""
    shape = (90, 40, *inner) if axis == 0 else (40, 90, *inner)
    return RNG.integers(1, 100, shape).astype(dtype), RNG.integers(0, 91, 40)


@pytest.mark.parametrize("inner", [(), (1,), (100,)])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", DTYPES)
def test_masks_and_last_steps(dtype, axis, inner):
    values, lengths = batch(dtype, axis, inner)
    arguments = nd.array(values, dtype=dtype), nd.array(lengths)
    actual = nd.SequenceMask(*arguments, use_sequence_length=True, axis=axis, value=-3)
    last = nd.SequenceLast(*arguments, use_sequence_length=True, axis=axis)
    expected, steps = np.moveaxis(values.copy(), axis, 0), np.arange(90)[:, None]
    np.testing.assert_array_equal(
        last.asnumpy(), expected[np.maximum(lengths, 1) - 1, np.arange(40)]
    )
    expected[steps >= lengths] = -3
    np.testing.assert_array_equal(actual.asnumpy(), np.moveaxis(expected, 0, axis))


@pytest.mark.parametrize("inner", [(), (100,)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_reverses_each_sequence(dtype, inner):
    values, lengths = batch(dtype, 0, inner)
    actual = nd.SequenceReverse(
        nd.array(values, dtype=dtype), nd.array(lengths), use_sequence_length=True
    )
    expected = values.copy()
    for i, length in enumerate(lengths):
        expected[:length, i] = values[:length, i][::-1]
    np.testing.assert_array_equal(actual.asnumpy(), expected)


def test_gradient_of_the_last_step_without_lengths():
    data = nd.ones((3, 2, 4))
    data.attach_grad()
    with autograd.record():
        last = nd.SequenceLast(data)
    last.backward()
    np.testing.assert_array_equal(data.grad.asnumpy()[:2], 0)
    np.testing.assert_array_equal(data.grad.asnumpy()[2], 1)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, None])
@pytest.mark.parametrize("dtype", ["float64", "int32", "int64"])
def test_running_sums(axis, dtype):
    values = RNG.integers(-9, 9, (60, 50, 40)).astype(dtype)
    actual = nd.cumsum(nd.array(values, dtype=dtype), axis=axis).asnumpy()
    assert actual.dtype == values.dtype
    np.testing.assert_array_equal(actual, np.cumsum(values, axis, dtype))


def test_each_running_sum_of_halves_is_rounded():
    ones = nd.ones((1, 5000), dtype="float16")
    actual = nd.cumsum(ones, axis=1).asnumpy()
    # 2049 is no float16: as in NumPy and MXNet the sums stay at 2048.
    np.testing.assert_array_equal(actual, np.cumsum(ones.asnumpy(), 1))
    wide = nd.cumsum(ones, axis=1, dtype="float32").asnumpy()
    assert wide[0, -1] == 5000
