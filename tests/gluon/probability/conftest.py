"""Fixtures of the tests of probability."""

import pytest

import mxcy as mx


@pytest.fixture
def np_arrays():
    """NumPy array semantics."""
    mx.util.set_np()
    yield
    mx.util.reset_np()
