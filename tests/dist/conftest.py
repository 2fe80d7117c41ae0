"""Selection of the long tests of jobs."""

import pytest


def pytest_collection_modifyitems(config, items):
    """Skip long tests unless `make test-dist` selects their marker."""
    if "dist" not in config.getoption("markexpr"):
        long = pytest.mark.skip(reason="make test-dist runs it")
        for item in items:
            if item.get_closest_marker("dist_long"):
                item.add_marker(long)
