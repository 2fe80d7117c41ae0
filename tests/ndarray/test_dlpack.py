"""Arrays exchanged with other libraries through DLPack."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError

nd = mx.nd


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "uint8", "int32", "int64"]
)
def test_numpy_shares_the_memory(dtype):
    x = nd.array([[1, 2, 3], [4, 5, 6]], dtype=dtype)
    values = np.from_dlpack(x[1])
    assert values.dtype == dtype
    x[1, 0] = 9
    assert values.tolist() == [9, 5, 6]


def test_capsules_carry_arrays():
    x = nd.array([[1, 2], [3, 4]])
    for capsule in (x.to_dlpack_for_write(), nd.to_dlpack_for_read(x)):
        y = nd.from_dlpack(capsule)
        y[0, 0] = 7
        assert x[0, 0].asscalar() == 7
        x[0, 0] = 1


def test_a_capsule_is_good_for_one_consumer():
    capsule = nd.ones((2,)).to_dlpack_for_read()
    nd.from_dlpack(capsule)
    with pytest.raises((BufferError, ValueError, TypeError)):
        nd.from_dlpack(capsule)


def test_memory_outlives_its_first_owner():
    x = nd.from_dlpack(nd.arange(1000).to_dlpack_for_read())
    y = nd.from_dlpack(np.arange(1000.0))
    assert x[999].asscalar() == y[999].asscalar() == 999


def test_foreign_arrays_are_shared_when_they_can_be():
    source = np.arange(6.0).reshape(2, 3)
    x = nd.from_dlpack(source)
    x[0, 0] = 9
    assert source[0, 0] == 9
    assert nd.from_dlpack(source.T).asnumpy().tolist() == source.T.tolist()


def test_unsupported_arrays_are_refused():
    with pytest.raises(MXNetError, match="bfloat16"):
        nd.zeros((2,), dtype="bfloat16").to_dlpack_for_read()
    read_only = nd.NDArray(nd.ones((2,)).handle, writable=False)
    with pytest.raises(ValueError, match="read-only"):
        read_only.to_dlpack_for_write()
    with pytest.raises(MXNetError, match="complex"):
        nd.from_dlpack(np.ones(2, complex))
