"""Workers with unequal numbers of batches: those that called `join` contribute zeros."""

import random

import numpy as np
import pytest

import mxcy as mx
from tests.dist.jobs import job, needs_mpi
from tests.dist.ranks import run


def succeed(results):
    for result in results:
        if isinstance(result, Exception):
            raise result
    return results


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
@pytest.mark.parametrize("sizes", [{"a": 3}, {"a": 3, "b": 2}, {"a": 3000, "b": 9000}])
def test_unequal_numbers_of_steps(seed, sizes):
    """Several epochs; some ranks have no step at all, even before keys have buckets."""
    size, draw = 4, random.Random(f"{seed} {sizes}")
    steps = [[draw.randrange(5) for _ in range(size)] for _ in range(3)]
    steps[0][1] = 0

    def program(rank):
        rank.init(**{key: np.zeros(length) for key, length in sizes.items()})
        lasts = []
        for own in (epoch[rank.rank] for epoch in steps):
            for _ in range(own):
                for key, length in sizes.items():
                    rank.push(key, np.full(length, 1.0 + rank.rank))
                for key in sizes:
                    rank.pull(key)
            lasts.append(rank.progress.join())
        return lasts, {key: [total[0] for total in rank.values[key]] for key in sizes}

    expected = [
        sum(1.0 + rank for rank in range(size) if epoch[rank] > step)
        for epoch in steps
        for step in range(max(epoch))
    ]
    results = succeed(run(size, program, seed=seed))
    for lasts, totals in results:
        assert lasts == results[0][0] and set(lasts) <= set(range(size))
        assert totals == dict.fromkeys(sizes, expected)


def test_whole_buckets():
    def program(rank):
        rank.init(a=np.zeros(3), b=np.zeros(2))
        for step in range(2 + rank.rank):
            if step:
                rank.push_bucket("a", {"a": np.ones(3), "b": np.ones(2)})
            else:
                for key, length in (("a", 3), ("b", 2)):
                    rank.push(key, np.ones(length))
                for key in "ab":
                    rank.pull(key)
        rank.progress.join()
        return [total[0] for total in rank.values["b"]]

    assert succeed(run(3, program)) == [[3.0, 3.0, 2.0, 1.0]] * 3


def test_a_rank_that_leaves_without_joining():
    def program(rank):
        rank.init(a=np.zeros(3))
        if rank.rank:
            rank.progress.join()

    results = run(2, program)
    assert results[0] is None
    assert str(results[1]) == "rank 0 (memory) left the job, in join()"


def test_one_worker():
    assert mx.kv.create("dist_sync").join() == mx.kv.create("local").join() == 0


@needs_mpi
def test_a_trainer():
    """Batches of one sample; the weights are those of a serial run with the same sums."""
    done = job(
        3,
        """
import mxcy as mx
from mxcy.gluon import Trainer, nn
store = mx.kv.create("dist_sync")
net = nn.Dense(1, use_bias=False, in_units=2)
net.initialize(mx.init.One())
trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5}, kvstore=store)
lasts = []
for epoch in range(2):
    for step in range(1 + (store.rank + epoch) % 3):
        with mx.autograd.record():
            loss = net(mx.nd.array([[1, store.rank]])).sum()
        loss.backward()
        trainer.step(1)
    store.join(trainer)
    print(f"\\n {epoch} {net.weight.data().asnumpy().ravel().tolist()}", flush=True)
""",
        timeout=90,
    )
    assert done.code == 0, done.err
    # Epoch 0: ranks 0 to 2 take 1, 2 and 3 steps; epoch 1: 2, 3 and 1.
    assert set(done.lines) == {" 0 [-2.0, -3.0]", " 1 [-5.0, -5.5]"}
