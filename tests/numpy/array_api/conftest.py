"""Fixtures of the array API tests."""

import pytest

import mxcy as mx


@pytest.fixture(autouse=True)
def numpy_types():
    """Enable NumPy's element types, which the standard requires."""
    with mx.util.np_default_dtype(True):
        yield
