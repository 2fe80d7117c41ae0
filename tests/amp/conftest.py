"""Mixed precision is a switch of the whole process."""

import pytest

from mxcy import amp


@pytest.fixture
def mixed():
    """``mixed(target, ...)`` is `amp.init`; mixed precision is off again after the test."""
    yield amp.init
    amp.reset()
