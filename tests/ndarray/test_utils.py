"""mx.nd.save, mx.nd.load and mx.nd.load_frombuffer."""

import io
import struct
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy._base.dtypes import CODES, DTYPES, REALS
from mxcy._library import front
from mxcy.base import MXNetError

DATA = Path(__file__).parent.parent / "data" / "params"


def array(data, dtype):
    data = np.ascontiguousarray(data, DTYPES[CODES[dtype]]).reshape(np.shape(data))
    return front.from_numpy(data, CODES[dtype], mx.cpu())


def same(a, b):
    assert (a.shape, a.dtype_code) == (b.shape, b.dtype_code)
    np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())


@pytest.mark.parametrize("format", [None, "v1x", "np", "npz"])
def test_dict(tmp_path, format):
    path = str(tmp_path / "x.params")
    arrays = {"w": mx.nd.array([[1, 2], [3, 4]]), "b": array([1, 0], "bool")}
    mx.nd.save(path, arrays, format=format)
    loaded = mx.nd.load(path)
    assert list(loaded) == ["w", "b"]
    for name, value in loaded.items():
        assert isinstance(value, mx.nd.NDArray)
        assert value.context == mx.cpu(0)
        same(value, arrays[name])


def test_list_and_single_array(tmp_path):
    path = tmp_path / "x"
    a, b = mx.nd.array([1]), mx.nd.array([[2]])
    mx.nd.save(path, [a, b])
    loaded = mx.nd.load(path)
    assert type(loaded) is list
    same(loaded[0], a)
    same(loaded[1], b)
    mx.nd.save(path, a)
    (alone,) = mx.nd.load(path)
    same(alone, a)
    for nothing in ([], {}):
        mx.nd.save(path, nothing)
        assert mx.nd.load(path) == []


@pytest.mark.parametrize("dtype", sorted(REALS))
def test_element_types(tmp_path, dtype):
    bits = np.array([[0, 1, 1], [1, 0, 1]], np.uint8)
    saved = array(bits if dtype != "bfloat16" else bits.astype(np.uint16).view(DTYPES[12]), dtype)
    mx.nd.save(str(tmp_path / "x"), [saved])
    (loaded,) = mx.nd.load(str(tmp_path / "x"))
    same(loaded, saved)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0)])
def test_numpy_shapes(tmp_path, shape):
    saved = array(np.full(shape, 3), "float32")
    mx.nd.save(str(tmp_path / "x"), {"a": saved})
    same(mx.nd.load(str(tmp_path / "x"))["a"], saved)


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize("loaded", [False, True])
def test_a_shape_scope_refuses_files_of_the_other_semantics(tmp_path, saved, loaded):
    path = str(tmp_path / "x")
    with mx.np_shape(saved):
        mx.nd.save(path, [mx.nd.ones((2, 1)), mx.nd.array(np.zeros((0, 3)))])
    content = (tmp_path / "x").read_bytes()
    with mx.np_shape(loaded):
        if saved == loaded:
            assert [a.shape for a in mx.nd.load(path)] == [(2, 1), (0, 3)]
        else:
            for function, source in ((mx.nd.load, path), (mx.nd.load_frombuffer, content)):
                with pytest.raises(MXNetError, match="an array saved with(out)? NumPy shape"):
                    function(source)
    assert [a.shape for a in mx.nd.load(path)] == [(2, 1), (0, 3)]  # without a scope, any file


def test_files_saved_with_numpy_shapes_are_those_of_mxnet_2(tmp_path):
    arrays = {"w": mx.nd.ones((2, 3)), "s": mx.nd.ones((2, 3)).tostype("csr")}
    with mx.np_shape(True):
        mx.nd.save(tmp_path / "x", arrays)
        assert mx.nd.load(tmp_path / "x")["s"].stype == "csr"
        del arrays["s"]
        mx.nd.save(tmp_path / "x", arrays)
    mx.nd.save(tmp_path / "y", arrays, format="np")
    assert (tmp_path / "x").read_bytes() == (tmp_path / "y").read_bytes()


def test_a_loaded_array_can_be_written_to():
    content = (DATA / "dense_list_19.params").read_bytes()
    (first,) = mx.nd.load_frombuffer(content)
    (second,) = mx.nd.load_frombuffer(content)
    first.numpy_view()[:] = 7
    assert first.asnumpy().tolist() == [[7, 7, 7]] * 2
    assert second.asnumpy().tolist() == [[1, 2, 3], [4, 5, 6]]


def test_views_are_saved_as_they_are(tmp_path):
    path = str(tmp_path / "x")
    rows = mx.nd.array([[1, 2], [3, 4], [5, 6]]).view_rows(1, 3)
    mx.nd.save(path, [rows])
    assert mx.nd.load(path)[0].asnumpy().tolist() == [[3, 4], [5, 6]]


def test_files_of_real_mxnet():
    loaded = mx.nd.load(str(DATA / "g_20.params"))
    assert {name: value.shape for name, value in loaded.items()} == {
        "0.weight": (3, 4),
        "0.bias": (3,),
        "1.weight": (2, 3),
        "1.bias": (2,),
    }
    assert mx.nd.load(str(DATA / "leg.params")) == {"k": None}


def test_sparse_files_become_dense():
    for file in ("sparse_20", "csr_19", "rsp_19"):
        loaded = mx.nd.load(str(DATA / f"{file}.params"))
        if "c" in loaded:
            assert loaded["c"].asnumpy().tolist() == [[1, 0, 2], [0, 3, 0]]
        if "r" in loaded:
            assert loaded["r"].asnumpy().tolist() == [[1, 2], [0, 0], [0, 0], [3, 4], [0, 0]]
        assert loaded


def test_a_sparse_file_whose_dense_array_is_too_large():
    head = struct.pack("<3QIii2q", 0x112, 0, 1, 0xF993FAC9, 1, 2, 0, 1)
    shape = struct.pack("<i2q", 2, 2**55, 1)
    rest = struct.pack("<4iiqQ", 1, 0, 0, 6, 1, 0, 0)
    (array,) = mx.nd.load_frombuffer(head + shape + rest)
    assert (array.stype, array.shape) == ("row_sparse", (2**55, 1))
    with pytest.raises(MXNetError, match="out of memory"):
        array.asnumpy()


def test_file_objects():
    file = io.BytesIO()
    mx.nd.save(file, {"é": mx.nd.array([1, 2])})
    file.seek(0)
    assert mx.nd.load(file)["é"].asnumpy().tolist() == [1, 2]
    assert mx.nd.load_frombuffer(file.getvalue())["é"].asnumpy().tolist() == [1, 2]
    assert mx.nd.load_frombuffer(memoryview(file.getvalue()))["é"].shape == (2,)


def test_bad_arguments(tmp_path):
    path = str(tmp_path / "x")
    a = mx.nd.array([1])
    for data in ([a, np.ones(2)], [None], {"a": 1}, {1: a}, {b"a": a}):
        with pytest.raises(TypeError, match="save only accepts"):
            mx.nd.save(path, data)
    for data in ((a,), np.ones(2), None, "a"):
        with pytest.raises(ValueError, match="needs to either be a NDArray"):
            mx.nd.save(path, data)
    with pytest.raises(ValueError, match="format must be"):
        mx.nd.save(path, a, format="V2")
    for bad in (3, None, b"x"):
        with pytest.raises(TypeError, match="fname required to be a string"):
            mx.nd.load(bad)
    for bad in (3, None, "x"):
        with pytest.raises(TypeError, match="buf required to be bytes"):
            mx.nd.load_frombuffer(bad)
    assert list(tmp_path.iterdir()) == []


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "bad.params"
    path.write_bytes((DATA / "dense_dict_19.params").read_bytes()[:-1])
    with pytest.raises(
        MXNetError, match=r"bad\.params: at byte 129: a name needs 5 bytes, the file has only 4"
    ):
        mx.nd.load(str(path))
