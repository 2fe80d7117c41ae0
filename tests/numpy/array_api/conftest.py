"""The standard wants NumPy's element types."""

import pytest

import mxcy as mx


@pytest.fixture(autouse=True)
def numpy_types():
    """NumPy's element types, which the standard wants."""
    with mx.util.np_default_dtype(True):
        yield
