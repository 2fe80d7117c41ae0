"""Files written by the real wheels."""

import numpy as np
import pytest

from mxcy._base.dtypes import name_of
from mxcy.base import MXNetError
from mxcy.ndarray._files import serialization
from mxcy.ndarray._files.blocks import Block
from tests.ndarray.files.form import CSR, DATA, ROWS, assert_same


@pytest.mark.parametrize(
    ("file", "format"),
    [
        ("csr_19", None),
        ("rsp_19", None),
        ("dense_dict_19", None),
        ("dense_list_19", "v1x"),
        ("dtypes_19", None),
        ("empty_19", None),
        ("g_19", None),
        ("g_19-0003", None),
        ("np0", None),
        ("dense_dict_20", "np"),
        ("dense_list_20", "np"),
        ("dtypes_20", "np"),
        ("empty_20", "np"),
        ("g_20", "npz"),
        ("g_20-0003", "npz"),
    ],
)
def test_real_files_are_recreated_byte_by_byte(file, format):
    path = DATA / f"{file}.params"
    blocks, names = serialization.load(path)
    assert serialization.dumps(blocks, names, format) == path.read_bytes()


def test_worked_example():
    block = Block(np.array([[1, 2, 3], [4, 5, 6]], np.float32))
    assert serialization.dumps([block]) == (DATA / "dense_list_19.params").read_bytes()
    (loaded,), names = serialization.load(DATA / "dense_list_20.params")
    assert names is None
    assert_same(loaded, block)


def test_named_arrays():
    blocks, names = serialization.load(DATA / "dense_dict_19.params")
    assert names == ["arg:w", "aux:m"]
    assert_same(blocks[0], Block(np.array([1, 2], np.float16)))
    assert_same(blocks[1], Block(np.array([7], np.int64)))


def test_sparse_arrays_of_real_files():
    for file, name, block in [("csr_19", "c", CSR), ("rsp_19", "r", ROWS)]:
        (loaded,), (given,) = serialization.load(DATA / f"{file}.params")
        assert given == name
        assert_same(loaded, block)


@pytest.mark.parametrize("version", ["19", "20"])
def test_every_element_type(version):
    blocks, names = serialization.load(DATA / f"dtypes_{version}.params")
    assert len(names) == {"19": 9, "20": 13}[version]
    for name, block in zip(names, blocks, strict=True):
        assert name_of(block.dtype_code) == name
        if name == "bfloat16":
            assert block.data.view(np.uint16).tolist() == [0x3F80, 0xC000]
        else:
            assert block.data.tolist() == [[0, 1, 0], [1, 1, 0]]


def test_numpy_archive_named_params():
    blocks, names = serialization.load(DATA / "g_20-0003.params")
    assert names == ["arg:0.weight", "arg:0.bias", "arg:1.weight", "arg:1.bias"]
    assert [block.shape for block in blocks] == [(3, 4), (3,), (2, 3), (2,)]
    with np.load(DATA / "g_20.params") as archive:
        for block, name in zip(blocks, names, strict=True):
            np.testing.assert_array_equal(block.data, archive[name.removeprefix("arg:")])


def test_sparse_arrays_of_a_numpy_archive():
    blocks, names = serialization.load(DATA / "sparse_20.params")
    assert names == ["r", "c", "d"]
    for block, expected in zip(blocks, [ROWS, CSR, Block(np.ones(2, np.float32))], strict=True):
        assert_same(block, expected)


def test_no_array_in_the_oldest_format():
    assert serialization.load(DATA / "leg.params") == ([None], ["k"])


@pytest.mark.parametrize("file", ["csr_20", "rsp_20"])
def test_refused_saves_of_the_real_wheel(file):
    with pytest.raises(MXNetError, match=rf"{file}.params: at byte 24: 1 arrays do not fit"):
        serialization.load(DATA / f"{file}.params")
