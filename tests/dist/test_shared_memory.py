"""All-reduce in memory that the ranks of a machine share."""

import functools
import json
import math

import numpy as np
import pytest

from mxcy.dist.keys import buckets, shared_memory
from mxcy.dist.keys.ownership import Ownership
from mxcy.dist.keys.pushes import KeyArrays
from mxcy.dist.keys.shared_memory import SharedArray, SharedValues
from mxcy.dist.keys.slots import Slot
from mxcy.dist.worlds.memory_world import MemoryJob
from mxcy.dist.worlds.segments import AREA_BYTES, Segments
from tests.dist.jobs import job, needs_mpi
from tests.dist.ranks import run

_PROGRAM = """
import json
import mxcy as mx
store = mx.kv.create("dist_sync")
values = [mx.nd.arange(length) * (store.rank + 1) for length in (30_000, 3_000_001, 3)]
store.init([0, 1, 2], values)
for _ in range(2):
    store.pushpull([0, 1, 2], values)
ends = [value.asnumpy()[[1, -1]].tolist() for value in values]
world = store.handle.progress.world
shared = world.new_channel().areas is not None
print("\\n" + json.dumps([store.rank, shared, *ends]), flush=True)
"""


def together(ranks, area, steps, seed=None):
    """Run ``steps(rank, channel)``, a generator of requests, on all ranks in turns."""
    worlds = MemoryJob(ranks, seed, area=area).worlds
    going = {world.rank: steps(world.rank, world.new_channel()) for world in worlds}
    requests = {rank: next(running) for rank, running in going.items()}
    while going:
        for rank in list(going):
            if requests[rank].done():
                try:
                    requests[rank] = going[rank].send(rank)
                except StopIteration as end:
                    assert end.value == rank  # what was sent in after the last request
                    del going[rank]


class _Bucket:
    """What `SharedArray` needs of a bucket."""

    updating = None

    def __init__(self, channel, shapes, dtype):
        self.slots = [Slot(key, shape, dtype, None) for key, shape in enumerate(shapes)]
        start = 0
        for slot in self.slots:
            slot.span = slice(start, start + slot.size)
            start += slot.size
        self.channel, self.dtype, self.length = channel, np.dtype(dtype), start


def _arrays(source, target, draw):
    """Arrays, cut into several keys, as `KeyArrays`."""
    starts = np.sort([0, *draw.integers(0, source.size + 1, 3), source.size])
    places = source.itemsize * starts[:-1]
    targets = None if target is None else target.ctypes.data + places
    return KeyArrays(starts, source.ctypes.data + places, targets, (source, target))


@pytest.mark.parametrize("dtype", ["f4", "f8", "u1", "i1", "i4", "i8"])
@pytest.mark.parametrize("ranks", [2, 3, 5])
@pytest.mark.parametrize("where", ["in place", "apart", "left there"])
def test_sums(ranks, where, dtype, monkeypatch):
    """Sums in the order of ranks, of keys cut anywhere, in several sessions."""
    monkeypatch.setattr(shared_memory, "_PIECE_BYTES", 4_096)
    draw = np.random.default_rng(ranks)
    for seed, length in enumerate([1, 4_096, 12_001]):
        values = (draw.normal(size=(2, ranks, length)) * 99).astype(dtype)
        totals = [functools.reduce(np.add, terms) for terms in values]

        def steps(rank, channel, values=values, totals=totals):
            array = SharedArray(_Bucket(channel, [values.shape[2:]], dtype))
            for terms, total in zip(values, totals, strict=True):
                source = terms[rank].copy()
                target = {"in place": source, "left there": None}.get(where, np.zeros_like(source))
                yield from array.sum(_arrays(source, target, np.random.default_rng(rank)))
                kept = SharedValues(array, lambda: (np.empty_like(total), None))  # noqa: B023
                assert (kept.copy() == total).all()
                assert target is None or (target == total).all()
                assert target is source or (source == terms[rank]).all()
            return rank

        together(ranks, 110_000, steps, seed)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("area", [1 << 12, 300])
def test_buckets(seed, area, monkeypatch):
    """Keys pushed together, one by one and in different orders, with areas that suit or do not."""
    for name in ("_SHARED_BYTES", "_COUNTED_BYTES"):
        monkeypatch.setattr(buckets, name, 0)
    keys = {"a": 30, "b": 7, "c": 41}

    def program(rank):
        draw = np.random.default_rng(seed * 10 + rank.rank)
        rank.init(**{key: np.zeros(size, "f4") for key, size in keys.items()})
        for number in range(12):
            value = {key: np.full(size, rank.rank + number, "f4") for key, size in keys.items()}
            if number % 3 == 2 or (number % 3 == 1 and number % 2 == rank.rank):
                rank.push_bucket("a", value, early=bool(draw.integers(4)))
                continue
            for key in draw.permutation(list(keys)):
                rank.push(key, value[key])
            for key in keys:
                rank.pull(key)
        return {key: [total[[0, -1]].tolist() for total in rank.values[key]] for key in keys}

    expected = [[3.0 * number + 3] * 2 for number in range(12)]
    for result in run(3, program, bound=10_000, seed=seed, area=area):
        assert result == dict.fromkeys(keys, expected)


class _Subtracting(_Bucket):
    """A bucket of which sums are subtracted from the values, as often as the session says."""

    def __init__(self, channel, shapes, dtype):
        super().__init__(channel, shapes, dtype)
        self.updating, self.ownership = self, Ownership(self.slots, channel.size)
        self.began, self.updated = [], []

    def begin(self, shares, values, slots, current):
        assert slots is self.slots and values.size == sum(share.length for share in shares)
        self.began.append(current)
        if not current:
            values[:] = 1

    def update(self, parts, slots, current):
        ((shares, sums, values),) = parts
        assert current and not slots and sums.size == values.size
        assert sums.size == sum(share.length for share in shares)
        self.updated += [(share.slot.key, share.begin, share.end) for share in shares]
        values -= sums
        return self.channel.barrier()


@pytest.mark.parametrize("seed", range(12))
def test_updates_in_pieces(seed, monkeypatch):
    """Every rank has the sums of all ranks subtracted from every value, bit by bit."""
    draw = np.random.default_rng(seed)
    ranks, most = int(draw.integers(2, 6)), int(draw.choice([64, 200, 1000]))
    monkeypatch.setattr(shared_memory, "_PIECE_BYTES", 4 * most)
    shapes = [(int(draw.integers(1, 900)), int(draw.integers(1, 60))) for _ in range(3)]
    shapes = [(700,), *shapes[: int(draw.integers(0, 4))], (0, 3), ()]
    length, sessions = sum(map(math.prod, shapes)), 3
    sources = (draw.normal(size=(sessions, ranks, length)) * 100).astype("f4")
    targets = np.zeros((ranks, length), "f4")
    draw_of = [np.random.default_rng([seed, rank]) for rank in range(ranks)]
    expected = np.ones(length, "f4")
    for values in sources:
        total = values[0]
        for value in values[1:]:
            total = total + value
        expected -= total

    def steps(rank, channel):
        bucket = _Subtracting(channel, shapes, "f4")
        array, sums = SharedArray(bucket), np.empty(length, "f4")
        for session, values in enumerate(sources):
            source = targets[rank]  # results replace what has been pushed
            source[:] = values[rank]
            arrays = _arrays(source, source if session != 1 else None, draw_of[rank])
            yield from array.update(arrays, sums, session > 0)
        assert bucket.began == [False, True, True]
        rows = sorted(bucket.updated)
        assert rows == sorted(3 * list(dict.fromkeys(bucket.updated)))
        values = SharedValues(array, lambda: (np.empty(length, "f4"), None))
        assert (values.copy() == expected).all()
        return rank

    together(ranks, 6 * (ranks - 1) * 4 * (most + 32), steps, seed)
    assert (targets == expected).all()


def test_segments():
    first, second = Segments(), Segments()
    paths = [first.path, second.path]
    first.attach(paths)
    second.attach(paths)
    first.areas(3)[1][-4:] = [1, 2, 3, 4]
    first.areas(4)[1][0] = 5
    first.values(3, 5000)[1][-4:] = [6, 7, 8, 9]
    first.close()
    assert second.values(3, 5000)[1][-5:].tolist() == [0, 6, 7, 8, 9]
    assert not second.values(3, 5000)[0].any()
    assert second.areas(3)[1][-4:].tolist() == [1, 2, 3, 4]
    assert second.areas(4)[1][0] == 5 and len(second.areas(5)[0]) == AREA_BYTES
    assert not second.areas(3)[0].any()
    second.close()
    with pytest.raises(OSError):
        Segments().attach(["/proc/self/fd/none"])


@needs_mpi
@pytest.mark.parametrize("flag", ["1", "0"])
def test_processes(flag):
    done = job(3, _PROGRAM, MXCY_DIST_SHARED_MEMORY=flag)
    assert done.code == 0, done.err
    for rank, line in enumerate(done.lines):
        ends = [[18, 18.0 * (length - 1)] for length in (30_000, 3_000_001, 3)]
        assert json.loads(line) == [rank, flag == "1", *ends]


_CHANGING = """
import numpy as np
import mxcy as mx
store = mx.kv.create("dist_sync")
keys, shapes = [0, 1, 2], [(299, 101), (7,), (201, 100)]
bases = [np.arange(np.prod(shape)).reshape(shape) % 97 for shape in shapes]
def arrays(more):
    return [mx.nd.array(base + more) for base in bases]
def are(found, factor, more):
    return [bool((one.asnumpy() == factor * base + more).all()) for one, base in zip(found, bases)]
store.init(keys, arrays(9))
gradients, outs = arrays(store.rank + 1), arrays(0)
for step in range(3):
    store.pushpull(keys, gradients)
    gradients[0].wait_to_read()  # from the first sums on there is a bucket
found = are(gradients, 8, 12)
store.set_optimizer(mx.optimizer.SGD(learning_rate=0.5, rescale_grad=1))
for step in range(2):
    store.pushpull(keys, arrays(store.rank + 1), out=outs)
found += are(outs, 6, 9)
store._set_updater(None)
for step in range(2):
    store.pushpull(keys, arrays(store.rank + 5), out=outs)
    store.push(1, mx.nd.full(shapes[1], store.rank + 1))
store.pull(keys, outs)
found += are(outs, 2, 11)[::2]
print("\\n" + str([*found, outs[1].asnumpy().tolist()]), flush=True)
"""


@needs_mpi
@pytest.mark.parametrize("flag", ["1", "0"])
def test_sums_and_weights_in_turns(flag):
    """An optimizer begins with sums that have stayed in shared memory, and ends likewise."""
    done = job(2, _CHANGING, MXCY_DIST_SHARED_MEMORY=flag)
    assert done.lines == [str([True] * 8 + [[3.0] * 7])] * 2, done.err


_KEPT = """
import mxcy as mx
store = mx.kv.create("dist_sync")
values, out = [mx.nd.zeros(30_000), mx.nd.zeros(3_000_001)], mx.nd.zeros(30_000)
store.init([0, 1], values)
seen = []
for step in range(4):
    for key, value in enumerate(values):
        value[:] = store.rank + step
        store.pushpull(key, value)
        value *= 10  # the store keeps the sum
        if step % 2:
            out = mx.nd.zeros(value.shape)
            store.pull(key, out)
            seen += out.asnumpy()[[0, -1]].tolist()
        seen += value.asnumpy()[[1, -2]].tolist()
store.push(0, mx.nd.ones(30_000))  # replaces a sum that nobody has read
store.pull(0, out := mx.nd.zeros(30_000))
print("\\n" + str([*seen, out.asnumpy().tolist() == [2.0] * 30_000]), flush=True)
"""


@needs_mpi
@pytest.mark.parametrize("flag", ["1", "0"])
def test_stores_keep_sums_of_single_arrays(flag):
    """Sums in place stay in shared memory or are copied, whatever the program does next."""
    done = job(2, _KEPT, MXCY_DIST_SHARED_MEMORY=flag, MXCY_DIST_BUCKET_BYTES="100000")
    expected = []
    for step in range(4):
        total = 2.0 * step + 1
        expected += ([total] * 2 * (step % 2) + [total * 10] * 2) * 2
    assert done.lines == [str([*expected, True])] * 2, done.err
