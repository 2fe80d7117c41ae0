"""Which machines have GPU contexts: those with a driver, a device and CuPy."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.env.run import python
from tests.gpu.standin.build import build_driver

CODE = "import mxcy as mx; print(mx.num_gpus()); mx.nd.ones((2,), ctx=mx.gpu(0))"
needs_cupy = pytest.mark.skipif(find_spec("cupy") is None, reason="CuPy is not installed")


def test_no_driver():
    done = python(CODE, fails=True)
    assert done.out.strip() == "0"
    assert "mxcy found no GPU; use mx.cpu()" in done.err


def test_a_driver_that_is_not_there():
    done = python(CODE, fails=True, MXCY_CUDA_DRIVER="/nowhere/libcuda.so.1")
    assert "MXCY_CUDA_DRIVER" in done.err
    assert "/nowhere/libcuda.so.1" in done.err


def test_a_library_that_is_no_driver():
    done = python(CODE, fails=True, MXCY_CUDA_DRIVER="libc.so.6")
    assert "MXCY_CUDA_DRIVER: the CUDA driver has no function cuInit" in done.err


@needs_cupy
def test_devices_of_the_driver():
    code = """
import mxcy as mx
print(mx.num_gpus(), mx.context.gpu_memory_info(2)[1] > 0, mx.nd.empty((2,), ctx="gpu(2)").context)
"""
    done = python(code, MXCY_CUDA_DRIVER=str(build_driver()), MXCY_STANDIN_DEVICES="3")
    assert done.out.split() == ["3", "True", "gpu(2)"]


@needs_cupy
def test_forked_process_raises():
    code = """
import os, mxcy as mx
mx.nd.empty((2,), ctx=mx.gpu(0))
if os.fork() == 0:
    try:
        mx.nd.empty((2000,), ctx=mx.gpu(0))
    except mx.MXNetError as error:
        print(error, flush=True)
    print(mx.nd.ones((2,)).asnumpy().sum(), flush=True)
    os._exit(0)
os.wait()
"""
    done = python(code, MXCY_CUDA_DRIVER=str(build_driver()))
    assert "forked" in done.out
    assert done.out.rstrip().endswith("2.0")


class _Nvrtc:
    def __init__(self, version):
        self.version = version


def test_versions():
    from mxcy.gpu.devices import advice

    assert list(advice(13000, 13, _Nvrtc("nvrtc 13.2"))) == []
    assert list(advice(13010, 12, _Nvrtc("nvrtc 12.9"))) == []
    texts = list(advice(12040, 13, _Nvrtc("nvrtc 13.0")))
    assert len(texts) == 2
    assert "install cupy-cuda12x" in texts[0]
    assert "NVRTC is for CUDA 13, but the driver supports CUDA 12" in texts[1]
    (text,) = advice(12040, 12, None)
    assert "pip install 'mxcy[cuda12]'" in text
    assert "MXNET_CUDA_LIB_CHECKING=0" in text


def test_versions_of_cudnn(monkeypatch, tmp_path):
    from mxcy.gpu.convolution.cudnn import advice

    assert advice(92801) == ""
    assert "cuDNN 90100 is too old" in advice(90100)
    assert "pip install nvidia-cudnn-cu13" in advice(0)
    Path(tmp_path, "cudnn.py").write_text("raise ImportError('no libcudnn')\n")
    code = "from mxcy.gpu.convolution.cudnn import is_open; print(is_open())"
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    for checked in "10":
        done = python(code, PYTHONPATH=paths, MXNET_CUDNN_LIB_CHECKING=checked)
        assert done.out.strip() == "False"
        assert ("cannot find cuDNN" in done.err) == (checked == "1")


@needs_cupy
@pytest.mark.parametrize("checked", ["1", "0"])
def test_versions_are_checked(checked):
    code = (
        "from mxcy.gpu import devices\n"
        "devices.advice = lambda *given: ['it does not fit']\n"
        "import mxcy as mx; print(mx.num_gpus())"
    )
    done = python(code, MXCY_CUDA_DRIVER=str(build_driver()), MXNET_CUDA_LIB_CHECKING=checked)
    assert done.out.strip() == "1"
    assert ("it does not fit" in done.err) == (checked == "1")
