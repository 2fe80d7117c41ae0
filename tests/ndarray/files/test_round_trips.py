"""Round trips: written files are read back."""

import numpy as np
import pytest

from mxcy._base.dtypes import DTYPES, is_complex
from mxcy.base import MXNetError
from mxcy.ndarray._files import serialization
from mxcy.ndarray._files.blocks import Block
from tests.ndarray.files.form import CSR, ROWS, V2, V3, assert_same, pack, round_trip


@pytest.mark.parametrize("format", [None, "v1x", "np", "npz"])
@pytest.mark.parametrize("code", [code for code in sorted(DTYPES) if not is_complex(code)])
def test_round_trip_of_element_types(code, format):
    dtype = DTYPES[code]
    bits = np.arange(24, dtype=np.uint8) % 2 if dtype == np.bool_ else np.arange(48, dtype=np.uint8)
    data = bits.view(dtype)
    data = data[: data.size // 6 * 6].reshape(2, 3, -1)
    (block,), names = round_trip([Block(data)], ["é/x"], format)
    assert names == ["é/x"]
    assert_same(block, Block(data))


@pytest.mark.parametrize("format", [None, "np", "npz", "npy"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,) * 32])
def test_round_trip_of_shapes(shape, format):
    data = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    (block,), _ = round_trip([Block(data)], None, format)
    assert_same(block, Block(data))


@pytest.mark.parametrize("format", [None, "v1x", "npz"])
def test_round_trip_of_sparse_arrays(format):
    empty_ids = np.zeros(0, np.int64)
    zero_rows = Block(np.zeros((0, 3), np.float16), (2, 3), "row_sparse", (empty_ids,))
    zero_csr = Block(np.zeros(0, np.float16), (2, 3), "csr", (empty_ids, empty_ids))
    blocks = [CSR, ROWS, zero_rows, zero_csr]
    loaded, names = round_trip(blocks, list("abcd"), format)
    assert names == list("abcd")
    for block, expected in zip(loaded, blocks, strict=True):
        assert_same(block, expected)


@pytest.mark.parametrize("format", [None, "v1x"])
def test_round_trip_without_array(format):
    loaded, names = round_trip([None, CSR], ["x", "y"], format)
    assert loaded[0] is None
    assert names == ["x", "y"]


@pytest.mark.parametrize("format", [None, "npz"])
def test_round_trip_of_no_arrays(format):
    assert round_trip([], None, format) == ([], None)


@pytest.mark.parametrize("format", [None, "np", "npz", "npy"])
def test_strided_data(format):
    data = np.arange(24, dtype=np.float64).reshape(4, 6).T[::2]
    (block,), _ = round_trip([Block(data)], None, format)
    assert_same(block, Block(data))
    assert block.data.flags.c_contiguous


def test_one_shape_of_zero_makes_all_arrays_numpy_shaped():
    plain = Block(np.ones(2, np.float32))
    scalar = Block(np.float32(1).reshape(()))
    assert serialization.dumps([plain])[24:28] == pack("I", V2)
    content = serialization.dumps([plain, scalar, ROWS])
    assert content[24:28] == pack("I", V3)
    assert content.count(pack("I", V3)) == 2
    assert content.count(pack("I", V2)) == 1


def test_v1x_takes_zero_size_but_no_scalar():
    content = serialization.dumps([Block(np.zeros((0, 3)))], format="v1x")
    assert content[24:28] == pack("I", V2)
    with pytest.raises(MXNetError, match="'v1x' cannot store an array without dimensions"):
        serialization.dumps([Block(np.zeros(()))], format="v1x")


@pytest.mark.parametrize(
    ("blocks", "format", "message"),
    [
        ([CSR], "np", "'np' cannot store a csr array"),
        ([None], "np", "'np' cannot store no array"),
        ([None], "npz", "'npz' cannot store 'arr_0'"),
        ([CSR], "npy", "exactly one dense array"),
        ([ROWS, ROWS], "npy", "exactly one dense array"),
        ([Block(np.zeros(2, np.complex64))], None, "complex64"),
    ],
)
def test_arrays_that_formats_cannot_hold(blocks, format, message):
    with pytest.raises(MXNetError, match=message):
        serialization.dumps(blocks, format=format)


def test_bad_arguments():
    with pytest.raises(ValueError, match="format must be None or one of v1x, np, npz, npy"):
        serialization.dumps([], format="v2")
    with pytest.raises(ValueError, match="1 arrays need one name each, got 2"):
        serialization.dumps([CSR], ["a", "b"])
    with pytest.raises(MXNetError, match="a name cannot be encoded"):
        serialization.dumps([CSR], ["\udc80"])
    with pytest.raises(MXNetError, match="name of 70009 bytes"):
        serialization.dumps([CSR], ["x" * 70000], "npz")


def test_single_arrays():
    for block in (CSR, ROWS, None, Block(np.ones((2, 2), np.float32)), Block(np.zeros(()))):
        packed = serialization.pack_array(block)
        assert_same(serialization.unpack_array(packed), block)
    with pytest.raises(MXNetError, match="<buffer>: at byte 0"):
        serialization.unpack_array(b"")
