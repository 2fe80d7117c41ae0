"""Threads that wait for each run of a graph at once, and then compute it themselves."""

import numpy as np
import pytest

import mxcy as mx
from mxcy._library import front
from tests.env.run import python

pytestmark = pytest.mark.skipif(
    mx.engine.stats()["type"] == "NaiveEngine", reason="NaiveEngine has no workers"
)

ENOUGH = 100  # runs: a busy machine may finish one before it is awaited
UNITS = 640  # of a product that is left to a worker by default

CODE = """
import sys
from tests.engine.test_habit import executor, pushed_runs
print(pushed_runs(executor(), int(sys.argv[1])))
"""


@pytest.fixture(autouse=True)
def any_delay():
    """Consider all waits prompt."""
    front.set_soon(10**9)
    yield
    mx.nd.waitall()
    front.set_soon(200)


def executor():
    """Bind a product."""
    data = mx.sym.var("data")
    array = mx.nd.ones((UNITS, UNITS)) / UNITS
    return mx.sym.dot(data, data).bind(mx.cpu(), {"data": array})


def pushed():
    """Count the operations pushed so far."""
    return mx.engine.stats()["pushed"]


def pushed_runs(bound, most):
    """Run and wait until a run is not pushed; count those that were."""
    for number in range(most):
        before = pushed()
        bound.forward()[0].wait_to_read()
        if pushed() == before:
            return number
    return most


def awaited():
    """Return an executor that the calling thread runs itself."""
    bound = executor()
    assert 3 <= pushed_runs(bound, ENOUGH) < ENOUGH
    return bound


def test_awaited_graphs_are_computed_by_their_thread():
    bound = awaited()
    bound.arg_dict["data"][:] = 2
    before = pushed()
    result = bound.forward()[0]
    assert pushed() == before
    np.testing.assert_array_equal(result.asnumpy(), np.full((UNITS, UNITS), 4 * UNITS))


def test_the_habit_is_looked_at_again():
    bound = awaited()
    assert any(pushed_runs(bound, 1) for _ in range(300))
    assert pushed_runs(bound, ENOUGH) < ENOUGH


def test_graphs_that_nobody_awaits_are_pushed():
    bound = executor()
    for _ in range(10):
        before = pushed()
        bound.forward()
        assert pushed() == before + 1


def test_another_graph_is_pushed():
    bound = awaited()
    assert pushed_runs(executor(), 1) == 1
    assert pushed_runs(bound, 1) == 1


def test_other_work_of_the_workers_ends_the_habit():
    bound = awaited()
    data = bound.arg_dict["data"]
    mx.nd.dot(data, data).wait_to_read()
    assert pushed_runs(bound, 1) == 1


def test_variable():
    assert int(python(CODE, "20", MXCY_ENGINE_SOON="0").out) == 20
    assert int(python(CODE, str(ENOUGH), MXCY_ENGINE_SOON="1000000").out) < ENOUGH
