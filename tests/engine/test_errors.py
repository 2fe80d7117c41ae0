"""Failed operations and their errors."""

import gc
import re
import threading

import pytest

import mxcy as mx
from mxcy.base import MXNetError
from tests.conditions import await_that


def fail(text="planned"):
    raise ValueError(text)


def place_of_next_line():
    import sys

    return f"test_errors.py:{sys._getframe(1).f_lineno + 1}"


@pytest.mark.parametrize("wait", ["wait_to_read", "wait_to_write"])
def test_a_wait_raises_once_and_names_operator_and_line(threaded, wait):
    variable = mx.engine.Var()
    place = place_of_next_line()
    mx.engine.push(fail, writes=[variable], name="log")
    await_that(lambda: variable.failed)
    assert not variable.idle
    with pytest.raises(MXNetError) as caught:
        getattr(variable, wait)()
    assert str(caught.value) == f"Error in operator log: ValueError: planned (called at {place})"
    assert not variable.failed and variable.idle and variable.version == 0
    variable.wait_to_read()
    mx.engine.waitall()  # it was raised


def test_readers_of_a_failed_variable_are_skipped_and_fail(threaded):
    variables = [mx.engine.Var() for _ in range(5)]
    done = []
    mx.engine.push(fail, writes=[variables[0]], name="first")
    for source, target in zip(variables, variables[1:], strict=False):
        mx.engine.push(lambda: done.append(1), [source], [target], name="later")
    for variable in reversed(variables):
        with pytest.raises(MXNetError, match="operator first"):
            variable.wait_to_read()
    assert not done


def test_writing_heals(threaded):
    first, second = mx.engine.Var(), mx.engine.Var()
    mx.engine.push(fail, writes=[first])
    mx.engine.push(bool, reads=[first], writes=[second])
    with pytest.raises(MXNetError):
        second.wait_to_read()
    mx.engine.push(bool, writes=[first])
    first.wait_to_read()
    mx.engine.push(bool, reads=[first], writes=[second])
    second.wait_to_read()
    assert first.idle and second.idle


def test_pending_readers_see_an_error_before_it_ends(threaded):
    first, second, other, gate = *[mx.engine.Var() for _ in range(3)], threading.Event()
    mx.engine.push(fail, writes=[first])
    mx.engine.push(lambda: gate.wait(10), writes=[other])
    mx.engine.push(bool, reads=[first, other], writes=[second])  # runs after the wait began
    threading.Timer(0.05, gate.set).start()
    with pytest.raises(MXNetError, match="planned"):
        first.wait_to_read()
    with pytest.raises(MXNetError, match="planned"):
        second.wait_to_read()


def test_what_could_not_be_changed_is_usable_once_the_error_was_raised(threaded):
    state, result, again = [mx.engine.Var() for _ in range(3)]
    mx.engine.push(fail, reads=[state], writes=[state, result])
    with pytest.raises(MXNetError):
        result.wait_to_read()
    assert not state.failed
    mx.engine.push(bool, reads=[state], writes=[again])
    again.wait_to_read()


def test_new_readers_of_what_waitall_left_fail_anew(threaded):
    first, second, third = [mx.engine.Var() for _ in range(3)]
    mx.engine.push(fail, writes=[first])
    mx.engine.push(bool, reads=[first], writes=[second])
    with pytest.raises(MXNetError):
        mx.engine.waitall()
    mx.engine.push(bool, reads=[second], writes=[third])
    with pytest.raises(MXNetError, match="planned"):
        mx.engine.waitall()
    for variable in (first, second, third):
        variable.wait_to_read()


def test_noskip_runs_all_the_same(threaded):
    variable, done = mx.engine.Var(), []
    mx.engine.push(fail, writes=[variable])
    mx.engine.push(lambda: done.append(1), reads=[variable], property="noskip")
    with pytest.raises(MXNetError):
        mx.engine.waitall()
    assert done == [1]


def test_waitall_raises_the_first_and_forgets_the_others(threaded):
    shared, *variables = [mx.engine.Var() for _ in range(4)]  # shared: one after the other
    for number, variable in enumerate(variables):
        mx.engine.push(lambda n=number: fail(f"number {n}"), writes=[shared, variable])
    with pytest.raises(MXNetError, match="number 0"):
        mx.engine.waitall()
    mx.engine.waitall()
    assert mx.engine.stats()["errors"] == 0
    variables[0].wait_to_read()
    for variable in variables[1:]:
        with pytest.raises(MXNetError):
            variable.wait_to_read()


def test_a_thousand_failures_all_surface_and_none_twice(threaded):
    variables = [mx.engine.Var() for _ in range(1000)]
    for number, variable in enumerate(variables):
        mx.engine.push(lambda n=number: fail(f"number {n}."), writes=[variable])
    for number in range(0, 1000, 2):
        with pytest.raises(MXNetError, match=f"number {number}[.]"):
            variables[number].wait_to_read()
    # A wait for everything would raise the others.
    await_that(lambda: not mx.engine.stats()["pending"])
    assert mx.engine.stats()["errors"] == 500
    first = mx.engine.stats()
    with pytest.raises(MXNetError, match="number [0-9]*[13579][.]") as caught:  # not those above
        mx.engine.waitall()
    raised = int(re.search("number ([0-9]+)", str(caught.value))[1])
    mx.engine.waitall()
    assert mx.engine.stats()["failed"] == first["failed"]
    variables[raised].wait_to_read()
    for number in sorted({*range(1, 1000, 2)} - {raised}):
        with pytest.raises(MXNetError, match=f"number {number}[.]"):
            variables[number].wait_to_read()
    mx.engine.waitall()


def test_failures_one_by_one_through_waitall(threaded):
    variable = mx.engine.Var()
    for number in range(1000):
        mx.engine.push(lambda n=number: fail(f"number {n}."), writes=[variable])
        with pytest.raises(MXNetError, match=f"number {number}[.]"):
            mx.engine.waitall()
        mx.engine.waitall()


def test_errors_of_forgotten_variables_are_not_lost(threaded):
    mx.engine.push(fail, writes=[mx.engine.Var()])
    gc.collect()
    with pytest.raises(MXNetError, match="planned"):
        mx.engine.waitall()


def test_the_type_of_index_errors_is_kept(threaded):
    variable = mx.engine.Var()

    def take():
        raise IndexError("index 7 is out of bounds")

    mx.engine.push(take, writes=[variable])
    with pytest.raises(IndexError, match="Error in operator take: index 7 is out of bounds"):
        variable.wait_to_read()


def test_naive_engine_raises_at_the_call(use_engine):
    use_engine("NaiveEngine")
    variable = mx.engine.Var()
    with pytest.raises(MXNetError, match="operator fail: ValueError: planned"):
        mx.engine.push(fail, writes=[variable])
    variable.wait_to_read()
    assert variable.idle
    mx.engine.waitall()


def test_an_asynchronous_operation_fails_with_a_text(threaded):
    variable = mx.engine.Var()
    mx.engine.push(
        lambda done: done("no network"), writes=[variable], name="fetch", property="async"
    )
    with pytest.raises(MXNetError, match="operator fetch: no network"):
        variable.wait_to_read()


def test_an_asynchronous_operation_whose_completion_is_lost_fails(engine):
    variable = mx.engine.Var()
    with pytest.raises(MXNetError, match="completion callback was discarded"):
        mx.engine.push(lambda done: None, writes=[variable], property="async")
        variable.wait_to_read()


def test_an_operation_that_would_wait_for_itself_fails(threaded):
    variable = mx.engine.Var()
    mx.engine.push(mx.engine.waitall, writes=[variable])
    with pytest.raises(MXNetError, match="would wait for itself"):
        variable.wait_to_read()


def test_bad_arguments():
    with pytest.raises(KeyError):
        mx.engine.push(bool, property="sometimes")
    with pytest.raises(AttributeError):
        mx.engine.push(bool, reads=["no variable"])


def test_reading_elements_of_a_failed_array_raises(threaded):
    failed = mx.nd.ones((4, 4))
    row = failed[1:3]  # a view waits for nothing
    for read in (
        lambda: float(failed[0, 0]),
        lambda: int(row[0, 1]),
        lambda: failed[0, 0].asscalar(),
        lambda: failed[:, 1:3].asnumpy(),
        lambda: failed.reshape((2, 8)).asnumpy(),
    ):
        mx.engine.push(lambda: fail("elements"), writes=[failed])
        with pytest.raises(MXNetError, match="elements"):
            read()
    failed[:] = 2
    assert row[:, 1:3].asnumpy().tolist() == [[2, 2], [2, 2]] and float(failed[3, 3]) == 2


def test_writes_to_elements_wait_for_what_still_reads_them(threaded):
    array, seen, gate = mx.nd.zeros((4, 4)), [], threading.Event()

    def look():
        gate.wait(10)
        seen.append(array.held_view().sum())

    mx.engine.push(look, reads=[array])
    threading.Timer(0.05, gate.set).start()
    array[:, 1:3] = 1
    assert seen == [0] and array[:, 1].asnumpy().tolist() == [1, 1, 1, 1]
