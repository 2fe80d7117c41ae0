"""A plugin of pytest that has any tests run on ``mx.gpu(0)``: ``pytest -p tests.gpu.on_gpu``.

MXCY_CUDA_DRIVER names the stand-in, or is not set where there is a GPU.
"""

import pytest

from tests.gpu.standin.seam import put_under_cupy

put_under_cupy()

import mxcy as mx  # noqa: E402  it asks for CuPy when operators run


def pytest_report_header():
    """Say what the device is."""
    return f"default context: gpu(0) of {mx.num_gpus()}"


@pytest.fixture(autouse=True)
def on_gpu():
    """Arrays that are put nowhere in particular lie on the first GPU."""
    with mx.gpu(0):
        yield
