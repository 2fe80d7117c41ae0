"""Workers whose values differ get an error, and workers that hang are counted."""

import os
import threading

import numpy as np
import pytest

import mxcy as mx
from mxcy.dist.progress import ProgressThread
from mxcy.dist.worlds.memory_world import MemoryJob
from tests.dist.jobs import job, needs_mpi
from tests.dist.ranks import run

no_arrays = pytest.mark.skipif(
    os.environ.get("MXNET_ENABLE_CYTHON") == "0", reason="no arrays: one front is enough"
)


@no_arrays
@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("length", [3, 9000])
def test_values_that_differ(together, length):
    """From the third round on, rank 1 has another value of one of the keys."""
    arrays = {"a": np.ones(2), "b": np.ones(length)}

    def program(rank):
        def digest(key):
            return 7 + (rank.rank == 1 and key == "b" and len(rank.values[key]) >= 3)

        rank.exchange.check_values(2, digest)
        rank.init(**arrays)
        for number in range(6):
            if together and number:
                rank.push_bucket("a", arrays)
                continue
            for key, array in arrays.items():
                rank.push(key, array)
            for key in arrays:
                rank.pull(key)

    for result in run(3, program, bound=10**6):
        assert str(result) == (
            "before round 4, the value of key 'b' in rank 1 (memory) differs from that in rank 0 "
            "(memory) (MXCY_DIST_CHECK_EVERY)"
        )


def test_how_often(monkeypatch):
    monkeypatch.setenv("MXCY_DIST_CHECK_EVERY", "3")
    looked = []
    store = mx.kv.create("dist_sync")
    digest = store.handle._digest
    store.handle.exchange.check_values(3, lambda key: looked.append(key) or digest(key))
    store.init("w", mx.nd.zeros(2))
    for _ in range(7):
        store.pushpull("w", mx.nd.ones(2), out=mx.nd.zeros(2))
    store._settle()
    assert looked == ["w"] * 2


@no_arrays
def test_who_gives_no_sign_of_life():
    answered = threading.Barrier(3, timeout=60)

    def program(rank):
        silent = rank.progress.silent(30)
        answered.wait()
        return silent

    assert run(3, program) == [[], [], []]
    alone = ProgressThread(lambda: MemoryJob(3).worlds[1])
    assert alone.silent(0.05) == [0, 2]


def test_one_worker_is_alive():
    assert mx.kv.create("dist_sync").get_num_dead_node(7) == 0
    assert mx.kv.create("local").get_num_dead_node(4) == 0


def test_streams_of_workers():
    store = mx.kv.create("dist_sync")
    mx.kv.seed(store, 11)
    mine = mx.nd.random.uniform(shape=(4,)).asnumpy()
    mx.random.seed(11 + store.rank)
    assert (mine == mx.nd.random.uniform(shape=(4,)).asnumpy()).all()


_TWO = r"""
import mxcy as mx
store = mx.kv.create("dist_sync")
assert store.get_num_dead_node(4, timeout=30) == 0
store.init("w", mx.nd.zeros(3))
optimizer = mx.optimizer.SGD(learning_rate=1)
store.set_optimizer(optimizer)
out = mx.nd.zeros(3)
for number in range(6):
    store.pushpull("w", mx.nd.ones(3), out=out)
    out.wait_to_read()
    if number == 2 and store.rank == 1:
        optimizer.set_learning_rate(0.5)
"""


@needs_mpi
@pytest.mark.dist_long
def test_a_rate_that_one_worker_has_changed():
    ended = job(2, _TWO, MXCY_DIST_CHECK_EVERY="1")
    assert ended.code != 0
    assert "before round 5, the value of key 'w' in rank 1" in ended.err
