"""Fixtures of the tests of the runtime."""

import pytest

import mxcy as mx


@pytest.fixture
def profiler(tmp_path):
    """`mx.profiler`, with a file of the test's own, stopped and emptied afterwards."""
    path = tmp_path / "profile.json"
    mx.profiler.set_config(filename=str(path))
    mx.profiler.path = path
    yield mx.profiler
    mx.profiler.resume()
    mx.profiler.set_config(filename=str(path), aggregate_stats=True)
    mx.profiler.set_state("stop")
    mx.profiler.dumps(reset=True)
    mx.profiler.set_config(filename=str(path))
    del mx.profiler.path
