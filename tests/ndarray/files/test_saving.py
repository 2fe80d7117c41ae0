"""Files on disk: opening, replacing, positions."""

import io

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError
from mxcy.ndarray._files import serialization
from mxcy.ndarray._files.blocks import Block
from tests.ndarray.files.form import CSR, assert_same


def test_save_and_load(tmp_path):
    path = tmp_path / "a.params"
    serialization.save(path, [CSR], ["c"])
    (block,), names = serialization.load(str(path))
    assert names == ["c"]
    assert_same(block, CSR)
    (block,), _ = serialization.load(f"file://{path}")
    assert_same(block, CSR)


def test_file_objects_are_used_from_their_position():
    for format in (None, "npz", "npy"):
        dense = Block(np.arange(5.0))
        file = io.BytesIO()
        file.write(b"head")
        serialization.save(file, [dense], format=format)
        file.seek(4)
        (block,), _ = serialization.load(file)
        assert_same(block, dense)


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(MXNetError, match=r"none\.params: cannot be read: No such file"):
        serialization.load(tmp_path / "none.params")
    with pytest.raises(MXNetError, match="Is a directory"):
        serialization.load(tmp_path)
    with pytest.raises(MXNetError, match="cannot be written: No such file"):
        serialization.save(tmp_path / "none" / "x.params", [])
    for use in (serialization.load, lambda name: serialization.save(name, [])):
        with pytest.raises(MXNetError, match="only local files"):
            use("s3://bucket/x.params")


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.params"
    serialization.save(path, [CSR])
    old = path.read_bytes()
    with pytest.raises(MXNetError, match="cannot store"):
        serialization.save(path, [Block(np.ones(3)), None], format="np")
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


def test_only_programs_write_to_loaded_arrays(tmp_path):
    """So plans may cache tensors computed from loaded weights."""
    mx.nd.save(str(tmp_path / "x.params"), [mx.nd.ones((3, 4))])
    (loaded,) = mx.nd.load(str(tmp_path / "x.params"))
    version = loaded.version
    assert loaded.version == version
    loaded[:] = 2
    assert loaded.version != version


def test_files_of_scipy(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.csr_matrix(np.array([[0.0, 2, 0], [0, 0, 0], [1, 0, 3]], np.float32))
    sparse.save_npz(tmp_path / "a.npz", matrix)
    actual = mx.nd.load(str(tmp_path / "a.npz"))
    assert list(actual) == [""] and actual[""].stype == "csr"
    np.testing.assert_array_equal(actual[""].asnumpy(), matrix.toarray())
    np.savez(tmp_path / "b.npz", data=np.ones(2), shape=np.ones(1))
    assert sorted(mx.nd.load(str(tmp_path / "b.npz"))) == ["data", "shape"]
