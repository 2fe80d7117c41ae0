"""Outputs larger than the caches, written by streaming stores, and long copies."""

import numpy as np
import pytest

import mxcy as mx

SIZE = (33 << 20) // 4 + 5  # floats, just above the limit and no multiple of a vector


@pytest.fixture(scope="module")
def large():
    return np.random.default_rng(0).random(SIZE, "float32") - 0.5


@pytest.fixture(params=[1, 2])
def threads(request):
    before = mx.util.set_num_threads(request.param)
    yield request.param
    mx.util.set_num_threads(before)


@pytest.mark.parametrize("first", [0, 1, 15])
def test_elementwise(large, threads, first):
    """Also views whose memory begins between two vectors."""
    x = mx.nd.array(large)[first:]
    np.testing.assert_array_equal((x * 2).asnumpy(), large[first:] * 2)
    np.testing.assert_array_equal((x + x).asnumpy(), large[first:] + large[first:])
    out = mx.nd.zeros(SIZE)[first:]
    mx.nd.abs(x, out=out)
    np.testing.assert_array_equal(out.asnumpy(), abs(large[first:]))


def test_in_place(large, threads):
    x = mx.nd.array(large)
    x += 1
    np.testing.assert_array_equal(x.asnumpy(), large + np.float32(1))


def test_converted(large, threads):
    """16-bit floats are computed in float32, block by block."""
    narrow = np.tile(large.astype("float16"), 2)
    x = mx.nd.array(narrow, dtype="float16")
    np.testing.assert_array_equal(mx.nd.abs(x).asnumpy(), abs(narrow))


def test_broadcast(large, threads):
    rows = large[: SIZE // 1001 * 1001].reshape(-1, 1001)
    actual = mx.nd.broadcast_add(mx.nd.array(rows), mx.nd.array(rows[:1]))
    np.testing.assert_array_equal(actual.asnumpy(), rows + rows[:1])


@pytest.mark.parametrize("size", [SIZE, 40_003])
def test_copies(large, threads, size):
    part = large[:size]
    x = mx.nd.array(part)
    np.testing.assert_array_equal(x.copy().asnumpy(), part)
    target = mx.nd.zeros(size + 3)[3:]
    x.copyto(target)
    np.testing.assert_array_equal(target.asnumpy(), part)
    joined = mx.nd.concat(x, x[:7], dim=0).asnumpy()
    np.testing.assert_array_equal(joined, np.concatenate([part, part[:7]]))


@pytest.mark.parametrize("at", [0, 100, SIZE - 1])
def test_single_element_decides_any_and_all(threads, at):
    x = mx.np.zeros(SIZE, dtype="float32")
    assert not mx.np.any(x)
    x[at] = 1
    assert mx.np.any(x)
    assert mx.np.all(x < 2) and not mx.np.all(1 - x)
