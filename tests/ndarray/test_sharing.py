"""Arrays in memory shared by processes."""

import multiprocessing
import os
import pickle
import signal

import numpy as np
import pytest

import mxcy as mx
from mxcy._library.shared_memory import Segment
from mxcy.context import cpu_shared
from mxcy.ndarray._exchange import sharing
from tests.shared_memory import named_segments

sharing.register()


def shared(shape=(2, 3), dtype="float32"):
    return mx.nd.ones(shape, ctx=cpu_shared(), dtype=dtype)


def in_child(function):
    child = os.fork()
    if child == 0:
        try:
            function()
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def test_making_them():
    for array in (
        shared(),
        mx.nd.array([[1, 1, 1]] * 2, ctx="cpu_shared(0)"),
        mx.nd.ones((2, 3)).as_in_context(cpu_shared()),
        mx.nd.ones((2, 3)).copyto(cpu_shared()),
    ):
        assert array.context == cpu_shared(0) and isinstance(array.owner, Segment)
        assert array.address % 64 == 0 and array.asnumpy().tolist() == [[1] * 3] * 2
    with mx.np_shape():
        assert mx.nd.zeros((0, 3), ctx=cpu_shared()).context == cpu_shared(0)


def test_forked_processes_write_to_the_same_memory():
    array = shared()
    view = array[1]

    def write():
        array[0, 0] = 5
        view[:] = 7

    in_child(write)
    assert array.asnumpy().tolist() == [[5, 1, 1], [7, 7, 7]]


def test_results_are_not_shared():
    # As in MXNet 1.9.1: operators take arrays of all CPU contexts, results are on the CPU.
    array, plain, pinned = shared(), mx.nd.ones((2, 3)), mx.nd.ones((2, 3), ctx=mx.cpu_pinned())
    for result in (
        array + 1,
        array + plain,
        plain + array,
        pinned + array,
        mx.nd.dot(array, plain.T),
    ):
        assert result.context == mx.cpu(0)
    assert (mx.nd.ones((1,), ctx=mx.cpu(1)) + mx.nd.ones((1,))).context == mx.cpu(1)
    assert array[0:1].context == array.reshape((3, 2)).context == cpu_shared(0)
    array += 1
    assert array.context == cpu_shared(0) and array.asnumpy().tolist() == [[2] * 3] * 2


def answer(there, back):
    array = there.get()
    array *= 2
    back.put(array[1:])
    there.get()  # until it has arrived


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_queues_send_them_without_a_copy(method):
    context = multiprocessing.get_context(method)
    there, back = context.Queue(), context.Queue()
    process = context.Process(target=answer, args=(there, back), daemon=True)
    process.start()
    array = shared()
    there.put(array)
    row = back.get(timeout=60)
    assert array.asnumpy().tolist() == [[2] * 3] * 2
    assert row.shape == (1, 3) and row.context == cpu_shared(0)
    row[:] = 9
    assert array.asnumpy().tolist() == [[2] * 3, [9] * 3]
    assert array.owner.users == 3  # two here and one there
    there.put(None)
    process.join(60)
    assert process.exitcode == 0


def test_other_arrays_are_copied_to_be_sent():
    reader, writer = multiprocessing.Pipe()
    for array in (
        mx.nd.arange(6).reshape((2, 3)),
        mx.nd.array([1.5, 2]).astype("bfloat16"),
        mx.nd.array(3, dtype="int8"),
    ):
        writer.send(array)
        arrived = reader.recv()
        assert arrived.context == cpu_shared(0)
        assert arrived.dtype == array.dtype and arrived.shape == array.shape
        assert (arrived.astype("float32").asnumpy() == array.astype("float32").asnumpy()).all()
    with mx.np_shape():
        writer.send(mx.nd.zeros((0, 2)))
        assert reader.recv().shape == (0, 2)


def test_ordinary_pickles_hold_the_elements():
    array = pickle.loads(pickle.dumps(shared()))
    assert array.context == mx.cpu(0) and array.asnumpy().tolist() == [[1] * 3] * 2


def test_no_shared_memory_leaks():
    before = len(os.listdir("/proc/self/fd"))
    arrays = [shared((100, 100)) for _ in range(20)]
    assert named_segments() == []

    def be_killed():
        more = [shared((100, 100)) for _ in range(20)]
        assert named_segments() == []
        os.kill(os.getpid(), signal.SIGKILL)
        del more

    in_child(be_killed)
    del arrays
    assert len(os.listdir("/proc/self/fd")) == before and named_segments() == []


def test_too_much():
    with pytest.raises(
        mx.MXNetError, match=r"cpu_shared\(0\): cannot share \d{15} bytes.*/dev/shm"
    ):
        mx.nd.empty((1 << 47,), ctx=cpu_shared())
    assert shared().asnumpy().sum() == 6


def test_shared_memory_exhausted(run_python):
    code = """
import resource
import mxcy as mx
resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
kept = mx.nd.zeros((10000,), ctx="cpu_shared(0)")
try:
    mx.nd.zeros((30000,), ctx="cpu_shared(0)")
except mx.MXNetError as error:
    print(error)
kept[:] = 1
"""
    assert "cpu_shared(0): cannot share 120000 bytes of memory" in run_python(code)


def test_a_small_dev_shm_does_no_harm(run_python):
    code = """
import ctypes, os
import mxcy as mx
libc = ctypes.CDLL(None, use_errno=True)
NEWNS, PRIVATE = 0x20000, 1 << 14 | 1 << 18
if libc.unshare(NEWNS) or libc.mount(b"none", b"/", None, PRIVATE, None) or libc.mount(
    b"tmpfs", b"/dev/shm", b"tmpfs", 0, b"size=64k"
):
    print("cannot:", os.strerror(ctypes.get_errno()))
else:
    assert os.statvfs("/dev/shm").f_blocks * os.statvfs("/dev/shm").f_bsize == 65536
    array = mx.nd.ones((100000,), ctx="cpu_shared(0)")
    child = os.fork()
    if child == 0:
        array[:] = 2
        os._exit(0)
    os.waitpid(child, 0)
    print(array.asnumpy().sum())
"""
    printed = run_python(code)
    if printed.startswith("cannot"):
        pytest.skip(f"needs a file system of its own: {printed}")
    assert printed.strip() == "200000.0"


def test_segments():
    first = Segment(100)
    assert first.users == 1 and first.size == 100
    second = Segment.attached(os.dup(first.fd), 100, keep=False)
    assert first.users == second.users == 2 and second.fd == -1
    first.view(90, 10)[:] = b"0123456789"
    view = second.view(95, 5)
    assert bytes(view) == b"56789"
    del second
    assert bytes(view) == b"56789" and first.users == 2  # the view holds the segment
    del view
    assert first.users == 1
    with pytest.raises(mx.MXNetError, match="bytes 95 to 105 exceed a segment of 100"):
        first.view(95, 10)
    with pytest.raises(mx.MXNetError, match="has 164 bytes, expected 264"):
        Segment.attached(os.dup(first.fd), 200)
    with pytest.raises(mx.MXNetError, match="not a shared memory segment"):
        Segment.attached(10**6, 200)


def test_recycling(run_python):
    code = """
import os
from mxcy._library.shared_memory import Segment, recycle

recycle(2)
first = Segment(1000)
address = first.address
del first
second = Segment(900)
assert second.address == address and second.size == 1000
second.lend()
other = os.dup(second.fd)
del second  # somebody is going to attach it
assert Segment(1000).address != address
other = Segment.attached(other, 1000, keep=False, lent=True)
other.view(0, 1)[0] = 7
assert Segment(1000).address != address
del other
assert Segment(1000).view(0, 1)[0] == 7
before = len(os.listdir("/proc/self/fd"))
for size in range(10):
    Segment(10 ** 4 * 3 ** size)
assert len(os.listdir("/proc/self/fd")) == before
"""
    run_python(code)


def test_arrays_over_memory_of_others():
    memory = memoryview(bytearray(np.arange(4, dtype="float32").tobytes()))
    array = sharing.over(mx.nd.NDArray, memory, (2, 2), 0)
    assert array.asnumpy().tolist() == [[0, 1], [2, 3]]
    array[:] = 1
    assert np.frombuffer(memory, "float32").tolist() == [1] * 4
