"""The modules of `mx.np` and its relatives, and their names."""

import importlib

import numpy as onp
import pytest

import mxcy as mx
from mxcy.ops.core import homes

np, npx = mx.np, mx.npx


def test_modules_under_all_their_names():
    assert mx.np is importlib.import_module("mxcy.numpy")
    assert mx.npx is importlib.import_module("mxcy.numpy_extension")
    assert mx.nd.np.exp is np.exp and mx.nd.npx.softmax is npx.softmax
    assert importlib.import_module("mxcy.ndarray.numpy").ones is np.ones
    for home in ("numpy.linalg", "numpy.random"):
        module = importlib.import_module(f"mxcy.ndarray.{home}")
        assert dir(module) == dir(importlib.import_module(f"mxcy.{home}"))
    for home, name in (("control_flow", "cond"), ("image", "to_tensor"), ("random", "bernoulli")):
        module = importlib.import_module(f"mxcy.ndarray.numpy_extension.{home}")
        assert getattr(module, name) is getattr(getattr(npx, home), name) and name in dir(module)


def test_every_operator_is_a_function_with_its_signature():
    for home, name in homes.numpy_homes():
        if home == "":
            function = getattr(np, name)
        elif home == "npx":
            function = getattr(npx, name)
        else:
            continue
        assert callable(function) and function.__doc__, (home, name)
    assert {"exp", "add", "sum", "squeeze"} <= set(dir(np))
    assert {"softmax", "fully_connected"} <= set(dir(npx))
    with pytest.raises(AttributeError):
        np.no_such_function  # noqa: B018  what is tested


def test_layers_of_networks():
    x, weight, bias = np.ones((2, 3)), np.ones((4, 3)), np.ones(4)
    actual = npx.fully_connected(x, weight, bias, num_hidden=4, no_bias=False)
    assert type(actual) is np.ndarray and actual.tolist() == [[4] * 4] * 2
    actual = npx.fully_connected(x, weight, num_hidden=4, no_bias=True)
    assert actual.tolist() == [[3] * 4] * 2
    assert npx.add_n(x, x, x).tolist() == [[3] * 3] * 2
    onp.testing.assert_allclose(npx.softmax(x).asnumpy(), 1 / 3, rtol=1e-6)
    x.attach_grad()
    with mx.autograd.record():
        loss = npx.softmax(x)[:, 0].sum()
    loss.backward()
    assert type(x.grad) is np.ndarray


def test_operators_by_their_registered_names():
    internal = mx.nd.np._internal
    assert internal.add(np.ones(2), np.ones(2)).tolist() == [2, 2]
    assert type(internal.zeros(shape=(2,))) is np.ndarray
    assert internal.add_scalar(np.ones(2), scalar=2.5, is_int=False).tolist() == [3.5, 3.5]


def test_files(tmp_path):
    one, pair = tmp_path / "one.npy", tmp_path / "pair.npz"
    npx.save(str(one), np.array(2.5))
    assert npx.load(str(one)).item() == 2.5 and onp.load(one) == 2.5
    npx.savez(str(pair), np.ones(2), b=np.zeros((2, 0), "int8"))
    actual = npx.load(str(pair))
    assert list(actual) == ["arr_0", "b"] and actual["b"].dtype == "int8"
    assert type(actual["b"]) is np.ndarray and onp.load(pair)["arr_0"].tolist() == [1, 1]
    with pytest.raises(ValueError):
        npx.savez(str(pair), np.ones(1), arr_0=np.ones(1))
    with pytest.raises(TypeError):
        npx.save(str(one), [1, 2])


@pytest.mark.parametrize("version", ["1.9", "2.0"])
def test_files_of_several_arrays(tmp_path, version):
    before = mx.util.set_profile(version)
    x = np.arange(4.0)
    try:
        npx.save(tmp_path / "one", x)
    finally:
        mx.util.set_profile(before)
        npx.reset_np()
    actual = npx.load(tmp_path / "one")
    assert type(actual) is (list if version == "1.9" else np.ndarray)
    assert np.array_equal(actual[0] if version == "1.9" else actual, x)
    npx.save(tmp_path / "list", [x, x[0]])
    assert [array.shape for array in npx.load(tmp_path / "list")] == [(4,), ()]
    npx.save(tmp_path / "dict", {"x": x})
    assert npx.load(tmp_path / "dict")["x"].tolist() == [0, 1, 2, 3]
    assert mx.nd.load(str(tmp_path / "dict"))["x"].shape == (4,)
    with pytest.raises(TypeError, match="got int"):
        npx.save(tmp_path / "dict", {"x": 1})


def test_memory_of_numpy_is_shared():
    source = onp.ones(3, "float32")
    array = npx.from_numpy(source)
    assert type(array) is np.ndarray
    array[0] = 7
    assert source[0] == 7
    with pytest.raises(ValueError):
        source[0] = 1
    assert np.from_dlpack(onp.arange(3)).tolist() == [0, 1, 2]


def test_small_services():
    assert type(mx.util.default_array([1])) is mx.nd.NDArray
    with mx.util.np_shape(True), mx.util.np_array(True):
        assert type(mx.util.default_array([1])) is np.ndarray
    with mx.util.TemporaryDirectory() as folder:
        assert isinstance(folder, str)
    assert mx.ndarray.ndarray.get_dtype_name(onp.float32) == "float32"
    assert mx.base._is_np_op("_npi_add") and not mx.base._is_np_op("add")
