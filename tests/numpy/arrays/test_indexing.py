"""Indexing against NumPy: random keys, read, written and differentiated."""

import numpy as onp
import pytest

import mxcy as mx
from mxcy import autograd

np = mx.np


def random_key(random, shape):
    """A key of integers, slices, None, Ellipsis, lists, arrays and masks that fits a shape."""
    key, axis = [], 0
    count = random.randint(1, len(shape) + 1)
    length = random.randint(1, 4)
    for _ in range(count):
        extent = shape[axis]
        kind = random.randint(7)
        if kind == 0:
            key.append(int(random.randint(-extent, extent)))
        elif kind in (1, 2):
            bounds = [None if random.rand() < 0.3 else int(b) for b in random.randint(-6, 7, 2)]
            key.append(slice(*bounds, [None, 1, 2, -1, -2][random.randint(5)]))
        elif kind == 3:
            key.append(None)
            continue
        elif kind == 4:
            key.append([int(i) for i in random.randint(-extent, extent, length)])
        elif kind == 5:
            key.append(random.randint(-extent, extent, length))
        else:
            mask = onp.zeros(extent, bool)
            mask[random.permutation(extent)[: min(length, extent)]] = True
            if mask.sum() != length:
                key.append(slice(None))
            else:
                key.append(mask)
        axis += 1
    if random.rand() < 0.3:
        key.insert(random.randint(len(key) + 1), Ellipsis)
    return tuple(key)


def as_mx(key, random):
    """The same key with arrays of mx.np in place of some of NumPy's."""
    return tuple(
        np.array(entry, entry.dtype)
        if isinstance(entry, onp.ndarray) and random.rand() < 0.6
        else entry
        for entry in key
    )


@pytest.mark.parametrize("seed", range(150))
def test_random_keys(seed):
    random = onp.random.RandomState(seed)
    shape = tuple(random.randint(1, 5, random.randint(1, 5)))
    key = random_key(random, shape)
    source = random.rand(*shape).astype("float32")
    try:
        expected = source[key]
    except IndexError:
        with pytest.raises(IndexError):
            np.array(source)[key]
        return
    array, mine = np.array(source), as_mx(key, random)
    actual = array[mine]
    assert actual.shape == expected.shape, key
    onp.testing.assert_array_equal(actual.asnumpy(), expected)
    array.attach_grad()
    with autograd.record():
        picked = array[mine]
        total = (picked * picked).sum()
    total.backward()
    gradient = onp.zeros_like(source)
    onp.add.at(gradient, key, 2 * expected)
    onp.testing.assert_allclose(array.grad.asnumpy(), gradient, rtol=1e-6)
    written = source.copy()
    written[key] = 7
    array = np.array(source)
    array[mine] = 7
    onp.testing.assert_array_equal(array.asnumpy(), written)
    written[key] = expected * 2
    array[mine] = np.array(expected * 2)
    onp.testing.assert_array_equal(array.asnumpy(), written)


def test_elements_have_no_dimensions():
    array = np.arange(6).reshape(2, 3)
    assert array[1, 2].shape == () and array[1, 2].item() == 5
    assert array[0].shape == (3,) and array[()].shape == (2, 3)
    point = np.array(3.0)
    assert point[()].item() == 3 and point[...].shape == () and point[None].shape == (1,)
    with pytest.raises(IndexError):
        point[0]
    point[()] = 4
    assert point.item() == 4


def test_contiguous_slices_are_views():
    array = np.arange(24).reshape(2, 3, 4)
    for key in (0, slice(1, None), (1, slice(1, None)), (0, 1, slice(1, 3)), None, Ellipsis):
        part = array[key]
        part[...] = -1
        assert (array[key].asnumpy() == -1).all(), key
    apart = array[:, 1]
    apart[...] = 9
    assert (array.asnumpy() != 9).all()


def test_masks():
    array = np.array([[1.0, -2], [-3, 4]])
    assert array[array > 0].tolist() == [1, 4]
    array[array < 0] = 0
    assert array.tolist() == [[1, 0], [0, 4]]
    assert array[[True, False]].tolist() == [[1, 0]]
    assert array[True].shape == (1, 2, 2) and array[False].shape == (0, 2, 2)
    with pytest.raises(IndexError):
        array[np.ones(3) > 0]


def test_floating_indices_count_as_integers():
    array = np.array([5.0, 6, 7])
    assert array[np.array([0, 2])].tolist() == [5, 7]
    with pytest.raises(IndexError):
        array[1.5]


@pytest.mark.parametrize("key", [(0, 0, 0), 5, (slice(None), 9), [7], (Ellipsis, Ellipsis), "a"])
def test_wrong_keys(key):
    with pytest.raises(IndexError):
        np.ones((2, 3))[key]


def test_empty_arrays():
    array = np.zeros((0, 3))
    assert array[0:2].shape == (0, 3) and array[[]].shape == (0, 3) and array[:, 1].shape == (0,)
    array[:] = 1
    array.attach_grad()
    with autograd.record():
        total = array[:, 1:].sum() + array[0:0].sum()
    total.backward()
    assert array.grad.shape == (0, 3)
