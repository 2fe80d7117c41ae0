"""Pytest plugin that runs any tests on ``mx.gpu(0)``: ``pytest -p tests.gpu.on_gpu``.

MXCY_CUDA_DRIVER names the stand-in; leave it unset to use a GPU.
"""

import pytest

from tests.gpu.standin.seam import put_under_cupy

put_under_cupy()

import mxcy as mx  # noqa: E402  it asks for CuPy when operators run

#: excluded tests -> reason
UNFIT = {
    "test_kinds_for_several_processes_are_refused[NCCL-GPUs]": "there are GPUs to add up on",
    "test_processes_of_mpi_in_place_of_the_libraries": "processes share host memory",
    "test_stores_for_several_machines_are_refused_at_once": "there are GPUs to add up on",
    "test_subclasses_may_add_up_gradients_themselves": "it names the CPU",
    "test_a_single_context_needs_no_store": "it names the CPU",
    "test_contexts_may_be_texts": "it tests machines without GPUs",
    "test_seed_of_a_device": "it seeds the CPU",
}


def pytest_collection_modifyitems(items):
    """Skip the excluded tests."""
    for item in items:
        for name, reason in UNFIT.items():
            if item.name.startswith(name):
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_report_header():
    """Name the device."""
    return f"default context: gpu(0) of {mx.num_gpus()}"


@pytest.fixture(autouse=True)
def on_gpu():
    """Make the first GPU the default context."""
    with mx.gpu(0):
        yield
