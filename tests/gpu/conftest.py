"""Fixtures for tests of GPU contexts."""

import os

import pytest

from tests.gpu.standin.compiler import CXX
from tests.gpu.standin.seam import is_chosen, is_real, put_under_cupy

no_compiler = pytest.mark.skipif(CXX is None, reason="no g++ to compile CUDA source")

#: tests that need a device run in separate processes, started by test_device.py
collect_ignore = [] if "MXCY_CUDA_DRIVER" in os.environ else ["device", "battery"]
if is_chosen():
    put_under_cupy()


def pytest_report_header():
    """Name the stand-in in the header of each run."""
    return "gpu: a real one" if is_real() else "gpu: stand-in (no GPU code ran)"


def pytest_collection_modifyitems(items):
    """Skip tests that need g++ if it is missing."""
    for item in items:
        if CXX is None and not is_real() and "/gpu/" in item.path.as_posix():
            item.add_marker(no_compiler)


@pytest.fixture(scope="session")
def cupy():
    """CuPy on the stand-in or on a GPU."""
    if not is_chosen() and not is_real():
        from tests.gpu.standin import cupy_seam

        cupy_seam.install()
    import cupy

    return cupy
