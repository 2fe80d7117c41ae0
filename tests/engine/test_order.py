"""The order of operations: random programs, priorities, queues of devices, threads."""

import random
import threading
import time

import pytest

import mxcy as mx

FEW = 50


def random_program(seed, length):
    """(reads, writes) of operations, as variable indices."""
    chance = random.Random(seed)
    for _ in range(length):
        used = chance.sample(range(FEW), chance.choice((1, 1, 2, 2, 3, 4)))
        split = chance.randint(0, len(used) - 1)
        yield used[:split], used[split:]


def step(number, reads, writes, values):
    """Run operation `number`: new values depend on all values it reads."""
    seen = hash((number, *(values[i] for i in reads), *(values[i] for i in writes)))
    for i in writes:
        values[i] = seen


def test_arrays_are_read_beside_other_readers_and_not_beside_writers():
    """Small calls may read arrays that queued operations read; writes wait."""
    large, few = mx.nd.ones((700, 700)), mx.nd.full((700, 1), 2)
    for turn in range(5):
        slow = mx.nd.dot(mx.nd.dot(large, large), few)  # reads `few` for a while
        before = few + turn
        few += 1
        after = few * 10
        slow_again = mx.nd.dot(large, few)
        few[:] = 2
        assert (before.asnumpy() == 2 + turn).all()
        assert (after.asnumpy() == 30).all()
        assert (slow.asnumpy() == 2 * 700 * 700).all()
        assert (slow_again.asnumpy() == 3 * 700).all()


def test_random_programs_match_serial_execution(engine):
    expected, values = [0] * FEW, [0] * FEW
    variables = [mx.engine.Var() for _ in range(FEW)]
    for number, (reads, writes) in enumerate(random_program(1, 10_000)):
        step(number, reads, writes, expected)

        def work(number=number, reads=reads, writes=writes):
            if number % 401 == 0:
                time.sleep(0.002)
            step(number, reads, writes, values)

        mx.engine.push(work, [variables[i] for i in reads], [variables[i] for i in writes])
    mx.engine.waitall()
    assert values == expected


def test_readers_run_at_the_same_time(use_engine):
    use_engine("ThreadedEnginePerDevice", workers=2)
    shared, meeting = mx.engine.Var(), threading.Barrier(2)
    for _ in range(2):
        mx.engine.push(lambda: meeting.wait(20), reads=[shared])
    mx.engine.waitall()


def test_one_worker_runs_one_at_a_time(use_engine):
    use_engine("ThreadedEnginePerDevice", workers=1)
    running, most = [], []

    def work():
        running.append(1)
        most.append(len(running))
        time.sleep(0.01)
        running.pop()

    for _ in range(5):
        mx.engine.push(work)
    mx.engine.waitall()
    assert max(most) == 1


def test_larger_priorities_come_first(use_engine):
    use_engine("ThreadedEnginePerDevice", priority_workers=1)
    started, begin, order = threading.Event(), threading.Event(), []
    mx.engine.push(lambda: (started.set(), begin.wait(20)), property="prioritized")
    assert started.wait(20)  # The worker is busy from here on.
    for priority in (1, 3, 2, 3, -1):
        mx.engine.push(
            lambda p=priority: order.append(p), priority=priority, property="prioritized"
        )
    begin.set()
    mx.engine.waitall()
    assert order == [3, 3, 2, 1, -1]


def test_without_priorities_in_the_order_of_pushes(use_engine):
    use_engine("ThreadedEngine", workers=1)
    order = []
    for priority in (1, 3, 2):
        mx.engine.push(lambda p=priority: order.append(p), priority=priority)
    mx.engine.waitall()
    assert order == [1, 3, 2]


def test_every_device_has_its_queues(use_engine):
    use_engine("ThreadedEnginePerDevice", workers=2)
    seen = set()
    for context in (mx.cpu(0), mx.cpu(1), mx.gpu(0)):
        for kind in ("normal", "prioritized", "copy_to"):
            mx.engine.push(
                lambda: seen.add(threading.get_native_id()), context=context, property=kind
            )
            mx.engine.waitall()
    queues = mx.engine.stats()["queues"]
    assert {name: queue["threads"] for name, queue in queues.items()} == {
        "cpu0": 2,
        "cpu1": 2,
        "cpu_priority": 4,
        "gpu0": 2,
        "gpu0_priority": 2,
        "gpu0_copy": 2,
    }
    assert {name: queue["run"] for name, queue in queues.items()} == {
        "cpu0": 2,
        "cpu1": 2,
        "cpu_priority": 2,
        "gpu0": 1,
        "gpu0_priority": 1,
        "gpu0_copy": 1,
    }
    assert len(seen) >= 6 and threading.get_native_id() not in seen


def test_many_threads_push_and_wait(engine):
    totals, variables = [0] * 8, [mx.engine.Var() for _ in range(8)]
    failures = []

    def program(seed):
        chance = random.Random(seed)
        try:
            for _ in range(1000):
                target, source = chance.sample(range(8), 2)

                def add(target=target):
                    before = totals[target]
                    time.sleep(0)  # lets other threads in, if there were any
                    totals[target] = before + 1

                mx.engine.push(add, [variables[source]], [variables[target]])
                if chance.random() < 0.05:
                    variables[target].wait_to_read()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=program, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    mx.engine.waitall()
    assert not failures and sum(totals) == 8 * 1000
    assert sum(variable.version for variable in variables) == 8 * 1000


def test_operation_may_push_on_its_own_variables(engine):
    variable, order = mx.engine.Var(), []

    def outer():
        mx.engine.push(lambda: order.append("inner"), writes=[variable])
        order.append("outer")

    mx.engine.push(outer, writes=[variable])
    variable.wait_to_read()
    assert order == ["inner", "outer"]


@pytest.mark.parametrize("busy", [False, True])
def test_asynchronous_operations_end_when_they_say_so(engine, busy):
    variable, order, threads = mx.engine.Var(), [], []
    if busy and engine != "NaiveEngine":
        mx.engine.push(lambda: time.sleep(0.05), writes=[variable])

    def start(done):
        threads.append(threading.get_ident())
        threading.Timer(0.05, lambda: (order.append("end"), done())).start()

    mx.engine.push(start, writes=[variable], property="async")
    mx.engine.push(lambda: order.append("next"), reads=[variable])
    mx.engine.waitall()
    assert order == ["end", "next"]
    if not busy or engine == "NaiveEngine":
        assert threads == [threading.get_ident()]


def test_asynchronous_operations_start_first(use_engine):
    """They only begin something, such as communication while the device computes."""
    use_engine("ThreadedEnginePerDevice", workers=1)
    variable, order, pushed = mx.engine.Var(), [], threading.Event()

    def start(name):
        return lambda done: (order.append(name), done())

    mx.engine.push(pushed.wait, writes=[variable])
    mx.engine.push(lambda: order.append("other"), reads=[variable])
    for name in ("first", "second"):
        mx.engine.push(start(name), reads=[variable], property="async")
    pushed.set()
    mx.engine.waitall()
    assert order == ["first", "second", "other"]


def test_an_asynchronous_operation_may_end_in_its_function(engine):
    """From then on it holds nothing."""
    variable, busy, order = mx.engine.Var(), mx.engine.Var(), []
    if engine != "NaiveEngine":
        mx.engine.push(lambda: time.sleep(0.05), writes=[busy])

    def start(done):
        done()
        mx.engine.push(lambda: order.append("later"), reads=[busy], writes=[variable])

    mx.engine.push(start, writes=[variable], property="async")
    mx.engine.waitall()
    assert order == ["later"]
