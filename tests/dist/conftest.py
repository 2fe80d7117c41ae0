"""Which tests of jobs run when."""

import pytest


def pytest_collection_modifyitems(config, items):
    """Leave long ones to `make test-dist`, which selects by the marker."""
    if "dist" not in config.getoption("markexpr"):
        long = pytest.mark.skip(reason="make test-dist runs it")
        for item in items:
            if item.get_closest_marker("dist_long"):
                item.add_marker(long)
