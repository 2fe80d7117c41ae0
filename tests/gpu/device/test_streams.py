"""Streams: operations are launched asynchronously, and marks keep them in order.

Each thread has a stream. The tests pass operations to threads one by one, so launches are in
program order, and the stand-in alone decides when they run.
"""

import ctypes
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy.gpu import driver
from tests.gpu.device.test_launches import counts, standin
from tests.gpu.standin.seam import is_chosen

GPU = mx.gpu(0)
ORDERS = ["lazy", "eager", *(f"random:{seed}" for seed in range(8))]


@pytest.fixture
def threads():
    """Four threads with a stream each, which run one operation at a time."""
    pools = [ThreadPoolExecutor(1) for _ in range(4)]
    for pool in pools:
        pool.submit(lambda: (mx.nd.ones((2,), ctx=GPU) + 1).wait_to_read()).result()
    mx.nd.waitall()
    yield pools
    mx.nd.waitall()
    for pool in pools:
        pool.shutdown()


@pytest.fixture(autouse=True)
def lazy_again():
    yield
    if is_chosen():
        standin().standin_deaf(0)
        standin().standin_order(b"lazy")


def run_in(order):
    """Set the stand-in's order of execution; a GPU has its own."""
    if is_chosen():
        standin().standin_order(order.encode())


def differing(arrays, expected):
    """Count the arrays that differ from NumPy's."""
    pairs = zip(arrays, expected, strict=True)
    return sum(not np.array_equal(array.asnumpy(), values) for array, values in pairs)


def random_operations(threads, order, steps=60, count=6):
    """Count wrong arrays after operations of random streams on random arrays."""
    rng = np.random.default_rng(5)
    expected = rng.standard_normal((count, 40)).astype(np.float32)
    arrays = [mx.nd.array(values, ctx=GPU) for values in expected]
    mx.nd.waitall()
    run_in(order)
    for _ in range(steps):
        a, b, c = (int(i) for i in rng.choice(count, 3, replace=False))
        thread = threads[int(rng.integers(4))]
        thread.submit(mx.nd.broadcast_sub, arrays[a], arrays[b], out=arrays[c]).result()
        expected[c] = expected[a] - expected[b]
    return differing(arrays, expected)


def copies_between(threads, order, steps=40, count=6):
    """Count wrong arrays and reads after operations, uploads and downloads of random threads."""
    rng = np.random.default_rng(6)
    expected = rng.standard_normal((count, 40)).astype(np.float32)
    arrays = [mx.nd.array(values, ctx=GPU) for values in expected]
    mx.nd.waitall()
    run_in(order)
    wrong = 0
    for _ in range(steps):
        a, b, c = (int(i) for i in rng.choice(count, 3, replace=False))
        thread, action = threads[int(rng.integers(4))], int(rng.integers(4))
        if action == 0:
            expected[c] = rng.standard_normal(40)
            thread.submit(arrays[c].__setitem__, slice(None), expected[c].copy()).result()
        elif action == 1:
            wrong += not np.array_equal(thread.submit(arrays[c].asnumpy).result(), expected[c])
        else:
            thread.submit(mx.nd.broadcast_sub, arrays[a], arrays[b], out=arrays[c]).result()
            expected[c] = expected[a] - expected[b]
    return wrong + differing(arrays, expected)


def overwriting(threads, order, steps=30):
    """Count wrong arrays after a stream overwrites what another one has yet to read."""
    constants = [mx.nd.full((40,), float(step), ctx=GPU) for step in range(steps)]
    shared, one = mx.nd.zeros((40,), ctx=GPU), mx.nd.ones((40,), ctx=GPU)
    copies = [mx.nd.zeros((40,), ctx=GPU) for _ in range(steps)]
    mx.nd.waitall()
    run_in(order)
    for step in range(steps):
        threads[0].submit(mx.nd.broadcast_mul, shared, one, out=copies[step]).result()
        threads[1].submit(mx.nd.broadcast_mul, constants[step], one, out=shared).result()
    return differing(copies, [np.full(40, max(s - 1, 0), np.float32) for s in range(steps)])


@pytest.mark.parametrize("order", ORDERS)
def test_threads_have_streams_in_order(threads, order):
    assert driver.streams(0) >= 4
    assert random_operations(threads, order) == 0
    assert overwriting(threads, order) == 0
    assert copies_between(threads, order) == 0


@pytest.mark.parametrize("program", [random_operations, copies_between, overwriting])
def test_without_waits_results_are_wrong(threads, program):
    """The tests above fail if streams do not wait for each other."""
    wrong = 0
    for order in ORDERS[2:]:
        standin().standin_deaf(1)
        wrong += program(threads, order)
        standin().standin_deaf(0)
        mx.nd.waitall()
    assert wrong > 0


def test_launches_are_asynchronous(threads):
    """The host waits only when it reads."""
    x = mx.nd.ones((8,), ctx=GPU)
    y = (x + 1) * 2
    y.wait_to_read()
    before = counts().waits
    for _ in range(10):
        y = y * 0.5 + 1
    assert counts().waits == before
    np.testing.assert_allclose(y.asnumpy(), 2 + 2 * 0.5**10, rtol=1e-6)
    assert counts().waits > before


def test_copies_wait_for_what_they_copy_alone(threads):
    """A copy to the host does not wait for later launches on other memory."""
    x, y = (mx.nd.ones((8,), ctx=GPU) for _ in range(2))
    thread = threads[0]

    def work():
        z = y
        for _ in range(10):
            z = z * 0.5 + 1
        before = standin().standin_finished()
        x.asnumpy()
        x[:] = np.full(8, 3, "float32")
        ran = standin().standin_finished() - before
        z.wait_to_read()
        return ran, standin().standin_finished() - before

    mx.nd.waitall()
    run_in("lazy")
    x_alone, in_all = thread.submit(work).result()
    assert x_alone <= 8  # the two copies, and waits for completed events
    assert in_all >= x_alone + 20


@pytest.mark.parametrize("kind", ["normal", "prioritized"])
def test_prioritized_operations_have_separate_streams(kind):
    """Prioritized operations have streams with priority; lower numbers come first."""
    priority, library = (
        ctypes.c_int(1),
        ctypes.CDLL(os.environ.get("MXCY_CUDA_DRIVER", "libcuda.so.1")),
    )
    x, y = (mx.nd.ones((8,), ctx=GPU) for _ in range(2))

    def work():
        library.cuStreamGetPriority(ctypes.c_void_p(driver.stream(0)), ctypes.byref(priority))
        y[:] = 2

    mx.engine.push(work, [x], [y], property=kind, context=GPU)
    y.wait_to_read()
    assert (priority.value < 0) == (kind == "prioritized")
    assert (y.asnumpy() == 2).all()


def test_one_event_serves_many_waits(threads):
    arrays = [mx.nd.ones((8,), ctx=GPU) for _ in range(8)]
    mx.nd.waitall()
    made = [threads[0].submit(mx.nd.exp, array).result() for array in arrays]
    before = counts()
    results = [threads[1].submit(mx.nd.log, array).result() for array in made]
    after = counts()
    assert after.records - before.records <= 1
    assert after.orders - before.orders <= 1
    for result in results:
        np.testing.assert_allclose(result.asnumpy(), np.ones(8), rtol=1e-5)


@pytest.mark.parametrize("order", ["lazy", "random:3"])
def test_freed_memory_keeps_its_marks(threads, order):
    """A stream may get memory that another one still uses."""
    run_in(order)
    results = []
    for number in range(12):
        thread = threads[number % 4]

        def chain(number=number):
            x = mx.nd.full((64,), float(number), ctx=GPU)
            for _ in range(4):
                x = x + 1  # the memory of the previous x returns to the pool
            return x

        results.append(thread.submit(chain).result())
    for number, result in enumerate(results):
        np.testing.assert_array_equal(result.asnumpy(), np.full(64, number + 4, "float32"))


def test_streams_are_handed_on(threads):
    """A new thread takes the stream of one that has ended."""
    before = driver.streams(0)
    for _ in range(5):
        with ThreadPoolExecutor(1) as pool:
            result = pool.submit(lambda: mx.nd.ones((4,), ctx=GPU) + 1).result()
        np.testing.assert_array_equal(result.asnumpy(), np.full(4, 2, "float32"))
    assert driver.streams(0) <= before + 1


NAIVE = """
import sys
sys.path.insert(0, {root!r})
from tests.gpu.standin.seam import put_under_cupy
put_under_cupy()
import mxcy as mx
from tests.gpu.device.test_launches import counts
x = mx.nd.ones((8,), ctx=mx.gpu(0))
y = x + 1
before = counts().waits
y = y * 2
print(counts().waits - before)
"""


@pytest.mark.skipif(not is_chosen(), reason="it asks the stand-in what it was given")
@pytest.mark.parametrize("engine", ["NaiveEngine", "ThreadedEngine"])
def test_the_naive_engine_waits_after_each_call(engine):
    root = str(Path(__file__).resolve().parents[3])
    environment = {**os.environ, "MXNET_ENGINE_TYPE": engine}
    program = [sys.executable, "-c", NAIVE.format(root=root)]
    printed = subprocess.run(program, env=environment, capture_output=True, check=True).stdout
    assert int(printed) == (1 if engine == "NaiveEngine" else 0)
