"""Random keys of integers, slices, None and Ellipsis, compared with NumPy, and gradients."""

import hashlib

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd
from tests.env import run

nd = mx.nd
SEEDS = range(12)
KEYS = 60


def draw_slice(rng, extent):
    """A slice that picks something of an axis, written in one of several ways."""
    begin = int(rng.integers(extent))
    step = int(rng.choice([1, 1, 1, 2, 3, -1, -2]))
    if step > 0:
        end = int(rng.integers(begin + 1, extent + 1))
    else:
        end = int(rng.integers(-1, begin))
    begin = begin - extent if rng.random() < 0.2 else begin
    if end == -1 or rng.random() < 0.2:
        end = None
    if rng.random() < 0.2:
        begin = None if step > 0 or end is None else begin
    return slice(begin, end, None if step == 1 and rng.random() < 0.5 else step)


def draw_key(rng, shape):
    """A key for an array of a shape."""
    entries = []
    for extent in shape[: rng.integers(len(shape) + 1)]:
        at = int(rng.integers(-extent, extent))
        choices = at, np.int64(at), draw_slice(rng, extent), slice(None)
        entries.append(choices[rng.integers(len(choices))])
    for _ in range(rng.integers(3) // 2):
        entries.insert(rng.integers(len(entries) + 1), None)
    if rng.random() < 0.3:
        # Behind an ellipsis, entries are those of the last axes.
        place = int(rng.integers(len(entries) + 1))
        behind = [entry for entry in entries[place:] if entry is not None]
        fresh = [draw_slice(rng, extent) for extent in shape[len(shape) - len(behind) :]]
        entries[place:] = [Ellipsis, *fresh]
    if len(entries) == 1 and rng.random() < 0.5:
        return entries[0]
    return tuple(entries)


def draw_shape(rng):
    ndim = int(rng.integers(1, 9))
    return tuple(int(n) for n in rng.integers(1, 6 if ndim < 5 else 4, ndim))


def cases(seed):
    """Pairs of a shape and a key that picks something."""
    rng = np.random.default_rng(seed)
    collected = []
    while len(collected) < KEYS:
        shape = draw_shape(rng)
        key = draw_key(rng, shape)
        if np.empty(shape)[key].size:
            collected.append((shape, key))
    return collected


def source(shape, dtype="float32"):
    return (np.arange(np.prod(shape)).reshape(shape) % 101).astype(dtype)


def in_mxnet(picked):
    """What NumPy picks, in MXNet's shapes: an element has one axis."""
    return picked if np.ndim(picked) else np.reshape(picked, (1,))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "float16"])
def test_reads_are_numpy_s(seed, dtype):
    for shape, key in cases(seed):
        plain = source(shape, dtype)
        array = nd.array(plain, dtype=dtype)
        picked, expected = array[key], in_mxnet(plain[key])
        assert picked.shape == expected.shape, (shape, key)
        assert picked.dtype is array.dtype
        np.testing.assert_array_equal(picked.asnumpy(), expected, err_msg=f"{shape} {key}")


@pytest.mark.parametrize("seed", SEEDS)
def test_contiguous_keys_give_views(seed):
    for shape, key in cases(seed):
        plain = source(shape)
        array = nd.array(plain)
        picked = array[key]
        shared = in_mxnet(plain[key]).flags.c_contiguous
        assert picked.shares_memory(array) == shared, (shape, key)
        picked[:] = -1
        if shared:
            plain[key] = -1
        np.testing.assert_array_equal(array.asnumpy(), plain, err_msg=f"{shape} {key}")


def draw_value(rng, shape, dtype):
    """A value that can be assigned to a region of a shape: a pair for both arrays."""
    kind = rng.integers(5)
    if kind == 0:
        number = [3, 2.5, True, -1, 0.0][rng.integers(5)]
        return number, number
    if rng.random() < 0.4:
        shape = tuple(n if rng.random() < 0.7 else 1 for n in shape)[rng.integers(2) :]
    values = rng.integers(0, 99, shape).astype(dtype)
    if kind == 1:
        return values, values
    if kind == 2:
        spread = np.empty((*values.shape, 2), dtype)[..., 0]
        spread[...] = values
        return spread, spread
    if kind == 3 or not values.shape:
        return values.tolist(), values
    return nd.array(values, dtype=dtype if rng.random() < 0.8 else "float32"), values


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "float16", "bool"])
def test_writes_are_numpy_s(seed, dtype):
    rng = np.random.default_rng(100 + seed)
    for shape, key in cases(seed):
        plain = source(shape, dtype)
        array = nd.array(plain, dtype=dtype)
        value, same = draw_value(rng, plain[key].shape, dtype)
        if dtype == "uint8" and isinstance(same, int) and same < 0:
            continue  # NumPy raises where MXNet wraps around
        array[key] = value
        plain[key] = same
        np.testing.assert_array_equal(array.asnumpy(), plain, err_msg=f"{shape} {key} {same}")


@pytest.mark.parametrize("seed", SEEDS)
def test_gradients_reach_the_elements_read(seed):
    for shape, key in cases(seed)[:20]:
        array = nd.array(source(shape))
        array.attach_grad()
        with autograd.record():
            picked = array[key]
            result = (picked * picked).sum()
        result.backward()
        expected = np.zeros(shape, np.float32)
        np.add.at(expected, key, 2 * source(shape)[key])
        np.testing.assert_array_equal(array.grad.asnumpy(), expected, err_msg=f"{shape} {key}")


def test_a_variable_is_read_without_a_gradient_outside_of_a_record():
    array = nd.ones((3, 4))
    array.attach_grad()
    for key in (slice(0, 2), (slice(None), 1), (0, 0)):
        assert array[key].node is None
    with autograd.record():
        assert array[:, 1:3].node is not None
        assert array.reshape((4, 3)).node is not None


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64", "bool", "float16", "float32"])
@pytest.mark.parametrize("value", [0, 1, -1, 255, 300, 2**31, 2**40, 0.5, -0.5, -0.0, 1e300, 65504])
def test_numbers_are_cast_as_numpy_casts_arrays(dtype, value):
    array, plain = nd.zeros((2, 3), dtype=dtype), np.zeros((2, 3), dtype)
    array[:, 1] = value
    with np.errstate(all="ignore"):
        plain[:, 1] = np.asarray(value).astype(dtype)
    np.testing.assert_array_equal(array.asnumpy(), plain)
    assert np.signbit(array.asnumpy()).tolist() == np.signbit(plain).tolist()


def test_values_that_overlap_are_read_before_they_are_written():
    array = nd.arange(12).reshape((3, 4))
    array[:, 1:] = array.reshape((3, 4))[:, :3]
    assert array.asnumpy().tolist() == [[0, 0, 1, 2], [4, 4, 5, 6], [8, 8, 9, 10]]
    array[1:] = array[:2]
    assert array.asnumpy()[2].tolist() == [4, 4, 5, 6]
    view = np.arange(6, dtype=np.float32)
    shared = nd.from_numpy(view)
    shared[1:] = view[:-1]
    assert shared.asnumpy().tolist() == [0, 0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "key", [2, -3, (0, 4), (0, 0, 0), (..., ...), (0, 2**70), "a", 1.5, (slice(0, 1.5),)]
)
def test_errors_of_keys_write_nothing(key):
    array = nd.zeros((2, 4))
    with pytest.raises((IndexError, ValueError, TypeError, mx.MXNetError)):
        array[key]
    with pytest.raises((IndexError, ValueError, TypeError, mx.MXNetError)):
        array[key] = 1
    assert not array.asnumpy().any()


def test_arrays_that_are_still_computed_are_awaited():
    huge = nd.ones((700, 700))
    for _ in range(5):
        huge = nd.dot(huge, huge) / 700
    assert float(huge[3, 5]) == 1
    huge = nd.dot(huge, huge)
    huge[:, 0:3] = 2
    assert huge[:, 2:4].asnumpy()[5].tolist() == [2, 700]
    assert nd.dot(huge, huge).reshape((-1,))[3:5].shape == (2,)


def digest():
    """A hash of all reads and writes of this front for some keys."""
    actual = hashlib.sha256()
    for seed in range(3):
        for shape, key in cases(seed):
            array = nd.array(source(shape))
            array[key] = array[key] * 2 + seed
            actual.update(repr((shape, array[key].shape)).encode() + array.asnumpy().tobytes())
    return actual.hexdigest()


@pytest.mark.parametrize("cython", ["0", "1"])
def test_both_fronts_agree(cython):
    code = "from tests.ndarray.test_random_keys import digest; print(f'\"{digest()}\"')"
    assert run.python(code, MXNET_ENABLE_CYTHON=cython).value == digest()
