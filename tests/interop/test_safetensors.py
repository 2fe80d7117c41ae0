"""safetensors files, compared with the package of that name."""

import json

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError
from mxcy.interop import load_safetensors, save_safetensors

WORDS = ("float32", "float64", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32")
WORDS += ("int64", "uint64", "bool")


def arrays():
    rng = np.random.RandomState(0)
    actual = {word: rng.randint(0, 2, (2, 3)).astype(word) for word in WORDS}
    return {**actual, "empty": np.zeros((0, 4), np.float32), "number": np.array(7, np.int64)}


def test_our_files_come_back(tmp_path):
    path = tmp_path / "x.safetensors"
    given = {name: mx.nd.array(array, dtype=array.dtype) for name, array in arrays().items()}
    given["half"] = mx.nd.array([1.5, -2]).astype("bfloat16")
    given["complex"] = mx.np.array([1 + 2j], dtype="complex64")
    save_safetensors(path, given, metadata={"format": "mxcy"})
    actual = load_safetensors(path)
    assert list(actual) == list(given)
    for name, array in given.items():
        assert actual[name].dtype == array.dtype and actual[name].shape == array.shape
        np.testing.assert_array_equal(actual[name].asnumpy(), array.asnumpy())


def test_the_package_reads_ours_and_we_read_its(tmp_path):
    package = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    save_safetensors(tmp_path / "ours", arrays(), metadata={"a": "b"})
    actual = package.load_file(tmp_path / "ours")
    package.save_file(arrays(), tmp_path / "its")
    ours = load_safetensors(tmp_path / "its")
    for name, array in arrays().items():
        np.testing.assert_array_equal(actual[name], array)
        np.testing.assert_array_equal(ours[name].asnumpy(), array)
        assert actual[name].dtype == ours[name].dtype == array.dtype


def written(path, header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def tensor(**changes):
    return {"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changes}}


@pytest.mark.parametrize(
    "header, text",
    [
        (b"[1]", "not an object"),
        (b"{", "not JSON"),
        (b"[" * 100000, "not JSON"),
        (tensor(dtype="F8"), "'x': dtype F8"),
        (tensor(shape=[3]), "'x': bytes 0 to 8 of 8 are not the 12"),
        (tensor(shape=[-2]), "'x': shape and offsets"),
        (tensor(shape=[1 << 62, 1 << 62]), "'x': bytes"),
        (tensor(data_offsets=[4, 12]), "'x': bytes 4 to 12 of 8"),
        (tensor(data_offsets=[8]), "'x': expected dtype, shape and data_offsets"),
        ({"x": 1}, "'x': expected dtype, shape and data_offsets"),
    ],
)
def test_damaged_headers(tmp_path, header, text):
    with pytest.raises(MXNetError, match=text):
        load_safetensors(written(tmp_path / "x", header, bytes(8)))


def test_truncated_files(tmp_path):
    path = tmp_path / "x"
    save_safetensors(path, {"x": np.ones(4, np.float32)})
    data = path.read_bytes()
    for length in (0, 7, 20, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(MXNetError, match="x: "):
            load_safetensors(path)


def test_unsupported_arrays_are_refused(tmp_path):
    path = tmp_path / "x"
    with pytest.raises(TypeError, match="array name"):
        save_safetensors(path, {1: np.ones(2)})
    with pytest.raises(TypeError, match="metadata"):
        save_safetensors(path, {}, metadata={"a": 1})
    with pytest.raises(MXNetError, match="'x': safetensors does not support dtype complex128"):
        save_safetensors(path, {"x": np.ones(2, complex)})
    assert not path.exists()
