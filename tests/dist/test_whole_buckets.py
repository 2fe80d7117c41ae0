"""Pushes of whole buckets, mixed with pushes of single keys."""

import os
import random
import threading

import numpy as np
import pytest

import mxcy as mx
from tests.dist.jobs import job, needs_mpi
from tests.dist.ranks import run
from tests.dist.test_exchange import compare_random_program

no_arrays = pytest.mark.skipif(
    os.environ.get("MXNET_ENABLE_CYTHON") == "0", reason="no arrays: one front is enough"
)


def _compare(seed):
    """Compare a random program, in which ranks push single keys or buckets, with a serial model."""
    draw = random.Random(seed)
    size, bound = draw.choice((1, 2, 3, 4)), draw.choice((8, 500, 4096, 10**6))
    lengths = {f"k{i}": draw.choice((0, 1, 3, 40, 700, 9000)) for i in range(draw.randint(1, 9))}
    rounds = draw.randint(1, 4)

    def program(rank):
        order = random.Random(seed * 31 + rank.rank)
        rank.init(**{key: np.zeros(length) for key, length in lengths.items()})
        for key in lengths:  # the first push creates buckets
            rank.push(key, np.full(lengths[key], 10.0 + rank.rank))
        for key in lengths:
            rank.pull(key)
        buckets = list(dict.fromkeys(rank.slots[key].bucket for key in lengths))
        for number in range(2, rounds + 1):
            for bucket in buckets:
                keys = [slot.key for slot in bucket.slots]
                arrays = {key: np.full(lengths[key], number * 10.0 + rank.rank) for key in keys}
                if order.random() < 0.6:
                    rank.push_bucket(keys[0], arrays, here=order.random() < 0.5)
                    continue
                order.shuffle(keys)
                for key in keys:
                    rank.push(key, arrays[key])
                for key in keys if order.random() < 0.7 else ():
                    rank.pull(key)
        for key in lengths:
            rank.pull(key)
        return {key: [total.tolist() for total in rank.values[key]] for key in lengths}

    for seen in run(size, program, bound, seed):
        if isinstance(seen, Exception):
            raise seen
        for key, length in lengths.items():
            sums = [r * 10.0 * size + size * (size - 1) / 2 for r in range(1, rounds + 1)]
            assert seen[key] == [[total] * length for total in sums], (seed, key)


@no_arrays
@pytest.mark.parametrize("seed", range(8))
def test_random_programs_against_a_serial_model(seed):
    _compare(seed)


@no_arrays
@pytest.mark.dist
@pytest.mark.dist_long
@pytest.mark.parametrize("first", range(100, 1100, 50))
def test_a_thousand_seeds(first):
    for seed in range(first, first + 50):
        compare_random_program(seed)
        _compare(seed)


@no_arrays
def test_a_rank_that_leaves_and_one_that_stands_still():
    """Ranks that wait for a whole bucket get an error."""

    def leaving(rank):
        rank.init(a=np.zeros(2), b=np.zeros(3))
        rank.push("a", np.ones(2))
        rank.push("b", np.ones(3))
        rank.pull("a")
        rank.pull("b")
        if rank.rank:
            return "left"
        return rank.push_bucket("a", {"a": np.ones(2), "b": np.ones(3)})

    first, second = run(2, leaving)
    assert second == "left"
    assert "rank 1 (memory) left the job in round 2 of key " in str(first)

    given_up = threading.Event()

    def waiting(rank):
        rank.init(a=np.zeros(2))
        rank.push("a", np.ones(2))
        rank.pull("a")
        if rank.rank:
            assert given_up.wait(60)
            return
        try:
            rank.push_bucket("a", {"a": np.ones(2)})
        finally:
            given_up.set()

    first, _ = run(2, waiting, patience=0.3)
    assert "for round 2 of key 'a': rank 1 (memory) has not reached it" in str(first)


def test_small_sums_on_the_threads_of_the_program():
    """They take no other thread while the progress threads are at rest."""

    def program(rank):
        rank.init(a=np.zeros(2))
        rank.push("a", np.ones(2))
        rank.pull("a")
        tried = 0
        while tried < 5 or (rank.size == 1 and rank.summed_by != threading.get_ident()):
            tried += 1
            total = rank.push_bucket("a", {"a": np.full(2, rank.rank + tried)}, here=True)["a"]
            assert total.tolist() == [sum(range(rank.size)) + rank.size * tried] * 2
        return True

    assert run(1, program) == [True]
    assert run(3, program, seed=4) == [True] * 3


def test_an_error_on_the_thread_of_the_program(monkeypatch):
    """As one of MPI it fails all keys: nothing waits for a sum that never ends."""

    def program(rank):
        rank.init(a=np.zeros(2), b=np.zeros(3))
        for key, size in (("a", 2), ("b", 3)):
            rank.push(key, np.ones(size))
            rank.pull(key)
        bucket = rank.slots["a"].bucket
        monkeypatch.setattr(bucket, "start", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            while True:  # until the progress thread is at rest
                rank.progress.turn.run_here(bucket.start)
        rank.pull("b")

    (error,) = run(1, program, bound=8)
    assert "communication failed: ZeroDivisionError" in str(error)


def _store(shapes, dtype="float32"):
    store = mx.kv.create("dist_sync")
    keys = list(range(len(shapes)))
    store.init(keys, [mx.nd.zeros(shape, dtype=dtype) for shape in shapes])
    store.pushpull(keys, [mx.nd.zeros(shape, dtype=dtype) for shape in shapes])
    store._settle()
    return store, keys


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
@mx.util.use_np_shape
def test_lists_of_keys(dtype):
    shapes = [(2, 3), (), (0, 4), (5,)]
    store, keys = _store(shapes, dtype)
    values = [mx.nd.full(shape, i + 1, dtype=dtype) for i, shape in enumerate(shapes)]
    outs = [mx.nd.zeros(shape, dtype=dtype) for shape in shapes]
    store.pushpull(keys, values, out=outs)
    for i, (value, out) in enumerate(zip(values, outs, strict=True)):
        value[:] = 7  # the push has its own copy
        assert (out.asnumpy() == i + 1).all() and out.shape == shapes[i]
    store.pushpull(keys, values)
    for i in keys:  # so has the store
        values[i][:] = 0
        store.pull(i, outs[i])
        assert (outs[i].asnumpy() == 7).all()
    store.push(keys[1:], values[1:])
    store.pushpull(keys[::-1], [[outs[i]] for i in keys[::-1]])
    store.pull(keys, values)
    assert all((value.asnumpy() == 7).all() for value in values)


def test_a_large_sum_that_is_made_in_the_array_itself():
    """The store has its own copy, so the program may change the array."""
    store = mx.kv.create("dist_sync")
    store.init(0, mx.nd.zeros(20_000))
    out = mx.nd.zeros(20_000)
    value = mx.nd.ones(20_000)
    store.pushpull(0, value)
    for number in range(1, 4):
        value[:] = number
        store.pushpull(0, value)
        value *= 2
        store.pull(0, out)
        assert (value.asnumpy() == 2 * number).all() and (out.asnumpy() == number).all()
    store.push(0, mx.nd.full(20_000, 7))
    store.pull(0, out)
    assert (out.asnumpy() == 7).all()
    store.set_optimizer(mx.optimizer.SGD(learning_rate=1))
    store.pushpull(0, value, out=out)
    assert (value.asnumpy() == 6).all() and (out.asnumpy() == 1).all()


def test_a_list_with_an_optimizer_and_one_that_fails():
    store, keys = _store([(3,), (4,)])
    store.set_optimizer(mx.optimizer.SGD(learning_rate=0.5))
    outs = [mx.nd.zeros(3), mx.nd.zeros(4)]
    for _ in range(2):
        store.pushpull(keys, [mx.nd.ones(3), mx.nd.full(4, 2)], out=outs)
    assert outs[0].asnumpy().tolist() == [-1] * 3 and outs[1].asnumpy().tolist() == [-2] * 4

    def fail(key, total, stored):
        raise ValueError("no")

    store._set_updater(fail)
    store.pushpull(keys, [mx.nd.ones(3), mx.nd.ones(4)], out=outs)
    with pytest.raises(mx.MXNetError, match="round 4: ValueError: no"):
        outs[1].asnumpy()


def test_one_operation_for_a_bucket():
    store, keys = _store([(8,)] * 100)
    values = [mx.nd.ones(8) for _ in keys]
    for value in values:
        value.wait_to_read()
    before = mx.engine.stats()["pushed"]
    store.pushpull(keys, values)
    assert mx.engine.stats()["pushed"] - before == len(store.stats()["buckets"]) == 1
    assert (values[99].asnumpy() == 1).all()


_TWO = r"""
import mxcy as mx, numpy as np
store = mx.kv.create("dist_sync")
rank, size = store.rank, store.num_workers
lengths = [1 + (i * 37) % 3000 for i in range(300)] + [2_000_000]
keys = list(range(len(lengths)))
store.init(keys, [mx.nd.zeros(n) for n in lengths])
values = [mx.nd.full(n, rank + i) for i, n in zip(keys, lengths)]
for step in range(5):
    if step == 2 and rank:
        for i in reversed(keys):
            store.pushpull(i, values[i])
    else:
        store.pushpull(keys, values)
    for i, value in enumerate(values):
        host = value.asnumpy()
        total = (2 * i + 1) * 2.0**step
        assert (host == total).all(), (step, i, host, total)
print("\nright", flush=True)
"""


def test_lists_that_are_only_partly_as_their_keys():
    store = mx.kv.create("dist_sync")
    store.init(list(range(4)), [mx.nd.zeros(3)] * 4)
    store.pushpull(list(range(4)), [mx.nd.ones(3) for _ in range(4)])
    values = [[mx.nd.ones(3)], (mx.nd.ones(3) * 2,), mx.nd.ones(3) * 3, mx.nd.ones(3) * 4]
    outs = [mx.nd.zeros(3) for _ in range(4)]
    store.pushpull(list(range(4)), values, outs)
    assert [out.asnumpy().tolist() for out in outs] == [[i] * 3 for i in (1.0, 2.0, 3.0, 4.0)]
    several = [*values[:2], [mx.nd.ones(3), mx.nd.ones(3)], mx.nd.ones(3).tostype("row_sparse")]
    store.pushpull(list(range(4)), several, outs)
    assert [out.asnumpy().tolist() for out in outs] == [[i] * 3 for i in (1.0, 2.0, 2.0, 1.0)]
    for wrong in (mx.nd.ones(4), mx.nd.ones((3, 1))):
        with pytest.raises(mx.MXNetError, match="shape"):
            store.pushpull(list(range(4)), [*values[:3], wrong], outs)


@needs_mpi
def test_two_workers():
    ended = job(2, _TWO)
    assert (ended.code, ended.lines) == (0, ["right"] * 2), ended.err
