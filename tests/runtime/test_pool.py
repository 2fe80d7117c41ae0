"""Memory pools: policies, reuse, reserve, release, exhaustion, threads."""

import ctypes
import random
import threading

import pytest

from mxcy.base import MXNetError
from tests.runtime.pools import MIB, counted, make

LOTS = 1 << 40
SIZE_POINTER = ctypes.POINTER(ctypes.c_size_t)
LIBC = ctypes.CDLL(None)
LIBC.aligned_alloc.restype = ctypes.c_void_p
LIBC.aligned_alloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
LIBC.free.argtypes = [ctypes.c_void_p]


class Device(ctypes.Structure):
    """An ``mx_pool_source``: this machine's memory, which tells other figures of what is free."""

    _fields_ = [
        ("alloc", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)),
        ("free", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)),
        ("figures", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, *[SIZE_POINTER] * 2)),
        ("context", ctypes.c_void_p),
    ]

    def __init__(self, total, free=None):
        self.total, self.free_figures = total, list(free or [total])
        kinds = dict(self._fields_)
        super().__init__(
            kinds["alloc"](lambda context, size: LIBC.aligned_alloc(64, size)),
            kinds["free"](lambda context, address, size: LIBC.free(address)),
            kinds["figures"](self._tell),
        )

    def _tell(self, context, coming, free, total):
        """Report the figures in order, the last one forever; queries consume none."""
        free[0], total[0] = self.free_figures[0], self.total
        if coming and len(self.free_figures) > 1:
            del self.free_figures[0]

    @property
    def address(self):
        return ctypes.addressof(self)


# --- policies ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "rounded"),
    [
        (1, 4096),
        (4096, 4096),
        (4097, 8192),
        (2097152, 2097152),
        (2097153, 4194304),
        (3 * MIB, 4 * MIB),
    ],
)
def test_naive_rounds_to_pages_and_large_steps(size, rounded):
    pool = make()
    assert pool.round_size(size) == pool.bucket(size) == rounded


@pytest.mark.parametrize(
    ("size", "rounded", "bucket"),
    [
        (1, 4096, 12),
        (5000, 8192, 13),
        (1 << 24, 1 << 24, 24),
        ((1 << 24) + 1, 1 << 25, 25),
        (17_000_000, 32 * MIB, 25),
        (40 * MIB, 48 * MIB, 26),
        (1 << 34, 1 << 34, 24 + 1023),
    ],
)
def test_round_takes_powers_of_two_up_to_the_cutoff(size, rounded, bucket):
    pool = make("Round")
    assert (pool.round_size(size), pool.bucket(size)) == (rounded, bucket)


def test_large_steps_of_one_are_none_and_unpooled_has_pages_only():
    assert make(large=1).round_size(3 * MIB + 1) == 3 * MIB + 4096
    assert make("Unpooled").round_size(3 * MIB + 1) == 3 * MIB + 4096
    assert make(page=48, large=100).round_size(97) == 200  # neither is a power of two


def test_every_size_is_held_by_its_bucket():
    draw = random.Random(3)
    for pool in (make(), make("Round", cutoff=20), make("Round", page=64)):
        sizes = sorted({draw.randrange(1, 1 << draw.randrange(1, 35)) for _ in range(2000)})
        assert all(pool.round_size(n) >= n for n in sizes)
        assert all(pool.round_size(pool.round_size(n)) == pool.round_size(n) for n in sizes)
        buckets = [pool.bucket(n) for n in sizes]
        assert buckets == sorted(buckets)
        assert len({pool.round_size(n) for n in sizes}) == len(set(buckets))


@pytest.mark.parametrize(
    ("reserve", "free", "drops"),
    [
        (0, 8193, False),
        (0, 8192, True),
        (0, 8191, True),
        (5, 8192 + 5000, False),
        (5, 8192 + 4999, True),
        (100, 108192, False),
        (100, 108191, True),
    ],
)
def test_reserved_memory_stays_free(reserve, free, drops):
    assert make(reserve=reserve).must_drop(5000, free, 100_000) == drops


# --- reuse ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["Naive", "Round"])
def test_freed_memory_of_a_size_is_used_again_last_first(strategy):
    pool = make(strategy)
    first, second = pool.take(100), pool.take(4096)
    assert first % 64 == second % 64 == 0
    pool.give(first, 100)
    pool.give(second, 4096)
    assert counted(pool, "live_bytes", "pooled_bytes", "peak_bytes") == (0, 8192, 8192)
    assert pool.take(5000) not in (first, second)
    assert [pool.take(1), pool.take(2)] == [second, first]
    assert counted(pool, "hits", "misses", "pooled_bytes") == (2, 3, 0)


@pytest.mark.parametrize("strategy", ["Naive", "Round"])
def test_large_and_odd_sizes_are_used_again(strategy):
    pool = make(strategy, large=3 * MIB + 5, cutoff=20)
    sizes = [3 * MIB, 4 * MIB, 700 * MIB, 4097]
    taken = [pool.take(size) for size in sizes]
    for address, size in zip(taken, sizes, strict=True):
        pool.give(address, size)
    assert [pool.take(size) for size in sizes] == taken
    for address, size in zip(taken, sizes, strict=True):
        pool.give(address, size)
    assert counted(pool, "hits", "misses") == (4, 4)


def test_unpooled_keeps_nothing():
    pool = make("Unpooled")
    for _ in range(3):
        pool.give(pool.take(100), 100)
    assert counted(pool, "hits", "misses", "pooled_bytes", "live_bytes") == (0, 3, 0, 0)


def test_no_bytes_need_no_memory():
    pool = make()
    assert pool.take(0) == 0
    pool.give(0, 0)
    assert counted(pool, "misses", "live_bytes", "pooled_bytes") == (0, 0, 0)


def test_drop_releases_all_cached_chunks():
    pool = make()
    kept = pool.take(10)
    pool.give(pool.take(5 * MIB), 5 * MIB)
    pool.drop()
    assert counted(pool, "pooled_bytes", "live_bytes", "flushes") == (0, 4096, 1)
    pool.give(kept, 10)


# --- the reserve ---------------------------------------------------------------------------------


def test_free_memory_predicts_the_flushes():
    free = [900, 106, 106, 500, 104, 1000]  # pages; the limit is 100 of 1000
    device = Device(4096 * 1000, [4096 * n for n in free])
    pool = make(reserve=10, source=device.address)
    predicted = 0
    for pages, available in enumerate(free, 5):  # ever another size: all are misses
        predicted += available <= pages or available - pages < 100
        pool.give(pool.take(4096 * pages), 4096 * pages)
        assert counted(pool, "flushes", "misses") == (predicted, pages - 4)
    assert predicted == 2
    assert counted(pool, "limit", "pooled_bytes") == (4096 * 100, 4096 * (9 + 10))


def test_with_everything_reserved_each_miss_flushes():
    pool = make(reserve=100)
    for size in (1, 5000, 5000, 9000):
        pool.give(pool.take(size), size)
    assert counted(pool, "flushes", "misses", "hits") == (3, 3, 1)


# --- released memory -----------------------------------------------------------------------------


def test_ever_new_sizes_do_not_pile_up():
    device = Device(LOTS)
    pool = make(large=1, source=device.address)
    most = 0
    for step in range(2000):
        size = 4096 * (200 + step)
        pool.give(pool.take(size), size)
        most = max(most, pool.stats()["pooled_bytes"])
    assert pool.stats()["hits"] == 0
    assert 200 * MIB < most < 270 * MIB  # of 9 GB in all
    recent = 4096 * (200 + step - 10)
    pool.give(pool.take(recent), recent)
    assert counted(pool, "hits", "flushes") == (1, 0)  # the newest are still there


def test_excess_chunks_are_released_though_their_size_is_in_use():
    device = Device(LOTS)
    pool = make(large=1, source=device.address)
    crowd = [pool.take(MIB) for _ in range(700)]
    for address in crowd:
        pool.give(address, MIB)
    assert pool.stats()["pooled_bytes"] == 700 * MIB  # they may all come again
    for step in range(2000):
        pool.give(pool.take(MIB), MIB)
        size = (1000 + step) * 4096
        pool.give(pool.take(size), size)
    assert counted(pool, "hits") == (2000,)
    assert pool.stats()["pooled_bytes"] < 270 * MIB
    pool.drop()


@pytest.mark.parametrize("scale", [1, 20])
def test_all_sizes_of_a_recurring_program_are_kept(scale):
    # As in training: what the forward pass makes lives until the backward pass is through.
    device = Device(LOTS)
    pool = make(source=device.address)
    sizes = [(n * 37 % 11 + 1) * scale * MIB for n in range(20)]
    for step in range(6):
        if step == 1:
            before = pool.stats()["misses"]
        layers = [(pool.take(size), size) for size in sizes]
        for address, size in reversed(layers):
            gradient = pool.take(size + MIB)
            pool.give(address, size)
            pool.give(gradient, size + MIB)
        odd = MIB + 4096 * step  # and something new in each step
        pool.give(pool.take(odd), odd)
    assert pool.stats()["misses"] == before + 5
    pool.drop()


# --- running out ---------------------------------------------------------------------------------


def test_out_of_memory_drops_the_cache_and_reports_sizes():
    pool = make()
    kept = pool.take(6 * MIB)
    pool.give(pool.take(4097), 4097)
    needs = r"cpu\(0\) is out of memory: requested 2251799813685249 bytes, rounded 2251799815782400"
    with pytest.raises(MXNetError, match=needs) as caught:
        pool.take((1 << 51) + 1)
    for part in ("live 6291456", "cached 8192 (given back first)", "free ", "limit 0"):
        assert part in str(caught.value)
    assert counted(pool, "live_bytes", "pooled_bytes", "flushes") == (6 * MIB, 0, 2)
    pool.give(kept, 6 * MIB)
    assert pool.take(6 * MIB) == kept


def test_out_of_memory_is_reported_with_stack_traces(monkeypatch):
    monkeypatch.setenv("DMLC_LOG_STACK_TRACE_DEPTH", "2")
    str(MXNetError("wrong"))  # the library learns of the depth
    with pytest.raises(MXNetError, match=r"cpu\(0\) is out of memory"):
        make().take((1 << 51) + 1)
    monkeypatch.undo()
    str(MXNetError("wrong"))  # and that there are none again


OUT_OF_MEMORY = """
import resource
import numpy as np
import mxcy as mx
kept = mx.nd.ones((1 << 20,))
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 28), -1))
cached = [mx.nd.ones((1 << 22,)) for _ in range(8)]  # 8 x 16 MiB
del cached
assert mx.storage.stats()["pooled_bytes"] >= 1 << 27
large = mx.nd.ones((5 << 23,))  # 160 MiB: only without what is cached
assert mx.storage.stats()["pooled_bytes"] == 0
for _ in range(3):
    try:
        kept + mx.nd.zeros((1 << 28,))
    except mx.MXNetError as error:
        text = str(error)
        assert "rounded 1073741824" in text and "(268435456,)" in text, text
    else:
        raise AssertionError("there is no such memory")
assert (large[:9] + kept[:9]).asnumpy().tolist() == [2] * 9
print(mx.storage.stats()["flushes"])
"""


def test_the_process_works_on_when_memory_is_out(run_python):
    # One arena: each thread's own would take 64 MiB and more of the addresses that are left.
    assert int(run_python(OUT_OF_MEMORY, OMP_NUM_THREADS="1", MALLOC_ARENA_MAX="1")) == 4


# --- temporary space -----------------------------------------------------------------------------


def test_temporary_space_is_borrowed_and_kept():
    pool = make(temp=2)
    assert pool.temp_stats() == (2, 0, 0)
    first = pool.take_temp(5000)
    assert first % 64 == 0
    pool.give_temp(first, 5000)
    assert pool.take_temp(100) == first  # one after the other: one buffer
    assert pool.temp_stats() == (2, 1, 8192)
    second = pool.take_temp(9000)
    assert pool.temp_stats() == (2, 2, 8192 + 12288)
    pool.give_temp(first, 100)
    pool.give_temp(second, 9000)
    larger = pool.take_temp(20_000)
    assert pool.temp_stats() == (2, 2, 20480 + 12288)
    pool.drop()  # but what is borrowed
    assert pool.temp_stats() == (2, 1, 20480)
    pool.give_temp(larger, 20_000)
    assert counted(pool, "live_bytes", "pooled_bytes") == (0, 0)


def test_who_finds_all_temporary_space_borrowed_waits():
    pool, got = make(temp=1), []
    held = pool.take_temp(100)
    thread = threading.Thread(target=lambda: got.append(pool.take_temp(100)))
    thread.start()
    thread.join(0.05)
    assert thread.is_alive() and not got
    pool.give_temp(held, 100)
    thread.join()
    assert got == [held]
    pool.give_temp(held, 100)
