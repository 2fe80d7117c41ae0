"""Devices in the array API standard, and memory of other libraries."""

import itertools

import numpy as onp
import pytest

import mxcy as mx
from tests.numpy.array_api.standard import ALL

np = mx.np


def test_devices():
    array = np.ones(2)
    assert array.to_device(array.device) is array
    for made in (np.zeros(2, device=array.device), np.asarray([1], device=array.device)):
        assert made.device == array.device
    with pytest.raises(ValueError, match="no streams"):
        array.to_device(array.device, stream=1)


@pytest.mark.parametrize("kind", ALL)
def test_dlpack(kind):
    array = np.asarray([[1, 0], [0, 1]], dtype=kind)
    assert array.__dlpack_device__() == (1, 0)
    shared, copied = np.from_dlpack(array), np.from_dlpack(array, copy=True)
    foreign = onp.from_dlpack(array)
    array[0, 0] = 0
    assert shared[0, 0].item() == foreign[0, 0] == 0 and copied[0, 0].item() == 1
    assert np.from_dlpack(array, device=array.device).device == array.device
    for version, device, copy in itertools.product(
        (None, (0, 8), (1, 0), (2, 0)), (None, (1, 0)), (None, True, False)
    ):
        array.__dlpack__(max_version=version, dl_device=device, copy=copy)
    with pytest.raises(BufferError):
        array.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="streams"):
        array.__dlpack__(stream=1)


def test_dlpack_without_a_copy():
    values = onp.arange(6.0).reshape(2, 3)
    shared = np.from_dlpack(values, copy=False)
    values[0, 0] = 7
    assert shared[0, 0].item() == 7
    assert np.from_dlpack(values.T).tolist() == values.T.tolist()
    with pytest.raises(BufferError, match="copied"):
        np.from_dlpack(values.T, copy=False)


def test_asarray_follows_copy():
    array = np.ones(2)
    assert np.asarray(array, copy=False) is np.asarray(array) is array
    assert np.asarray(array, copy=True) is not array
    with pytest.raises(ValueError, match="copy"):
        np.asarray(array, dtype=np.float32, copy=False)
    with pytest.raises(ValueError, match="copy"):
        np.asarray([1], copy=False)
    with pytest.raises(ValueError, match="copy"):
        np.reshape(np.ones((2, 3)), (3, 2), order="F", copy=False)


def test_indices():
    array = np.reshape(np.arange(24), (2, 3, 4))
    assert array[np.asarray(True)].shape == (1, 2, 3, 4)
    assert array[np.asarray(False)].shape == (0, 2, 3, 4)
    places = np.asarray([1, 0], dtype=np.uint8)
    assert array[places, :].tolist() == array.asnumpy()[[1, 0]].tolist()
    assert array[places, :, places].shape == (2, 3) and array[places, places, 0].tolist() == [16, 0]
    point = np.asarray(5.0)
    point[np.asarray(True)] = 6.0
    assert point[()].item() == point[...].item() == 6
    assert [10, 11, 12][np.asarray(1)] == 11
    for index in (float, int, bool):
        assert type(index(np.asarray(1))) is index
    with pytest.raises(IndexError):
        array[np.asarray([True, False, True])]
