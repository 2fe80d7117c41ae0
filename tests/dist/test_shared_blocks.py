"""Messages between processes of one machine in blocks of shared memory."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from mxcy._library.event import SharedEvent
from mxcy.dist.progress import ProgressThread
from mxcy.dist.servers.key_server import KeyServer
from mxcy.dist.servers.row_client import RowClient
from mxcy.dist.servers.shares import Share
from mxcy.dist.worlds import shared_blocks
from mxcy.dist.worlds.memory_files import MemoryFiles
from mxcy.dist.worlds.memory_world import MemoryJob
from mxcy.dist.worlds.shared_blocks import SharedBlocks
from mxcy.kvstore.kvstore_server import run as serve
from mxcy.kvstore.server_rules import ServerRules
from tests.dist.jobs import job, needs_mpi

_COUNT = 100_000


def _pair():
    """Blocks of a process, and the blocks of one that reads them."""
    file, reader = (MemoryFiles("test", 1 << 40) for _ in range(2))
    reader.attach(7, file.path)
    return SharedBlocks([1], file.map), SharedBlocks([], reader.map)


def test_a_block_is_free_without_references_and_loans():
    sender, reader = _pair()
    block = sender.take(_COUNT)
    block.array()[:] = 5
    start, loan = block.start, block.lend()
    view = reader.borrow(7, start, _COUNT, loan)
    assert view.size == _COUNT and (view == 5).all()
    other = sender.take(_COUNT)  # the first block is in use here
    assert other.start != start
    del block
    part = view[10:]
    del view
    third = sender.take(_COUNT)  # and there
    assert third.start not in (start, other.start)
    assert (part == 5).all()
    del part
    again = sender.take(_COUNT)
    assert again.start == start
    array = again.array()
    del again
    assert sender.take(_COUNT).start != start
    del array
    assert sender.take(_COUNT).start == start


def test_blocks_end_with_their_space(monkeypatch):
    monkeypatch.setattr(shared_blocks, "_SPACE", 1 << 18)
    sender, _ = _pair()
    blocks = [sender.take(_COUNT) for _ in range(2)]
    assert None not in blocks and sender.take(_COUNT) is None
    blocks.pop()
    assert sender.take(_COUNT) is not None
    assert sender.take(1000) is None and sender.take(1 << 30) is None


def test_a_block_has_a_number_of_loans():
    sender, reader = _pair()
    block = sender.take(_COUNT)
    loans = [block.lend() for _ in range(256)]
    assert sorted(loans) == list(range(256)) and block.lend() is None
    reader.borrow(7, block.start, _COUNT, 77)  # and nothing refers to it
    assert block.lend() == 77


def test_a_value_that_others_read_does_not_change():
    sender, reader = _pair()
    terms = {"shape": [_COUNT // 4], "dtype": "<f4", "weight": "float32", "waits": False}
    share = Share("w", terms, np.zeros(_COUNT, np.uint8), sender)
    _, block, sent = share.answer(None, True)
    loan = block.lend()
    sent()
    view = reader.borrow(7, block.start, _COUNT, loan)
    share.before_change()
    share.value += 1
    assert not view.any() and (share.value == 1).all()
    _, other, sent = share.answer(None, True)
    sent()
    share.before_change()  # nobody reads it
    share.value += 1
    assert other.start != block.start and (other.array().view("f4") == 2).all()
    assert share.answer(None, False)[1] is share.value


def test_an_event_wakes_another_process():
    file = MemoryFiles("test", 1 << 20)
    event = SharedEvent(file.map(None, 0, 4096))
    code = (
        "import sys; from mxcy._library.event import SharedEvent; "
        "from mxcy.dist.worlds.memory_files import MemoryFiles; "
        "file = MemoryFiles('test', 4096); file.attach(0, sys.argv[1]); "
        "SharedEvent(file.map(0, 0, 4096)).set()"
    )
    other = subprocess.Popen([sys.executable, "-c", code, file.path])
    while not event.wait(60):
        assert other.poll() in (None, 0)
    assert other.wait(60) == 0


def test_files_that_may_not_be_opened():
    with pytest.raises(OSError, match="missing"):
        MemoryFiles("test", 1 << 20).attach(0, f"/proc/{os.getpid()}/fd/missing")


class _Worker:
    """A worker with rows on servers, which are workers too."""

    def __init__(self, world, among_workers, updater):
        self.rank, self.updates = world.rank, updater is not None
        self._progress = ProgressThread(lambda: world)
        self.client = RowClient(self._progress, True, 0, among_workers=among_workers)
        rules = ServerRules(self.rank)
        rules.follow(self.client.number, lambda: updater)
        self._progress.submit(lambda: KeyServer(self._progress.messenger, 0, rules))

    def pull(self, key, ids):
        """Some rows of a value."""
        served = self.client.keys[key]
        rows = np.full((ids.size, *served.shape[1:]), np.nan, served.dtype)
        self.client.pull_rows(served, ids, rows)
        return rows

    def close(self):
        """Leave the job."""
        self._progress.close()


def _add(key, total, stored):
    stored[:] = stored + total.tostype("default")


def _program(worker, seed, ranks):
    """Push and pull random rows of all ranks, which each rank draws; compare with a table."""
    draw = np.random.default_rng(seed)
    height, width = int(draw.integers(1, 60)), int(draw.choice([1, 3, 16, 64]))
    table = draw.integers(-9, 9, (height, width)).astype("f4")
    worker.client.init([("k", table)], ["float32"])
    kept = []
    for _ in range(12):
        if draw.integers(3):
            table = table.copy() if worker.updates else np.zeros_like(table)
            for rank in range(ranks):
                ids = np.sort(draw.integers(0, height, int(draw.integers(0, 2 * height))))
                rows = draw.integers(-9, 9, (ids.size, width)).astype("f4")
                np.add.at(table, ids, rows)
                if rank == worker.rank:
                    worker.client.push_rows(worker.client.keys["k"], ids, rows)
                    rows[:] = np.nan  # copies have been pushed
        for rank in range(ranks):
            ids = np.flatnonzero(draw.integers(0, 2, height))
            if rank == worker.rank:
                kept.append((worker.pull("k", ids), table[ids]))
    return all((own == expected).all() for own, expected in kept)


@pytest.mark.parametrize("seed", range(28))
def test_rows_of_random_programs(seed, monkeypatch):
    """One machine or several, servers apart or not, with blocks and without, and with updates."""
    monkeypatch.setattr(shared_blocks, "_LEAST", 0)
    monkeypatch.setattr(shared_blocks, "_SPACE", (1 << 20, 1 << 14)[seed % 5 == 4])
    draw = np.random.default_rng(seed)
    ranks, servers = int(draw.integers(2, 5)), int(draw.integers(0, 3))
    per_host = (None, 1, 2)[int(draw.integers(3))]
    area = (None, 1)[seed % 4 > 0]
    shared = MemoryJob(ranks, seed, servers, per_host, area)
    results = [None] * ranks
    updater = _add if servers == 0 and seed % 3 < 2 else None

    def live(number):
        worker = _Worker(shared.worlds[number], servers == 0, updater)
        try:
            results[number] = _program(worker, seed, ranks)
        finally:
            worker.close()

    threads = [threading.Thread(target=live, args=(i,), daemon=True) for i in range(ranks)]
    threads += [threading.Thread(target=serve, args=(w, 0), daemon=True) for w in shared.servers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a process hangs"
    assert results == [True] * ranks


_ROWS = r"""
import sys
import mxcy as mx, numpy as np
ranks, shared = int(sys.argv[1]), sys.argv[2] == "1"
shape, pushed = (3000, 64), 900
for kind, lr in (("dist_sync", None), ("dist_sync", 0.5), ("dist_async", 0.5)):
    store = mx.kv.create(kind)
    assert (store.handle.progress.world.blocks is not None) == shared
    if lr:
        store.set_optimizer(mx.optimizer.SGD(learning_rate=lr, lazy_update=True))
    draw = np.random.RandomState(5)
    table = draw.randint(-9, 9, shape).astype("f4")
    store.init("w", mx.nd.array(table).tostype("row_sparse"))
    out = mx.nd.sparse.zeros("row_sparse", shape)
    for step in range(6):
        total = np.zeros(shape, "f4")
        for rank in range(ranks):
            ids = np.sort(draw.choice(shape[0], pushed, replace=False))
            rows = draw.randint(-9, 9, (pushed, shape[1])).astype("f4")
            total[ids] += rows
            if rank == store.rank:
                mine = ids
                gradient = mx.nd.sparse.row_sparse_array((rows, ids), shape=shape)
        table = table - lr * total if lr else total
        store.push("w", gradient)
        if kind == "dist_async":
            store._settle()
            store._barrier()
        wanted = np.union1d(mine, draw.choice(shape[0], 500))
        store.row_sparse_pull("w", out, row_ids=mx.nd.array(wanted, dtype="int64"))
        assert (out.indices.asnumpy() == wanted).all()
        assert (out.data.asnumpy() == table[wanted]).all(), (kind, lr, step)
        few = wanted[:3]  # a small answer, which has no block
        store.row_sparse_pull("w", out, row_ids=mx.nd.array(few, dtype="int64"))
        assert (out.data.asnumpy() == table[few]).all()
        store._barrier()
print("\nright", flush=True)
"""


@needs_mpi
@pytest.mark.parametrize(("ranks", "shared"), [(2, "1"), (4, "1"), (2, "0")])
def test_rows_of_processes(ranks, shared, tmp_path):
    program = tmp_path / "rows.py"
    program.write_text(_ROWS)
    line = [str(program), str(ranks), shared]
    ended = job(ranks, line, timeout=120, MXCY_DIST_SHARED_MEMORY=shared)
    assert (ended.code, ended.lines) == (0, ["right"] * ranks), ended.err


_VALUES = r"""
import mxcy as mx, numpy as np
store = mx.kv.create("dist_async")
size = store.num_workers
store.init("w", mx.nd.zeros((300, 100)))
store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
gradient, out, last = mx.nd.ones((300, 100)), mx.nd.zeros((300, 100)), 0
for i in range(40):
    store.push("w", gradient)
    gradient[:] = 1
    store.pull("w", out)
    values = np.unique(out.asnumpy())
    assert values.size == 1 and -40 * size <= values[0] <= min(last, -1 - i), (i, values)
    last = values[0]
store._settle()
store._barrier()
store.pull("w", out)
assert (out.asnumpy() == -40 * size).all()
print("\nright", flush=True)
"""


@needs_mpi
@pytest.mark.parametrize(("servers", "shared"), [(0, "1"), (1, "1"), (1, "0")])
def test_values_of_processes_are_never_half_updated(servers, shared):
    ended = job(3, _VALUES, servers=servers, MXCY_DIST_SHARED_MEMORY=shared)
    assert (ended.code, ended.lines) == (0, ["right"] * 3), ended.err
