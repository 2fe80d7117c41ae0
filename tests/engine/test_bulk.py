"""Bulks: small operations queued as one."""

import threading

import pytest

import mxcy as mx
from mxcy.base import MXNetError


@pytest.fixture
def counted(use_engine):
    """(bulks, operations in them) since the start of the test."""
    use_engine("ThreadedEnginePerDevice")
    before = mx.engine.stats()
    return lambda: tuple(mx.engine.stats()[name] - before[name] for name in ("bulks", "bulked"))


def test_full_bulks_go_and_the_scope_ends_the_last(counted):
    order, variable = [], mx.engine.Var()
    with mx.engine.bulk(4):
        for number in range(10):
            mx.engine.push(lambda n=number: order.append(n), writes=[variable])
        assert counted() == (2, 8)
    assert counted() == (3, 10)
    mx.engine.waitall()
    assert order == list(range(10))


@pytest.mark.parametrize("how", ["wait", "waitall", "kind", "device", "thread"])
def test_conditions_that_end_a_bulk(counted, how):
    variable, order = mx.engine.Var(), []
    with mx.engine.bulk(100):
        for number in range(3):
            mx.engine.push(lambda n=number: order.append(n), writes=[variable])
        assert counted() == (0, 0) and not variable.idle
        if how == "wait":
            variable.wait_to_read()
            assert order == [0, 1, 2]
        elif how == "waitall":
            mx.engine.waitall()
        elif how == "kind":
            mx.engine.push(bool, property="prioritized")
        elif how == "device":
            mx.engine.push(bool, context=mx.cpu(1))
        else:
            other = threading.Thread(target=variable.wait_to_read)
            other.start()
            other.join()
            assert order == [0, 1, 2]
        assert counted() == (1, 3)


def test_a_thread_that_ends_leaves_no_bulk(counted):
    order = []

    def program():
        mx.engine.set_bulk_size(10)
        mx.engine.push(lambda: order.append(1))
        mx.engine.push(lambda: order.append(2))

    thread = threading.Thread(target=program)
    thread.start()
    thread.join()
    mx.engine.waitall()
    assert order == [1, 2]


def test_other_threads_wait_for_what_is_in_a_bulk(counted):
    variable, order = mx.engine.Var(), []
    with mx.engine.bulk(100):
        mx.engine.push(lambda: order.append("mine"), writes=[variable])
        mx.engine.push(bool)
        other = threading.Thread(
            target=lambda: mx.engine.push(lambda: order.append("other"), reads=[variable])
        )
        other.start()
        other.join()
        mx.engine.waitall()
    assert order == ["mine", "other"]


def test_the_guilty_operation_is_named_and_only_its_readers_are_skipped(counted):
    bad, after, apart = (mx.engine.Var() for _ in range(3))
    done = []
    with mx.engine.bulk(10):
        mx.engine.push(bool, writes=[bad], name="good")
        mx.engine.push(lambda: 1 // 0, writes=[bad], name="guilty")
        mx.engine.push(lambda: done.append("after"), reads=[bad], writes=[after], name="after")
        mx.engine.push(lambda: done.append("apart"), writes=[apart], name="apart")
    with pytest.raises(MXNetError, match="operator guilty: ZeroDivisionError"):
        after.wait_to_read()
    apart.wait_to_read()
    assert done == ["apart"]


def test_bulk_size_is_restored(counted):
    assert mx.engine.set_bulk_size(10) == 0
    with mx.engine.bulk(3):
        assert mx.engine.set_bulk_size(5) == 3
    assert mx.engine.set_bulk_size(0) == 10


def test_naive_engine_has_no_bulks(use_engine):
    use_engine("NaiveEngine")
    done = []
    with mx.engine.bulk(10):
        mx.engine.push(lambda: done.append(1))
        assert done == [1]
