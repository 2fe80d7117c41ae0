"""Engine variables: type, threads, output."""

import pytest

from tests.env.run import python

STATS = """
import json
import mxcy as mx
"""
SHOW = "\nprint(json.dumps(mx.engine.stats()))"


@pytest.mark.parametrize("name", ["NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice"])
def test_types(name):
    program = (
        STATS
        + """
import threading
def fail():
    raise ValueError("planned")
variable, threads = mx.engine.Var(), []
mx.engine.push(lambda: threads.append(threading.get_ident()))
mx.engine.waitall()
found = [mx.engine.stats()["type"], threads == [threading.get_ident()]]
try:
    mx.engine.push(fail, writes=[variable])
    found.append("called")
    variable.wait_to_read()
except mx.base.MXNetError as error:
    found.append(str(error).startswith("Error in operator fail: ValueError: planned"))
print(json.dumps(found))
"""
    )
    naive = name == "NaiveEngine"
    expected = [name, naive, True] if naive else [name, naive, "called", True]
    default = name == "ThreadedEnginePerDevice"
    for spelling in (name, name + "Async"):
        done = python(program, MXNET_ENGINE_TYPE=spelling)
        assert done.value == expected
        announced = f"MXNet start using engine: {spelling}\n"
        assert done.err == ("" if default and spelling == name else announced)


def test_bad_types():
    done = python("import mxcy", fails=True, MXNET_ENGINE_TYPE="FastEngine")
    for part in ("MXNET_ENGINE_TYPE", "FastEngine", "NaiveEngine", "ThreadedEnginePerDeviceAsync"):
        assert part in done.err.splitlines()[-1]


def test_one_queue_has_a_thread_for_each_core():
    program = (
        STATS
        + """
from mxcy._base import cpus
mx.engine.push(bool)
stats = mx.engine.stats()
print(json.dumps([stats["queues"]["all"]["threads"], min(16, cpus.usable_cores())]))
"""
    )
    threads, expected = python(program, MXNET_ENGINE_TYPE="ThreadedEngine").value
    assert threads == expected


OVERLAP = (
    STATS
    + """
import threading
import time
meeting = threading.Barrier(2)
def meet():
    try:
        meeting.wait(WAIT)
    except threading.BrokenBarrierError:
        pass
    return meeting.broken
for _ in range(2):
    mx.engine.push(meet, context=CONTEXT, property=PROPERTY)
mx.engine.waitall()
print(json.dumps([meeting.broken, mx.engine.stats()]))
"""
)


def overlap(wait, context="mx.cpu()", kind="normal", **variables):
    """Whether two operations ran concurrently, and the engine's statistics."""
    program = OVERLAP.replace("WAIT", str(wait)).replace("CONTEXT", context)
    broken, stats = python(program.replace("PROPERTY", repr(kind)), **variables).value
    return not broken, stats


def test_cpu_workers():
    both, stats = overlap(20, MXNET_CPU_WORKER_NTHREADS="2")
    assert both and stats["cpu0_workers"] == 2 and stats["queues"]["cpu0"]["threads"] == 2
    both, stats = overlap(0.3)
    assert not both and stats["cpu0_workers"] == 1 and stats["queues"]["cpu0"]["threads"] == 1
    for bad in ("0", "two"):
        done = python("import mxcy", fails=True, MXNET_CPU_WORKER_NTHREADS=bad)
        assert "MXNET_CPU_WORKER_NTHREADS" in done.err and "1 or more" in done.err


def test_workers_share_the_team():
    program = (
        STATS
        + """
import ctypes
import threading
from mxcy import libinfo
library = ctypes.CDLL(libinfo.find_lib_path()[0])
found = [library.mx_threads()]
mx.engine.push(lambda: found.append(library.mx_threads()))
mx.engine.push(lambda: found.append(library.mx_threads()), property="prioritized")
mx.engine.waitall()
print(json.dumps(sorted(found)))
"""
    )
    variables = {"OMP_NUM_THREADS": "7", "MXNET_CPU_PRIORITY_NTHREADS": "9"}
    assert python(program, MXNET_CPU_WORKER_NTHREADS="3", **variables).value == [1, 2, 7]
    assert python(program, **variables).value == [1, 7, 7]


def test_priority_workers():
    both, stats = overlap(20, kind="prioritized", MXNET_CPU_PRIORITY_NTHREADS="2")
    assert both and stats["cpu_priority"] == stats["queues"]["cpu_priority"]["threads"] == 2
    program = (
        STATS
        + """
import threading
started, begin, order = threading.Event(), threading.Event(), []
mx.engine.push(lambda: (started.set(), begin.wait()), property="prioritized")
assert started.wait(60)  # The worker is busy from here on.
for priority in (1, 3, 2):
    mx.engine.push(lambda p=priority: order.append(p), priority=priority, property="prioritized")
begin.set()
mx.engine.waitall()
print(json.dumps(order))
"""
    )
    assert python(program, MXNET_CPU_PRIORITY_NTHREADS="1").value == [3, 2, 1]


def test_gpu_workers():
    both, stats = overlap(20, "mx.gpu(0)")
    assert both and stats["gpu_workers"] == stats["queues"]["gpu0"]["threads"] == 2
    variables = {"MXNET_GPU_WORKER_NTHREADS": "1", "MXNET_GPU_COPY_NTHREADS": "2"}
    assert not overlap(0.3, "mx.gpu(0)", **variables)[0]
    both, stats = overlap(20, "mx.gpu(0)", "copy_to", **variables)
    assert both and stats["gpu_copy"] == stats["queues"]["gpu0_copy"]["threads"] == 2
    assert not overlap(0.3, "mx.gpu(0)", "copy_from", MXNET_GPU_COPY_NTHREADS="1")[0]


def test_info():
    program = (
        STATS
        + """
import time
variable = mx.engine.Var()
mx.engine.push(lambda: time.sleep(1), writes=[variable], name="sleep")
variable.wait_to_read()
"""
    )
    lines = python(program, MXNET_ENGINE_INFO="1").err.splitlines()
    assert set(lines) == {"mxcy engine: runs sleep", "mxcy engine: waits for a variable"}
    assert python(program).err == ""
