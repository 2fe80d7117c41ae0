"""The real CuPy on the stand-in: its kernels, compiled by g++, against NumPy."""

import os
from importlib.util import find_spec

import numpy as np
import pytest

if find_spec("cupy") is None or find_spec("Cython") is None:
    reason = "CuPy and Cython are not installed; make test-gpu installs them"
    pytest.skip(reason, allow_module_level=True)


@pytest.fixture
def x():
    return np.random.default_rng(0).standard_normal((6, 7)).astype(np.float32)


FUNCTIONS = {
    "exp": lambda xp, x: xp.exp(x),
    "sum": lambda xp, x: x.sum(1, keepdims=True),
    "argmax": lambda xp, x: x.argmax(0),
    "cumsum": lambda xp, x: xp.cumsum(x, 1),
    "indices": lambda xp, x: x[xp.asarray([4, 0])][:, ::-2],
    "where": lambda xp, x: xp.where(x > 0, x, x.astype(xp.float16)),
    "matmul": lambda xp, x: x @ x.T,
    "einsum": lambda xp, x: xp.einsum("ij,kj->ik", x, x),
    "batched product": lambda xp, x: xp.matmul(x[:, None, :], x[:, :, None]),
    "concatenate": lambda xp, x: xp.concatenate([x, x[:2] * 2]),
    "scatter": lambda xp, x: xp.add.at(y := x.copy(), ([0, 0, 3],), x[:3]) or y,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(cupy, x, name):
    function = FUNCTIONS[name]
    expected = function(np, x)
    result = function(cupy, cupy.asarray(x))
    assert isinstance(result, cupy.ndarray)
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result.get(), expected, rtol=2e-5, atol=2e-5)


def test_streams_and_events(cupy, x):
    stream, event = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Event()
    with stream:
        y = cupy.asarray(x) * 2
        event.record()
    event.synchronize()
    np.testing.assert_array_equal(y.get(), x * 2)


def test_kernels_of_users(cupy, x):
    text = """extern "C" __global__ void scale(float* a, float by, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) a[i] *= by;
    }"""
    kernel, y = cupy.RawKernel(text, "scale"), cupy.asarray(x)
    kernel((2,), (32,), (y, np.float32(3), np.int32(x.size)))
    np.testing.assert_array_equal(y.get(), x * np.float32(3))


def test_text_that_does_not_compile(cupy):
    kernel = cupy.RawKernel('extern "C" __global__ void f() { unknown; }', "f")
    with pytest.raises(Exception, match="unknown"):
        kernel((1,), (1,), ())


def test_device_properties(cupy):
    count = int(os.environ.get("MXCY_STANDIN_DEVICES", "1"))
    assert cupy.cuda.runtime.getDeviceCount() == count
    assert cupy.cuda.runtime.getDeviceProperties(0)["name"] == b"stand-in for a GPU"
    assert cupy.cuda.Device(0).compute_capability == "90"


def test_instances_of_templates(cupy, x):
    text = "template <class T> __global__ void twice(T* a) { a[threadIdx.x] *= 2; }"
    module = cupy.RawModule(code=text, options=("-std=c++17",), name_expressions=["twice<float>"])
    y = cupy.asarray(x)
    module.get_function("twice<float>")((1,), (x.size,), (y,))
    np.testing.assert_array_equal(y.get(), x * 2)
