"""The memory pool among threads, forked processes, profiles and machines."""

import ctypes
import random
import threading

import pytest

import mxcy as mx
from mxcy._library import front
from mxcy._library.open import open_library
from tests.runtime.pools import MIB, counted, make


def test_threads_share_pooled_memory():
    pool, shelf, lock = make(), [], threading.Lock()

    def work(seed):
        draw = random.Random(seed)
        for _ in range(3000):
            size = draw.choice((64, 4096, 5000, 3 * MIB))
            with lock:
                shelf.append((pool.take(size), size))
                other = shelf.pop(draw.randrange(len(shelf))) if len(shelf) > 40 else None
            if other is not None:
                pool.give(*other)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({address for address, _ in shelf}) == len(shelf)
    assert pool.stats()["live_bytes"] == sum(pool.round_size(size) for _, size in shelf)
    for address, size in shelf:
        pool.give(address, size)
    hits, misses, live = counted(pool, "hits", "misses", "live_bytes")
    assert (hits + misses, live) == (12_000, 0)


FORK = """
import os, threading, time
import mxcy as mx
stop = False
def work():
    while not stop:
        mx.nd.ones((300,)) + 1
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(20):
    child = os.fork()
    if child == 0:
        assert mx.nd.ones((3,)).asnumpy().sum() == 3
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop = True
for thread in threads:
    thread.join()
print("done")
"""


@pytest.mark.filterwarnings("ignore:This process")
def test_a_fork_finds_no_lock_taken(run_python):
    assert run_python(FORK, OMP_NUM_THREADS="1").strip() == "done"


def test_profiler_records_pool_events():
    class Allocation(ctypes.Structure):
        _fields_ = [
            ("bytes", ctypes.c_int64),
            ("actual", ctypes.c_int64),
            ("device_type", ctypes.c_int32),
            ("device_id", ctypes.c_int32),
            ("reused", ctypes.c_int32),
            ("scope", ctypes.c_char_p),
            ("owner", ctypes.c_char_p),
        ]

    library, rows = open_library(), (Allocation * 100)()

    def living():
        count = library.mx_profile_live(rows, 100)
        return [
            (row.device_id, row.bytes, row.actual, row.reused)
            for row in rows[:count]
            if row.device_type == 3
        ]

    pool = front.Pool("Naive", 4096, 2 * MIB, 24, 0, 1, mx.cpu_pinned(7))
    library.mx_profile_set(8)
    try:
        data = pool.take(5000)
        assert living() == [(7, 5000, 8192, 0)]
        pool.give(data, 5000)
        assert living() == []
        pool.give(pool.take(5000), 5000)
    finally:
        library.mx_profile_set(0)
    assert living() == []


def machine(root, **files):
    files = {"proc/meminfo": "MemTotal: 1000 kB\nMemFree: 5 kB\nMemAvailable: 600 kB\n", **files}
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return front.host_memory(str(root))


def test_memory_of_a_machine(tmp_path):
    assert machine(tmp_path) == (600 * 1024, 1000 * 1024)
    available, total = mx.storage.memory_info()
    assert 0 < available <= total < 1 << 50


def test_limits_of_control_groups_version_2(tmp_path):
    group = "sys/fs/cgroup/a/b"
    files = {
        "proc/self/cgroup": "1:cpu:/x\n0::/a/b\n",
        f"{group}/memory.max": "max\n",
        f"{group}/memory.current": "500000\n",
        "sys/fs/cgroup/a/memory.max": "700000\n",
        "sys/fs/cgroup/a/memory.current": "400000\n",
        "sys/fs/cgroup/a/memory.stat": "anon 1\ninactive_file 30000\nfile 90000\n",
    }
    assert machine(tmp_path, **files) == (700000 - 370000, 700000)


def test_limits_of_control_groups_version_1(tmp_path):
    group = "sys/fs/cgroup/memory"
    files = {
        "proc/self/cgroup": "5:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n",
        f"{group}/memory.limit_in_bytes": "9223372036854771712\n",
        f"{group}/docker/x/memory.limit_in_bytes": "300000\n",
        f"{group}/docker/x/memory.usage_in_bytes": "310000\n",
    }
    assert machine(tmp_path, **files) == (0, 300000)


def test_control_group_hidden_in_a_container(tmp_path):
    files = {
        "proc/self/cgroup": "0::/hidden/away\n",
        "sys/fs/cgroup/memory.max": "200000\n",
        "sys/fs/cgroup/memory.current": "50000\n",
    }
    assert machine(tmp_path, **files) == (150000, 200000)
