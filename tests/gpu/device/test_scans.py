"""Cumulative sums and products by our kernels against the CPU."""

import numpy as np
import pytest

import mxcy as mx
from tests.gpu.device.test_launches import work_of
from tests.gpu.standin.seam import is_chosen

GPU = mx.gpu(0)
#: shape, axis, number of launches
LINES = {
    "short lines": ((50, 7), 1, 1),
    "short lines of neighbours": ((5, 40, 60), 1, 1),
    "a block for each line": ((3, 1500), 1, 1),
    "a block for each line of neighbours": ((2, 300, 5), 1, 1),
    "chunks of lines": ((2, 7001), 1, 2),
    "chunks of lines of neighbours": ((4097, 3), 0, 2),
    "the flattened array": ((30, 20, 10), None, 2),
    "many neighbours": ((65, 1 << 14), 0, 1),
    "no element": ((3, 0), 1, 0),
}


def drawn(shape, dtype):
    rng = np.random.default_rng(0)
    if dtype.startswith(("int", "uint")):
        return rng.integers(-9 if dtype.startswith("int") else 0, 9, shape).astype(dtype)
    return rng.uniform(-1, 1, shape).astype("float32" if dtype == "bfloat16" else dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int8", "int32", "int64"])
@pytest.mark.parametrize("name", LINES)
def test_sums(name, dtype):
    shape, axis, launches = LINES[name]
    values = drawn(shape, dtype)
    host, device = (mx.nd.array(values, ctx=c).astype(dtype) for c in (mx.cpu(), GPU))
    result, expected = mx.nd.cumsum(device, axis=axis), mx.nd.cumsum(host, axis=axis)
    assert result.context == GPU
    assert result.dtype == expected.dtype
    steps = {"float32": 1e-4, "float64": 1e-12, "bfloat16": 2**-7}
    step = steps.get(dtype, 0)
    result, expected = (a.astype("float64").asnumpy() for a in (result, expected))
    np.testing.assert_allclose(result, expected, rtol=step, atol=max(shape) * step / 8)
    if is_chosen():
        assert work_of(mx.nd.cumsum, device, axis=axis) == (launches, 0)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("shape, axis", [((5, 9), 1), ((3, 2000), 1), ((5000,), 0), ((200, 3), 0)])
def test_products(shape, axis, dtype):
    values = drawn(shape, dtype)
    values = values | 1 if dtype == "int64" else np.exp(values / 20)
    host, device = (mx.np.array(values, ctx=c, dtype=dtype) for c in (mx.cpu(), GPU))
    result, expected = mx.np.cumprod(device, axis=axis), mx.np.cumprod(host, axis=axis)
    step = {"float32": 1e-4, "float64": 1e-12}.get(dtype, 0)  # integers wrap around alike
    np.testing.assert_allclose(result.asnumpy(), expected.asnumpy(), rtol=step)
    if is_chosen():
        assert work_of(mx.np.cumprod, device, axis=axis) == (1 if max(shape) < 2049 else 2, 0)


@pytest.mark.parametrize("axis", [0, 1, None])
def test_gradients(axis):
    kept = []
    for ctx in (mx.cpu(), GPU):
        array = mx.nd.array(drawn((40, 130), "float64"), ctx=ctx, dtype="float64")
        head = mx.nd.array(drawn((40, 130), "float64")[::-1], ctx=ctx, dtype="float64")
        array.attach_grad()
        with mx.autograd.record():
            out = mx.nd.cumsum(array, axis=axis)
        out.backward(head.reshape(out.shape))
        kept.append(array.grad.asnumpy())
        if ctx == GPU and is_chosen():
            with mx.autograd.record():
                out = mx.nd.cumsum(array, axis=axis)
            _, copies = work_of(out.backward, head.reshape(out.shape))
            assert copies == 0
    np.testing.assert_allclose(kept[1], kept[0], rtol=1e-12, atol=1e-12)


def test_other_types():
    """The kernels compute in one dtype; the rest is computed by CuPy."""
    values = drawn((6, 100), "float32")
    for function in (
        lambda a: mx.np.cumsum(a, axis=1),
        lambda a: mx.np.cumsum(a > 0, axis=0),
        lambda a: mx.np.cumsum(a, dtype="float64"),
    ):
        expected = function(mx.np.array(values)).asnumpy()
        result = function(mx.np.array(values, ctx=GPU)).asnumpy()
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)
