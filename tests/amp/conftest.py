"""Fixtures for mixed precision, which is a process-wide switch."""

import pytest

from mxcy import amp


@pytest.fixture
def mixed():
    """``mixed(target, ...)`` calls `amp.init`, which is undone after the test."""
    yield amp.init
    amp.reset()
