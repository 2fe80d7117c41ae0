"""Row_sparse values of several workers: distributed rows, and row gradients."""

import os
import socket

import numpy as np
import pytest

import mxcy as mx
from mxcy._library import rows as row_kernels
from mxcy.dist.memory import take
from mxcy.dist.servers.row_shares import PushedRows, RowShare
from tests.dist.jobs import job, needs_mpi

pytestmark = pytest.mark.skipif(
    os.environ.get("MXNET_ENABLE_CYTHON") == "0", reason="one front is enough"
)


def _message(ids, rows):
    ids, rows = np.array(ids, np.int64), np.array(rows, np.float32).reshape(len(ids), 2)
    form = [len(ids), len(ids), False]
    return np.concatenate([ids.view(np.uint8), rows.reshape(-1).view(np.uint8)]), form


def test_a_share_adds_up_rows():
    """The union of the rows, each in the order of the workers; sums replace the value."""
    terms = {"shape": [4, 2], "dtype": "<f4", "weight": "float32", "waits": True, "by_rows": [0, 1]}
    share = RowShare("w", terms, np.ones(8, np.float32).view(np.uint8))
    draw = np.random.RandomState(0).uniform(-1, 1, (3, 2)).astype(np.float32)
    pushed = [
        share.read(*_message([1, 3], draw[1::-1])),
        share.read(*_message([], [])),
        share.read(*_message([1], draw[2:])),
    ]
    total = share.total(pushed)
    assert total.ids.tolist() == [1, 3] and not total.whole
    assert total.rows.tolist() == [(draw[1] + draw[2]).tolist(), draw[0].tolist()]
    share.replace(total)
    assert share.value[[0, 2]].tolist() == [[0, 0], [0, 0]]
    assert share.answer(np.array([3], np.int64).view(np.uint8), False)[1].tolist() == [
        draw[0].tolist()
    ]
    share.replace(share.total([share.read(*_message([], []))] * 2))
    assert not share.value.any()


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8", "int8", "int32", "int64"])
def test_shares_of_all_types_add_up_rows_of_many_workers(dtype):
    """Integers wrap around; ids may occur several times in a push."""
    draw = np.random.RandomState(2)
    terms = {
        "shape": [50, 3],
        "dtype": np.dtype(dtype).str,
        "weight": dtype,
        "waits": True,
        "by_rows": [0, 1],
    }
    share = RowShare("w", terms, np.zeros((50, 3), dtype).view(np.uint8))
    expected, pushed = np.zeros((50, 3), dtype), []
    for count in (20, 0, 50, 7, 1):
        ids = np.sort(draw.randint(0, 50, count))
        rows = draw.randint(-100, 100, (count, 3)).astype(dtype)
        np.add.at(expected, ids, rows)
        message = np.concatenate([ids.view(np.uint8), rows.reshape(-1).view(np.uint8)])
        pushed.append(share.read(message, [count, count, False]))
    share.replace(share.total(pushed))
    every = np.arange(50)
    assert (share.answer(every.view(np.uint8), False)[1] == expected).all()
    assert (share.value == expected).all() and expected.any()
    assert (share.answer(np.arange(0, 50, 7).view(np.uint8), False)[1] == expected[::7]).all()
    twice = PushedRows(np.array([4, 4]), np.ones((2, 3), dtype))
    share.replace(share.total([twice]))
    assert share.value[4].tolist() == [2, 2, 2] and share.value.sum() == 6


def test_messages_recycle_memory_that_nobody_uses():
    first = take(100000)
    first[...] = 1
    part, address = first[5:], first.ctypes.data
    del first
    second = take(100000)
    second[...] = 2
    assert second.ctypes.data != address and (part == 1).all()
    del part
    assert take(90000).ctypes.data == address


def _beside_new_arrays(kernel):
    """Call a kernel after new arrays have taken all memory that is free; it must not use theirs."""

    def call(*args):
        others = [np.full(size, 1 << 40, np.int64) for size in range(1, 17) for _ in range(16)]
        result = kernel(*args)
        assert all((other == 1 << 40).all() for other in others)
        return result

    return call


@pytest.mark.parametrize("count", [1, 4, 9])
def test_memory_of_kernels_is_in_use_during_the_call(count, monkeypatch):
    """Other threads allocate arrays while a kernel runs without the lock of Python."""
    for name in ("_copy", "_deal", "_find", "_own", "_sum", "_sum_at"):
        monkeypatch.setattr(row_kernels, name, _beside_new_arrays(getattr(row_kernels, name)))
    draw = np.random.default_rng(count)
    pushes, expected = [], np.zeros((8, 2), "f4")
    for _ in range(count):
        ids = np.sort(draw.integers(0, 8, 6))
        rows = draw.integers(-9, 9, (6, 2)).astype("f4")
        np.add.at(expected, ids, rows)
        pushes.append(PushedRows(ids, rows, True))
    every, out = np.arange(8), np.full((8, 2), np.nan, "f4")
    row_kernels.sum_rows_at(every, pushes, out)
    assert (out == expected).all()
    counts, places, local = row_kernels.deal_rows(every, 2)
    for number in range(2):
        terms = {"shape": [4, 2], "dtype": "<f4", "weight": "float32", "waits": True}
        share = RowShare("w", {**terms, "by_rows": [number, 2]}, np.ones(8, "f4").view(np.uint8))
        share.replace(share.total(pushes))
        own = slice(number * counts[0], number * counts[0] + counts[number])
        out[...] = np.nan
        share.copy_rows(local[own], out, places[own])
        assert (out[number::2] == expected[number::2]).all()
        assert np.isnan(out[1 - number :: 2]).all()


_PROGRAM = r"""
import mxcy as mx, numpy as np
store = mx.kv.create("dist_sync")
rank, size = store.rank, store.num_workers
def sparse(array):
    return mx.nd.array(array).tostype("row_sparse")
start = np.arange(21, dtype="float32").reshape(7, 3)
store.init(["w", "half"], [sparse(start * (rank + 1)), sparse(start).astype("float16")])
out, dense = mx.nd.sparse.zeros("row_sparse", (7, 3)), mx.nd.zeros((7, 3))
mine = [rank, 5, rank]  # each rank its own rows, one rank alone or all
for _ in range(rank):
    store.row_sparse_pull("w", out, row_ids=mx.nd.array(mine))
    assert out.indices.asnumpy().tolist() == sorted(set(mine))
    assert (out.data.asnumpy() == start[sorted(set(mine))]).all()
half = mx.nd.sparse.zeros("row_sparse", (7, 3), dtype="float16")
store.row_sparse_pull("half", half, row_ids=mx.nd.array([6]))
assert half.data.asnumpy().tolist() == [[18, 19, 20]]
gradients = [np.zeros((7, 3), "float32") for _ in range(size)]
for of, gradient in enumerate(gradients):
    gradient[of], gradient[4] = 1, of + 1
for more in (0, 1):
    store.push("w", sparse(gradients[rank] + more))
    store.pull("w", dense, ignore_sparse=False)
    assert (dense.asnumpy() == sum(gradients) + more * size).all()
store.set_optimizer(mx.optimizer.Adam(learning_rate=0.5, lazy_update=True))
alone = mx.kv.create("local")
alone.init("w", sparse(dense.asnumpy()))
alone.set_optimizer(mx.optimizer.Adam(learning_rate=0.5, lazy_update=True))
for step in range(3):
    pushed = [g if of != step % size else 0 * g for of, g in enumerate(gradients)]  # one is empty
    store.push("w", sparse(pushed[rank]))
    alone.push("w", sparse(sum(pushed)))
every, expected = mx.nd.arange(7), mx.nd.sparse.zeros("row_sparse", (7, 3))
store.row_sparse_pull("w", out, row_ids=every)
alone.row_sparse_pull("w", expected, row_ids=every)
np.testing.assert_allclose(
    out.tostype("default").asnumpy(), expected.tostype("default").asnumpy(), rtol=2e-6
)
try:
    store.save_optimizer_states("states")
except mx.MXNetError as error:
    assert "the states of row_sparse values" in str(error)
else:
    raise AssertionError("they are not all here")
try:
    store.row_sparse_pull("w", out, row_ids=mx.nd.array([7]))
except mx.MXNetError as error:
    assert "rows 0 to 6" in str(error)
else:
    raise AssertionError("there is no row 7")
"""

_TRAINING = r"""
from mxcy import autograd, gluon
draw = np.random.RandomState(0)
words, targets = draw.randint(0, 20, (5, 8)), draw.randn(5, 8, 1).astype("float32")
def train(kind, share, block):
    mx.random.seed(3)
    net = gluon.nn.Sequential()
    net.add(block(20, 4), gluon.nn.Dense(1, in_units=4))
    net.initialize(mx.init.Normal(1))
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1}, kvstore=kind)
    for index, target in zip(words, targets):
        with autograd.record():
            loss = ((net(mx.nd.array(index[share])) - mx.nd.array(target[share])) ** 2).sum()
        loss.backward()
        trainer.step(8)
    weights = []
    for parameter in net.collect_params().values():
        if parameter._stype == "default":
            weights.append(parameter.data().asnumpy())
        else:
            weights.append(parameter.row_sparse_data(mx.nd.arange(20)).tostype("default").asnumpy())
    return weights
share = slice(rank * 8 // size, (rank + 1) * 8 // size)
blocks = [lambda *shape: gluon.nn.Embedding(*shape, sparse_grad=True)]
blocks.append(gluon.contrib.nn.SparseEmbedding)
for block in blocks:
    shared, serial = train("dist_sync", share, block), train("local", slice(0, 8), block)
    for a, b in zip(shared, serial):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)
print("\nright", flush=True)
"""


@needs_mpi
def test_rows_of_three_workers():
    ended = job(3, _PROGRAM + _TRAINING, timeout=120)
    assert (ended.code, ended.lines) == (0, ["right"] * 3), ended.err


def _sparse(array):
    return mx.nd.array(array).tostype("row_sparse")


def test_rows_on_a_server(tmp_path):
    """Optimizers update rows as in a serial store, set before or after keys; states stay."""
    draw = np.random.RandomState(1)
    start = draw.randn(5, 2).astype("float32")
    gradients = draw.randn(6, 5, 2).astype("float32") * (draw.rand(6, 5, 1) < 0.5)
    file, every = str(tmp_path / "states"), mx.nd.arange(5)
    stores = [mx.kv.create("dist_async"), mx.kv.create("local")]
    for store in stores:
        store.init("early", _sparse(start))
        store.set_optimizer(mx.optimizer.Adam(learning_rate=0.5, lazy_update=True))
        store.init(["late", "dense"], [_sparse(start), mx.nd.ones(3)])
    out = mx.nd.sparse.zeros("row_sparse", (5, 2))
    for step, gradient in enumerate(gradients.astype("float32")):
        rows = {}
        for store in stores:
            for key in ("early", "late"):
                store.push(key, _sparse(gradient))
                store.row_sparse_pull(key, out, row_ids=every)
                rows.setdefault(key, []).append(out.tostype("default").asnumpy())
        for own, expected in rows.values():
            np.testing.assert_allclose(own, expected, rtol=2e-6, atol=1e-7)
        if step == 2:
            stores[0].save_optimizer_states(file)
            stores[0].push("late", _sparse(np.zeros((5, 2), "float32")))  # counts, changes no row
            stores[1].push("late", _sparse(np.zeros((5, 2), "float32")))
            stores[0].load_optimizer_states(file)
    dense = mx.nd.zeros((5, 2))
    stores[0].pull("late", dense, ignore_sparse=False)
    np.testing.assert_allclose(dense.asnumpy(), rows["late"][1], rtol=2e-6, atol=1e-7)
    row = (np.ones((1, 2), "float32"), [7])
    beyond = mx.nd.sparse.row_sparse_array(row, shape=(5, 2))
    with pytest.raises(mx.MXNetError, match="'late' has rows 0 to 4, got"):
        stores[0].push("late", beyond)
    with pytest.raises(mx.MXNetError, match="cannot be shared"):
        stores[0].init("columns", mx.nd.ones((2, 2)).tostype("csr"))


def test_functions_change_rows_in_workers():
    store = mx.kv.create("dist_async")
    store.init("a", _sparse(np.ones((3, 2), "float32")))

    def update(key, pushed, stored):
        stored[:] = stored + 2 * pushed.tostype("default")

    store._set_updater(update)
    store.init("b", _sparse(np.ones((3, 2), "float32")))
    out = mx.nd.sparse.zeros("row_sparse", (3, 2))
    for key in ("a", "b"):
        store.push(key, _sparse(np.ones((3, 2), "float32")))
        store.row_sparse_pull(key, out, row_ids=mx.nd.array([2, 0]))
        assert out.indices.asnumpy().tolist() == [0, 2]
        assert out.data.asnumpy().tolist() == [[3, 3]] * 2


_ASYNC = r"""
import os
import mxcy as mx, numpy as np
store = mx.kv.create("dist_async")
rank, size = store.rank, store.num_workers
def sparse(array):
    return mx.nd.array(array).tostype("row_sparse")
start = np.arange(21, dtype="float32").reshape(7, 3)
store.init("w", sparse(start * (rank + 1)))
store.init(["single", "d"], [sparse(np.ones((1, 3), "float32")), mx.nd.zeros(3)])
store.set_optimizer(mx.optimizer.SGD(learning_rate=1, momentum=0.5, lazy_update=True))
gradient = np.zeros((7, 3), "float32")
gradient[rank] = 1
out = mx.nd.sparse.zeros("row_sparse", (7, 3))
for step in range(3):  # nobody else pushes this row: own pushes are seen at once
    store.push("w", sparse(gradient))
    store.row_sparse_pull("w", out, row_ids=mx.nd.array([rank]))
    assert (out.data.asnumpy() == start[rank] - [1, 2.5, 4.25][step]).all(), out.data.asnumpy()
store.push("single", sparse(np.ones((1, 3), "float32")))
store._settle()
store._barrier()
dense = mx.nd.zeros((7, 3))
store.pull("w", dense, ignore_sparse=False)
expected = start - 4.25 * (np.arange(7) < size)[:, None]
assert (dense.asnumpy() == expected).all()
store._barrier()
if rank == 0:
    store.save_optimizer_states("FILE")
store._barrier()
store.load_optimizer_states("FILE")
store.push("w", sparse(gradient))
store.row_sparse_pull("w", out, row_ids=mx.nd.array([rank]))
assert (out.data.asnumpy() == start[rank] - 4.25 - 1.875).all()
print("\nright", flush=True)
"""


@needs_mpi
@pytest.mark.parametrize("servers", [0, 2])
def test_rows_on_servers_of_three_workers(servers, tmp_path):
    """Rows are spread over all servers, even with fewer rows than servers."""
    code = _ASYNC.replace("FILE", str(tmp_path / "states"))
    ended = job(3, code, servers=servers, timeout=120)
    assert (ended.code, ended.lines) == (0, ["right"] * 3), ended.err


_UPDATES = r"""
import mxcy as mx, numpy as np
store = mx.kv.create("dist_sync")
store.init("w", mx.nd.sparse.zeros("row_sparse", (4, 2)))
modes = []
def update(key, pushed, stored):
    modes.append((mx.autograd.is_recording(), mx.autograd.is_training()))
    stored[:] = stored + pushed.tostype("default")
store._set_updater(update)
out, every = mx.nd.sparse.zeros("row_sparse", (4, 2)), mx.nd.arange(4)
with mx.autograd.record():
    for step in range(3):
        store.push("w", mx.nd.ones((4, 2)).tostype("row_sparse"))
        store.row_sparse_pull("w", out, row_ids=every)
        assert mx.autograd.is_recording()
assert (out.data.asnumpy() == 3 * store.num_workers).all()
assert modes == [(False, False)] * 3, modes
print("\nright", flush=True)
"""


@needs_mpi
def test_updates_of_rows_are_not_recorded():
    """The program's thread runs them while it waits for rows, even if it records a network."""
    ended = job(2, _UPDATES)
    assert (ended.code, ended.lines) == (0, ["right"] * 2), ended.err


_DEATH = r"""
import os, signal
import mxcy as mx
store = mx.kv.create("dist_sync")
store.init("w", mx.nd.sparse.zeros("row_sparse", (4, 2)))
out, every = mx.nd.sparse.zeros("row_sparse", (4, 2)), mx.nd.arange(4)
for step in range(3):
    if store.rank == 1 and step == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    store.push("w", mx.nd.ones((4, 2)).tostype("row_sparse"))
    store.row_sparse_pull("w", out, row_ids=every)
print("\nthe end", flush=True)
"""


@needs_mpi
def test_a_worker_dies_while_another_waits_for_rows():
    ended = job(2, _DEATH)
    assert ended.code != 0 and not ended.lines
    assert f"rank 1 ({socket.gethostname()}) died, in rows of key 'w'" in ended.err, ended.err
