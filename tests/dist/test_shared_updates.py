"""Workers that each update a part of the weights get the result of updating all of them."""

import os
import random

import numpy as np
import pytest

import mxcy as mx
from mxcy.dist.keys import buckets
from mxcy.dist.keys.buckets import Bucket
from mxcy.dist.keys.ownership import Ownership
from mxcy.dist.keys.reductions import AllReduce
from mxcy.dist.keys.slots import Slot
from tests.dist.jobs import job, needs_mpi
from tests.dist.ranks import run

no_arrays = pytest.mark.skipif(
    os.environ.get("MXNET_ENABLE_CYTHON") == "0", reason="no arrays: one front is enough"
)


class _Done:
    @staticmethod
    def done():
        return True


class _Doubling:
    """Adds twice the sum to the values."""

    def __init__(self, rank, fails=None):
        self._rank, self._fails = rank, fails

    @staticmethod
    def suits(bucket):
        return True

    def begin(self, shares, values, slots, current):
        if not current:
            start = 0
            for share in shares:
                values[start : start + share.length] = self._before(share)
                start += share.length

    def _before(self, share):
        slot, row = share.slot, share.length // (share.end - share.begin)
        before = self._rank.values[slot.key][-1] if self._rank.values[slot.key] else 0.0
        before = np.broadcast_to(before, slot.shape).reshape(-1)
        return before[share.begin * row : share.end * row]

    def update(self, parts, slots, current):
        for shares, sums, values in parts:
            start = 0
            for share in shares:
                place, slot = slice(start, start + share.length), share.slot
                start += share.length
                if not current:
                    values[place] = self._before(share)
                values[place] += 2 * sums[place]
                if slot.key == self._fails and self._rank.rank == 1:
                    slot.failed = "no"
                    slot.bucket.failures.append(slot)
        return _Done


def _compare(seed, area=None):
    draw = random.Random(seed)
    size, bound = draw.choice((2, 3, 4)), draw.choice((8, 500, 4096, 10**6))
    lengths = {f"k{i}": draw.choice((0, 1, 3, 40, 700, 9000)) for i in range(draw.randint(1, 9))}
    rounds = draw.randint(1, 4)

    def program(rank):
        order = random.Random(seed * 31 + rank.rank)
        rank.exchange.share_updates(_Doubling(rank))
        rank.init(**{key: np.zeros((length, 2)) for key, length in lengths.items()})
        for number in range(1, rounds + 1):
            arrays = {key: np.full((n, 2), number + rank.rank) for key, n in lengths.items()}
            if number > 1 and order.random() < 0.5:
                for bucket in dict.fromkeys(rank.slots[key].bucket for key in lengths):
                    keys = [slot.key for slot in bucket.slots]
                    rank.push_bucket(keys[0], {key: arrays[key] for key in keys})
                continue
            keys = sorted(lengths, key=lambda _: order.random())
            for key in keys:
                rank.push(key, arrays[key])
            for key in keys:
                rank.pull(key)
        shared = {key: rank.slots[key].bucket.updating is not None for key in lengths}
        return {k: (shared[k], [value.tolist() for value in rank.values[k]]) for k in lengths}

    for seen in run(size, program, bound, seed, area=area):
        if isinstance(seen, Exception):
            raise seen
        for key, length in lengths.items():
            sums = [r * size + size * (size - 1) / 2 for r in range(1, rounds + 1)]
            shared, values = seen[key]
            expected = np.cumsum(sums) * 2 if shared else sums
            assert values == [[[total] * 2] * length for total in expected], (seed, key)


@no_arrays
@pytest.mark.parametrize("seed", range(8))
def test_random_programs_against_a_serial_model(seed):
    _compare(seed)


@no_arrays
@pytest.mark.parametrize("area", [1 << 20, 1 << 16])
@pytest.mark.parametrize("seed", range(8, 14))
def test_random_programs_in_shared_memory(seed, area, monkeypatch):
    for name in ("_SHARED_BYTES", "_COUNTED_BYTES"):
        monkeypatch.setattr(buckets, name, 0)
    _compare(seed, area)


@no_arrays
@pytest.mark.parametrize("area", [None, 1 << 20, 1 << 16])
def test_an_update_that_fails_in_one_process(area):
    def program(rank):
        rank.exchange.share_updates(_Doubling(rank, fails="b"))
        rank.init(a=np.zeros(3000), b=np.zeros(9000))
        for key in "ab":
            rank.push(key, np.ones(3000 if key == "a" else 9000))
        total = rank.pull("a")[0]
        while True:  # others learn of it soon
            rank.pull("b")

        return total

    first, second, third = run(3, program, bound=10**6, area=area)
    assert str(second) == "no"
    assert str(first) == str(third) == "rank 1 (memory): no"


def _slots(*shapes):
    slots = [Slot(i, shape, "float32", None) for i, shape in enumerate(shapes)]
    Bucket(slots, None, 1, AllReduce())
    return slots


def test_parts_are_cut_between_rows():
    slots = _slots((7, 10), (), (0, 3), (5,), (2, 100))
    parts = Ownership(slots, 3).shares(slots)
    told = [[(one.slot.key, one.begin, one.end, one.length) for one in owned] for owned in parts]
    assert told == [[(0, 0, 7, 70), (1, 0, 1, 1), (3, 0, 5, 5)], [(4, 0, 1, 100)], [(4, 1, 2, 100)]]
    some = Ownership(slots, 3).shares([slots[0], slots[4]])
    assert [[one.slot.key for one in owned] for owned in some] == [[0], [4], [4]]
    alone = _slots((10,))
    lengths = [sum(one.length for one in owned) for owned in Ownership(alone, 4).shares(alone)]
    assert lengths == [2, 3, 2, 3]


#: weights of a store compared with those of an updater that gets all sums
_PROGRAM = r"""
import os, pickle
import mxcy as mx, numpy as np
from mxcy.optimizer import get_updater
shapes = [(300, 100), (7,), (2, 20000), (50000,), (1, 9), (90, 3), (3, 300000)]  # uneven parts
keys = [f"w{i}" for i in range(len(shapes))]
job = mx.kv.create("dist_sync")
rank, size = job.rank, job.num_workers

def arrays(seed):
    # of which sums are the same in any order
    draw = np.random.RandomState(seed)
    return [mx.nd.array(draw.randint(-99, 99, shape).astype("float32") / 64) for shape in shapes]

def compare(name, **settings):
    store = mx.kv.create("dist_sync")
    first = arrays(7)
    store.init(keys, [one * (rank + 1) for one in first])
    optimizer = mx.optimizer.create(name, learning_rate=0.01, wd=0.01, **settings)
    store.set_optimizer(optimizer)
    alone = get_updater(mx.optimizer.create(name, learning_rate=0.01, wd=0.01, **settings))
    outs = [mx.nd.zeros(shape) for shape in shapes]
    for step in range(5):
        if step == 3:
            store._settle()
            optimizer.set_learning_rate(0.003)
            alone.optimizer.set_learning_rate(0.003)
        mine = arrays(100 * step + rank)
        if step == 2:
            for i in np.random.RandomState(rank).permutation(len(keys)):
                store.pushpull(keys[i], mine[i], out=outs[i])
        elif step == 1:
            store.pushpull(keys, mine)
            outs = mine
        else:
            store.pushpull(keys, mine, out=outs)
        total = [sum(each) for each in zip(*[arrays(100 * step + r) for r in range(size)])]
        for key, gradient, weight in zip(keys, total, first):
            alone(key, gradient, weight)
        pulled = [mx.nd.zeros(shape) for shape in shapes]
        if step != 3:
            store.pull(keys, out=pulled)
        for array in (outs, pulled) if step != 3 else (outs,):
            for out, weight in zip(array, first):
                np.testing.assert_allclose(out.asnumpy(), weight.asnumpy(), rtol=2e-5, atol=2e-6)
    return store, alone, outs, first
"""

_STATES = r"""
store, alone, outs, first = compare("adam")
mine = {key: state for key, state in store._updater.states.items()}
assert "w0" not in mine  # it is in parts
path = os.path.join(os.environ["STATES"], "states")
if rank == 0:
    store.save_optimizer_states(path, dump_optimizer=True)
    with open(path, "rb") as file:
        states, optimizer = pickle.load(file)
    assert sorted(states) == keys and optimizer._index_update_count["w3"] == 5
    for key in keys:
        for ours, theirs in zip(states[key], alone.states[key]):
            assert ours.shape == theirs.shape
            np.testing.assert_allclose(ours.asnumpy(), theirs.asnumpy(), rtol=2e-5, atol=2e-6)
    assert "w0" not in store._updater.states
store._barrier()
other = mx.kv.create("dist_sync")
other.init(keys, first)
other.set_optimizer(mx.optimizer.Adam(learning_rate=0.01, wd=0.01))
other.load_optimizer_states(path)
other.pushpull(keys, arrays(500 + rank), out=outs)
total = [sum(each) for each in zip(*[arrays(500 + r) for r in range(size)])]
for key, gradient, weight, out in zip(keys, total, first, outs):
    alone(key, gradient, weight)
    np.testing.assert_allclose(out.asnumpy(), weight.asnumpy(), rtol=2e-5, atol=2e-6)
print("\nright", flush=True)
"""

_OTHERS = r"""
for name in ("nag", "signum", "adamw", "adamax", "adagrad", "adadelta", "rmsprop", "ftrl", "ftml",
             "adabelief", "dcasgd", "lamb"):
    store = compare(name)[0]
    shared = "w0" not in store._updater.states
    assert shared == (name != "lamb"), name
compare("sgd", momentum=0.9)
mx.nd.waitall()

store = mx.kv.create("dist_sync")  # rows of a dense weight
store.init("e", mx.nd.ones((3000, 40)))
store.set_optimizer(mx.optimizer.SGD(learning_rate=1, momentum=0.5))
out = mx.nd.zeros((3000, 40))
for step in range(3):
    ids = [0, 2999] if step == 0 else [5 + rank]
    rows = mx.nd.ones((len(ids), 40))
    gradient = mx.nd.sparse.row_sparse_array((rows, ids), shape=(3000, 40))
    store.push("e", gradient)
    store.pull("e", out)
    out.wait_to_read()
assert out.asnumpy()[:, 3].tolist()[:8] == [1 - size, 1, 1, 1, 1] + [-1.5] * min(size, 3) + [1] * (
    3 - size
)
assert out.asnumpy()[2999, 0] == 1 - size  # lazily: its momentum waits
print("\nright", flush=True)
"""


@needs_mpi
@pytest.mark.parametrize("bound", ["4194304", "500000"])  # the second one: updates in pieces
def test_states_are_gathered_and_dealt(tmp_path, bound):
    ended = job(2, _PROGRAM + _STATES, STATES=str(tmp_path), MXCY_DIST_BUCKET_BYTES=bound)
    assert (ended.code, ended.lines) == (0, ["right"] * 2), ended.err


@needs_mpi
@pytest.mark.dist_long
def test_every_optimizer():
    ended = job(3, _PROGRAM + _OTHERS, timeout=110)
    assert (ended.code, ended.lines) == (0, ["right"] * 3), ended.err


@needs_mpi
def test_without_sharing():
    end = "store = compare('sgd', momentum=0.5)[0]\nprint('\\n', 'w0' in store._updater.states)"
    ended = job(2, _PROGRAM + end, MXCY_DIST_SHARED_UPDATES="0")
    assert (ended.code, ended.lines) == (0, [" True"] * 2), ended.err


_CHANGED = r"""
import mxcy as mx
store = mx.kv.create("dist_sync")
store.init("w", mx.nd.zeros(30000))
optimizer = mx.optimizer.SGD(learning_rate=1)
store.set_optimizer(optimizer)
out = mx.nd.zeros(30000)
for number in range(6):
    store.pushpull("w", mx.nd.ones(30000), out=out)
    out.wait_to_read()
    if number == 2 and store.rank == 1:
        optimizer.set_learning_rate(0.5)
"""


@needs_mpi
@pytest.mark.dist_long
def test_a_rate_that_one_worker_has_changed():
    """All have the same weights, although their settings differ."""
    ended = job(2, _CHANGED, MXCY_DIST_CHECK_EVERY="1")
    assert ended.code != 0
    assert "before round 4, the value of key 'w' in rank 1" in ended.err


def test_one_worker_has_all_states():
    store = mx.kv.create("dist_sync")
    store.init(0, mx.nd.zeros(30000))
    store.set_optimizer(mx.optimizer.Adam())
    out = mx.nd.zeros(30000)
    store.pushpull(0, mx.nd.ones(30000), out=out)
    out.wait_to_read()
    assert store._updater.states[0][0].shape == (30000,)


#: keys too large for input buffers, and others, against an updater that has all sums
_LARGE = r"""
import os
import mxcy as mx, numpy as np
from mxcy.optimizer import get_updater
shapes = [(3001, 997), (5_000_003,), (7, 20), (997, 701)]
keys = list(range(len(shapes)))
store = mx.kv.create("dist_sync")
rank, size = store.rank, store.num_workers

def arrays(seed):
    draw = np.random.RandomState(seed)
    bits = [draw.bytes(int(np.prod(shape))) for shape in shapes]
    return [
        mx.nd.array(np.frombuffer(b, "i1").reshape(shape).astype("float32") / 64)
        for b, shape in zip(bits, shapes)
    ]

first = arrays(7)
store.init(keys, first)
settings = dict(learning_rate=0.1, momentum=0.9, wd=0.01)
optimizer = mx.optimizer.SGD(**settings)
store.set_optimizer(optimizer)
alone = get_updater(mx.optimizer.SGD(**settings))
outs = [mx.nd.zeros(shape) for shape in shapes]
for step in range(6):
    mine = arrays(100 * step + rank)
    if step == 3:
        store._settle()
        optimizer.set_learning_rate(0.03)
        alone.optimizer.set_learning_rate(0.03)
    if step == 2:  # one key at a time, in another order on each rank
        for key in keys[::-1] if rank else keys:
            store.push(key, mine[key])
        store.pull(keys, out=outs)
    elif step == 4:
        store.pushpull(keys, mine)
        outs = mine
    else:
        store.pushpull(keys, mine, out=outs)
    total = [sum(each) for each in zip(*[arrays(100 * step + r) for r in range(size)])]
    for key in keys:
        alone(key, total[key], first[key])
        assert (outs[key].asnumpy() == first[key].asnumpy()).all(), (step, key)
    if step == 1:
        path = os.path.join(os.environ["STATES"], "states")
        if rank == 0:
            store.save_optimizer_states(path)
        store._barrier()
    if step == 4:  # as they were after step 1, in both
        store.load_optimizer_states(path)
        with open(path, "rb") as file:
            alone.set_states(file.read())
buckets = {store.handle.shared[key].slot.bucket for key in keys}
print("\n", len(buckets), sum(bucket.fits_shared for bucket in buckets))
"""


@needs_mpi
@pytest.mark.parametrize("bound, buckets", [("4194304", " 4 3"), ("400000000", " 1 1")])
def test_large_keys(tmp_path, bound, buckets):
    settings = {"STATES": str(tmp_path), "MXCY_DIST_BUCKET_BYTES": bound}
    ended = job(2, _LARGE, **settings)
    assert (ended.code, ended.lines) == (0, [buckets] * 2), ended.err
