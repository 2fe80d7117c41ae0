"""NumPy's files: .npy and .npz."""

import io

import numpy as np
import pytest

from mxcy._base.dtypes import bfloat16
from mxcy.base import MXNetError
from mxcy.ndarray._files import serialization
from mxcy.ndarray._files.blocks import Block
from tests.ndarray.files.form import CSR, assert_same


@pytest.mark.parametrize("data", [np.arange(6.0).reshape(2, 3), np.array(True), np.zeros((0, 2))])
def test_numpy_reads_our_npy(data):
    content = serialization.dumps([Block(data)], format="npy")
    loaded = np.load(io.BytesIO(content))
    assert loaded.dtype == data.dtype
    np.testing.assert_array_equal(loaded, data, strict=True)


@pytest.mark.parametrize(
    "data",
    [
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(6, dtype=">i4").reshape(3, 2),
        np.asfortranarray(np.arange(6, dtype=">f2").reshape(3, 2)),
        np.array([1], bfloat16),
        np.float32(3).reshape(()),
    ],
)
def test_npy_of_numpy(data):
    file = io.BytesIO()
    np.save(file, data)
    file.seek(0)
    (block,), names = serialization.load(file)
    assert names is None
    native = data.astype(data.dtype.newbyteorder("="))
    assert_same(block, Block(native))
    assert block.data.flags.c_contiguous


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_of_numpy(save):
    file = io.BytesIO()
    save(file, np.arange(3), w=np.zeros((100, 100), np.float32))
    file.seek(0)
    blocks, names = serialization.load(file)
    assert dict(zip(names, [block.shape for block in blocks], strict=True)) == {
        "w": (100, 100),
        "arr_0": (3,),
    }


def test_numpy_reads_our_npz():
    content = serialization.dumps([CSR, Block(np.ones((2, 2)))], ["c", "d"], "npz")
    with np.load(io.BytesIO(content)) as archive:
        np.testing.assert_array_equal(archive["d"], np.ones((2, 2)))
        np.testing.assert_array_equal(archive["c/data"], [1, 2, 3])
        np.testing.assert_array_equal(archive["c/shape"], [2, 3])
        assert archive["c/format"] == b"csr"


def test_large_archives_use_64_bit_fields(monkeypatch):
    monkeypatch.setattr("mxcy.ndarray._files.npz._ZipWriter._LIMIT", 200)
    blocks = [Block(np.full(count, count, np.float32)) for count in (1, 200, 2, 300)]
    content = serialization.dumps(blocks, list("abcd"), "npz")
    with np.load(io.BytesIO(content)) as archive:
        for name, block in zip("abcd", blocks, strict=True):
            np.testing.assert_array_equal(archive[name], block.data)
    loaded, names = serialization.loads(content)
    assert names == list("abcd")
    for block, expected in zip(loaded, blocks, strict=True):
        assert_same(block, expected)


@pytest.mark.parametrize("stype", ["coo", "dia", ""])
def test_sparse_formats_that_mxcy_has_not(stype):
    content = serialization.dumps([CSR], ["c"], "npz")
    with np.load(io.BytesIO(content)) as archive:
        members = dict(archive)
    members["c/format"] = np.array(stype.encode())
    file = io.BytesIO()
    np.savez(file, **members)
    with pytest.raises(MXNetError, match=r"\[c/format\].*is not supported, only row_sparse, csr"):
        serialization.loads(file.getvalue())
