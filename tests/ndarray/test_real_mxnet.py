"""Files exchanged with MXNet: each reads what the other writes.

Runs where the environment names originals; see tests/originals.py.
"""

import pickle
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy._base.dtypes import CODES, DTYPES, name_of
from mxcy.ndarray._files import pickles, serialization
from mxcy.ndarray._files.blocks import Block
from tests import originals

originals.skip_without_any()
pytestmark = pytest.mark.needs_real_mxnet
SCRIPT = Path(__file__).parent / "real_mxnet.py"
real = originals.fixture_for(SCRIPT)


def to_dense(block):
    """All elements of a sparse array, including zeros."""
    if block.stype == "default":
        return block.data
    dense = np.zeros(block.shape, block.data.dtype)
    if block.stype == "row_sparse":
        dense[block.aux[0]] = block.data
    elif len(block.data):
        rows = np.repeat(np.arange(block.shape[0]), np.diff(block.aux[0]))
        dense[rows, block.aux[1]] = block.data
    return dense


def describe(name, block):
    return [
        name,
        block.stype,
        list(block.shape),
        name_of(block.dtype_code),
        to_dense(block).tobytes().hex(),
    ]


def describe_all(blocks, names):
    return [describe(*pair) for pair in zip(names or [None] * len(blocks), blocks, strict=True)]


def samples(dtypes):
    bits = np.array([[0, 1, 1], [1, 0, 1]], np.uint8)
    return {
        name: Block(
            (bits * np.uint16(257)).view(DTYPES[12])
            if name == "bfloat16"
            else bits.astype(DTYPES[CODES[name]])
        )
        for name in dtypes
    }


OLD = "float32 float64 float16 uint8 int32 int8 int64 bool bfloat16".split()
NEW = [*OLD, "int16", "uint16", "uint32", "uint64"]
IDS = np.zeros(0, np.int64)
SPARSE = {
    "c": Block(np.ones(2, np.float32), (2, 3), "csr", (np.array([0, 1, 2]), np.array([2, 0]))),
    "r": Block(np.ones((1, 2), np.float32), (5, 2), "row_sparse", (np.array([3]),)),
    "empty csr": Block(np.zeros(0, np.float32), (2, 3), "csr", (IDS, IDS)),
    "empty rows": Block(np.zeros((0, 3), np.float32), (2, 3), "row_sparse", (IDS,)),
}
NUMPY_SHAPES = {
    "a": Block(np.float32(3).reshape(())),
    "b": Block(np.zeros((0, 3), np.float32)),
    "c": Block(np.ones(2, np.int64)),
}


def test_the_original_reads_ours(real):
    dense = samples(OLD if real.version == "19" else NEW)
    on_gpu = Block(np.ones(2, np.float32), device=(2, 1))
    files = {
        "dict.params": ({**dense, **SPARSE}, None),
        "é.params": ({"é": dense["float32"], "on gpu": on_gpu}, "v1x"),
        "np_.params": (NUMPY_SHAPES, None),
        "np_forced.params": (dense, "np"),
    }
    if real.version == "20":
        numpy = {name: block for name, block in dense.items() if name != "bfloat16"}
        files["npz.params"] = ({**numpy, **SPARSE, "a/b": dense["int8"]}, "npz")
    for file, (blocks, format) in files.items():
        serialization.save(real.folder / file, blocks.values(), list(blocks), format)
    listed = [dense["float32"], dense["int8"]]
    serialization.save(real.folder / "list.params", listed)
    actual = real("read")
    assert actual.pop("list.params") == describe_all(listed, None)
    assert sorted(actual) == sorted(files)
    for file, (blocks, _) in files.items():
        expected = describe_all(list(blocks.values()), list(blocks))
        assert sorted(actual[file]) == sorted(expected), file


def test_the_original_reads_saved_arrays(real):
    content = {"w": mx.nd.array([[1, 2], [3, 4]]), "b": mx.nd.array([5])}
    mx.nd.save(str(real.folder / "x.params"), content)
    (actual,) = real("read").values()
    assert {name: bytes.fromhex(data) for name, _, _, _, data in actual} == {
        name: array.asnumpy().tobytes() for name, array in content.items()
    }


def test_we_read_the_original(real):
    written = real("write")
    assert len(written) >= 4
    for file, expected in written.items():
        blocks, names = serialization.load(real.folder / file)
        assert sorted(describe_all(blocks, names)) == sorted(expected), file
        arrays = mx.nd.load(str(real.folder / file))
        assert len(arrays) == len(expected)
    content = (real.folder / "x.pickle").read_bytes()
    assert pickles.loads(content).asnumpy().tolist() == [[0, 1, 1], [1, 0, 1]]
    assert pickle.loads(pickle.dumps(pickles.loads(content))).shape == (2, 3)


def test_files_are_the_same_byte_by_byte(real):
    written = real("write")
    # The original writes broken headers for the storage types in this one.
    written.pop("sparse_npz.params", None)
    for file in written:
        path = real.folder / file
        blocks, names = serialization.load(path)
        format = "npz" if file == "npz.params" else None
        assert serialization.dumps(blocks, names, format) == path.read_bytes(), file
