"""Our kernels on gpu(0): which calls have one, and their numbers of launches."""

import ctypes
import os

import numpy as np
import pytest

import mxcy as mx
from tests.gpu.standin.seam import is_chosen

GPU = mx.gpu(0)


class Counts(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_int64)
        for name in ("launches", "copies", "graphs", "waits", "taken", "records", "orders")
    ]


def standin():
    """Return the stand-in's test functions; skip the test on a GPU."""
    if not is_chosen():
        pytest.skip("it asks the stand-in what it was given")
    return ctypes.CDLL(os.environ["MXCY_CUDA_DRIVER"])


def counts():
    """Return the stand-in's counts."""
    now = Counts()
    standin().standin_counts(ctypes.byref(now))
    return now


def launches():
    """Return the stand-in's number of launches."""
    return counts().launches


def work_of(function, *args, **attrs):
    """Return the numbers of launches and copies of a call, whose operands are on the device."""
    mx.nd.waitall()
    before = counts()
    function(*args, **attrs)
    mx.nd.waitall()
    after = counts()
    return after.launches - before.launches, after.copies - before.copies


@pytest.fixture
def x():
    return np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)


def test_dynamic_numbers_need_no_other_text(x):
    array = mx.nd.array(x, ctx=GPU)
    for number in (1.5, -2.0, 0.25):
        np.testing.assert_array_equal((array * number).asnumpy(), x * np.float32(number))
        np.testing.assert_array_equal((number - array).asnumpy(), np.float32(number) - x)


def test_in_place(x):
    array = mx.nd.array(x, ctx=GPU)
    mx.nd.exp(array, out=array)
    array += array
    np.testing.assert_allclose(array.asnumpy(), 2 * np.exp(x), rtol=1e-6)
    mx.nd.transpose(array[:, :4], out=array[:, :4])
    part = array[1:3]
    mx.nd.broadcast_add(part, array[0:1], out=part)


def test_unaligned_addresses(x):
    array = mx.nd.array(x.reshape(-1), ctx=GPU)
    np.testing.assert_array_equal(
        (array[1:] + array[:-1]).asnumpy(), (x.reshape(-1)[1:] + x.reshape(-1)[:-1])
    )


def test_a_fused_network_is_one_launch(x):
    net = mx.gluon.nn.HybridLambda(lambda F, a: F.tanh(F.sigmoid(a * 2 + 1) * a))
    net.hybridize()
    array = mx.nd.array(x, ctx=GPU)
    expected = np.tanh(x / (1 + np.exp(-2 * x - 1)))
    np.testing.assert_allclose(net(array).asnumpy(), expected, rtol=1e-5, atol=1e-6)
    net(array).wait_to_read()
    before = launches()
    net(array).wait_to_read()
    assert launches() == before + 1


def test_the_text_is_printed(x, capfd, monkeypatch, tmp_path):
    monkeypatch.setenv("MXNET_RTC_VERBOSE", "1")
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    from mxcy.gpu.compile import compiled

    text = 'extern "C" __global__ void nothing() {}'
    first, _ = compiled(text, 90)
    assert text in capfd.readouterr().err
    again, _ = compiled(text, 90)
    assert again == first
    assert text not in capfd.readouterr().err


def test_many_kernels(monkeypatch, recwarn):
    from mxcy.gpu import compile as own

    def take(number, value):
        monkeypatch.setenv("MXNET_RTC_SIZE_WARNING", value)
        monkeypatch.setattr(own._Loaded, "many", own._Loaded.count)
        own.module(f'extern "C" __global__ void nothing{number}() {{}}', 0)
        return [str(warning.message) for warning in recwarn if "compiled" in str(warning.message)]

    assert take(1, "0") == []
    (text,) = take(2, "1")
    assert "compiled kernels are loaded on GPUs" in text
