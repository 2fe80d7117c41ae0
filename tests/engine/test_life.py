"""Fork, signals and exit, in separate programs."""

import pytest

from tests.env.run import python

START = """
import os, signal, sys, threading, time
import mxcy as mx
variable, order = mx.engine.Var(), []
"""


def test_import_starts_no_thread(run_python):
    code = "import os, mxcy as mx; mx.engine; print(len(os.listdir('/proc/self/task')))"
    assert run_python(code, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1").strip() == "1"


@pytest.mark.parametrize("kind", ["ThreadedEngine", "ThreadedEnginePerDevice"])
def test_fork_with_pending_operations(run_python, kind):
    code = (
        START
        + """
for n in range(200):
    mx.engine.push(lambda n=n: (time.sleep(0.001), order.append(n)), writes=[variable])
child = os.fork()
assert order == list(range(200)), order
assert mx.engine.stats()["threads"] == 0
for n in range(200, 300):
    mx.engine.push(lambda n=n: order.append(n), writes=[variable])
variable.wait_to_read()
assert order == list(range(300)), order
if child == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
for _ in range(20):
    mx.engine.push(bool, writes=[variable])
    child = os.fork()
    if child == 0:
        mx.engine.push(bool, writes=[variable])
        mx.engine.waitall()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print("parent", len(order))
"""
    )
    assert run_python(code, MXNET_ENGINE_TYPE=kind).endswith("parent 300\n")


def test_fork_while_other_threads_push(run_python):
    code = (
        START
        + """
end = []
def program():
    while not end:
        mx.engine.push(lambda: order.append(1), writes=[variable])
        variable.wait_to_read()
threads = [threading.Thread(target=program) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        mx.engine.push(lambda: order.append("child"), writes=[variable])
        mx.engine.waitall()
        os._exit(0 if order[-1] == "child" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
end.append(1)
for thread in threads:
    thread.join()
mx.engine.waitall()
print("fine")
"""
    )
    assert run_python(code).strip() == "fine"


@pytest.mark.parametrize("wait", ["mx.engine.waitall()", "variable.wait_to_read()"])
def test_interrupts_end_a_wait(run_python, wait):
    code = (
        START
        + f"""
begin = threading.Event()
mx.engine.push(lambda: begin.wait(60), writes=[variable])
try:
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    {wait}
    print("waited to the end")
except KeyboardInterrupt:
    print("interrupted")
begin.set()
mx.engine.waitall()
"""
    )
    assert run_python(code).strip() == "interrupted"


def test_exit_finishes_what_was_pushed(run_python):
    code = (
        START
        + """
class Late:
    def __del__(self):
        mx.engine.push(lambda: print("late"), writes=[variable])
        mx.engine.waitall()
late = Late()
mx.engine.push(lambda: (time.sleep(0.2), print("done")), writes=[variable])
"""
    )
    assert run_python(code).split() == ["done", "late"]


def test_exit_by_an_exception_with_pending_operations(run_python):
    code = (
        START
        + """
for _ in range(100):
    mx.engine.push(lambda: time.sleep(0.001), writes=[variable])
sys.exit("the end")
"""
    )
    assert run_python(code, fails=True).strip() == "the end"


def test_unobserved_errors_are_reported_at_exit():
    code = (
        START
        + """
def fail(text):
    raise ValueError(text)
mx.engine.push(lambda: fail("seen"), writes=[variable])
try:
    variable.wait_to_read()
except mx.base.MXNetError:
    print("caught")
mx.engine.push(lambda: fail("unseen"), writes=[variable], name="last")
"""
    )
    done = python(code)
    assert done.out == "caught\n"
    expected = "mxcy: unhandled error of an asynchronous operation: Error in operator last: "
    assert done.err.startswith(expected + "ValueError: unseen") and len(done.err.splitlines()) == 1


def test_fork_within_an_operation(run_python):
    code = (
        START
        + """
def work():
    child = os.fork()
    if child == 0:
        os._exit(3)
    order.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
mx.engine.push(work, writes=[variable])
mx.engine.push(lambda: order.append("next"), writes=[variable])
variable.wait_to_read()
print(order)
"""
    )
    assert run_python(code).strip() == "[3, 'next']"


def test_threads_are_named_and_end(run_python):
    expected = ["mx-cpu-p0", "mx-cpu-p1", "mx-cpu0-w0", "mx-cpu0-w1", "mx-gpu1-c0"]
    code = (
        START
        + """
def names():
    tasks = os.listdir("/proc/self/task")
    return sorted(open(f"/proc/self/task/{task}/comm").read().strip() for task in tasks)
mx.engine.push(bool)
mx.engine.push(bool, property="prioritized")
mx.engine.push(bool, context=mx.gpu(1), property="copy_to")
mx.engine.waitall()
expected = {expected}
while [name for name in names() if name.startswith("mx-")] != expected:
    time.sleep(0.01)  # threads name themselves when they begin
print("named")
"""
    ).replace("{expected}", repr(expected))
    variables = {"MXNET_CPU_WORKER_NTHREADS": "2", "MXNET_CPU_PRIORITY_NTHREADS": "2"}
    assert run_python(code, MXNET_GPU_COPY_NTHREADS="1", **variables).strip() == "named"
