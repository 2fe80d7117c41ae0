"""Index tricks, and arrays from files, text and memory, against NumPy's."""

import io

import numpy as onp
import pytest

import mxcy as mx

np = mx.np


@pytest.mark.parametrize("numpy_types", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "mgrid[0:3, 1:4]",
        "mgrid[0:3:2]",
        "mgrid[-1:1:5j, 0:1:2j]",
        "ogrid[0:3, 1:4][1]",
        "ogrid[0:1:3j]",
        "r_[1:4, 0, 4]",
        "r_[0:1:5j, 2]",
        "r_[a, 0, 0, a]",
        "r_[a, 1.5, 2]",
        "r_[True, False]",
        "r_['-1', b, b]",
        "r_['0,2', a, a]",
        "r_['1,2,0', a, a]",
        "r_['0,3,1', a, a]",
        "c_[a, a]",
        "c_[a, b]",
        "c_[1:3, 4:6]",
        "c_[1, 2, 3]",
    ],
)
def test_slices(text, numpy_types):
    a, b = onp.array([1.0, 2.0, 3.0], "float32"), onp.ones((3, 2), "float32")
    expected = eval(text, {**vars(onp), "a": a, "b": b})
    with mx.util.np_default_dtype(numpy_types):
        scope = {name: getattr(np, name) for name in ("mgrid", "ogrid", "r_", "c_")}
        own = {"a": np.array(a, dtype="float32"), "b": np.array(b, dtype="float32")}
        actual = eval(text, {**scope, **own})
    assert type(actual) is np.ndarray and actual.shape == expected.shape
    onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=1e-6)
    kept = numpy_types or expected.dtype != "float64"
    assert actual.dtype == (expected.dtype if kept else "float32")


def test_gradients_flow_through_joined_arrays():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with mx.autograd.record():
        y = np.r_[x, 0, 2 * x]
    y.backward()
    assert x.grad.tolist() == [3, 3]


def test_slices_as_keys():
    assert np.s_[1:3, None] == (slice(1, 3), None) and np.index_exp[2] == (2,)
    assert len(np.r_) == len(np.mgrid) == 0


@pytest.mark.parametrize("directive", ["r", "no"])
def test_directives_that_are_refused(directive):
    with pytest.raises(ValueError, match=directive):
        np.r_[directive, np.ones(2)]


def test_functions_of_coordinates():
    assert np.fromfunction(lambda i, j: i + j, (2, 2)).tolist() == [[0, 1], [1, 2]]
    rows, columns = np.mask_indices(3, np.triu, 1)
    assert (rows.tolist(), columns.tolist()) == ([0, 0, 1], [1, 2, 2])


@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_windows(count):
    onp.testing.assert_allclose(np.bartlett(count).asnumpy(), onp.bartlett(count), rtol=1e-6)
    window = np.kaiser(count, 3.0, dtype="float64")
    onp.testing.assert_allclose(window.asnumpy(), onp.kaiser(count, 3.0))


def test_files_of_numpy(tmp_path):
    a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 2], dtype="int8")
    np.save(tmp_path / "one", a)
    assert np.load(tmp_path / "one.npy").tolist() == a.tolist()
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "more.npz", a, b=b)
        read = np.load(tmp_path / "more.npz")
        assert sorted(read) == ["arr_0", "b"] and read["b"].dtype == "int8"
    np.savetxt(tmp_path / "text", a, fmt="%d")
    assert np.loadtxt(tmp_path / "text").tolist() == a.tolist()
    x, y = np.loadtxt(["1 2", "3 4"], unpack=True)
    assert (x.tolist(), y.tolist()) == ([1, 3], [2, 4])
    a.tofile(tmp_path / "bytes")
    assert np.fromfile(tmp_path / "bytes").tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("name", ["text", "text.gz", "text.bz2", "text.xz"])
def test_text_files_are_replaced_only_by_whole_ones(tmp_path, name):
    path = tmp_path / name
    np.savetxt(path, np.array([1.0, 2.0]))
    packed = name != "text"
    assert path.read_bytes().startswith(b"1.0") != packed
    with pytest.raises(ValueError, match="fmt"):
        np.savetxt(path, np.ones((2, 2)), fmt="%d %d %d")
    assert np.loadtxt(path).tolist() == [1, 2]
    assert [p.name for p in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("read", [np.genfromtxt, np.loadtxt])
def test_columns_of_several_types_are_refused(read):
    with pytest.raises(TypeError, match="elements of one type"):
        read(["1 2.5"], dtype=[("a", "int32"), ("b", "float32")])


def test_numbers_of_text_and_memory():
    assert np.frombuffer(b"\1\0\2\0", "int16").tolist() == [1, 2]
    assert np.frombuffer(np.ones(3).tobytes(), count=2).tolist() == [1, 1]
    assert np.fromstring("1, 2", sep=",").tolist() == [1, 2]
    assert np.fromiter((np.array(i) for i in range(3)), "int32").dtype == "int32"
    with mx.util.np_default_dtype(True):
        assert np.fromstring("1 2").dtype == "float64"
    file = io.BytesIO()
    np.save(file, np.ones((0, 3)))
    file.seek(0)
    assert np.load(file).shape == (0, 3)


def test_only_finite_numbers():
    assert np.asarray_chkfinite([1.0, 2.0]).tolist() == [1, 2]
    with pytest.raises(ValueError, match="infs or NaNs"):
        np.asarray_chkfinite([onp.inf])
    with pytest.raises(NotImplementedError):
        np.asarray_chkfinite([1.0], order="F")
