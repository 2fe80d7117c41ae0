"""Sums over ranks, on threads of one process: in any order, in buckets, with errors."""

import os
import random
import time

import numpy as np
import pytest

import mxcy as mx
from mxcy.dist.keys.key_lists import compare_keys
from mxcy.dist.keys.slots import Slot, plan
from tests.dist.ranks import run

pytestmark = pytest.mark.skipif(
    os.environ.get("MXNET_ENABLE_CYTHON") == "0", reason="no arrays: one front is enough"
)


def succeed(results):
    for result in results:
        if isinstance(result, Exception):
            raise result
    return results


def test_first_values_are_those_of_rank_0():
    results = succeed(run(3, lambda rank: rank.init(a=np.full(2, rank.rank), b=np.zeros((0, 3)))))
    for a, b in results:
        assert a.tolist() == [0, 0] and b.shape == (0, 3)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint8", "int32", "int64"])
def test_sums_of_each_type(dtype):
    big = 2**53 if dtype == "int64" else 5

    def program(rank):
        rank.init(a=np.zeros(3, dtype), b=np.zeros((2, 2), dtype))
        rank.push("a", np.full(3, big + rank.rank, dtype))
        rank.push("b", np.full((2, 2), 2, dtype))
        return rank.pull("a"), rank.pull("b")

    for a, b in succeed(run(3, program)):
        assert a.dtype == dtype and a.tolist() == [3 * big + 3] * 3
        assert b.tolist() == [[6, 6], [6, 6]]


def test_opposite_orders():
    """Each rank waits for one key before it pushes the other; there is no deadlock."""

    def pushing(rank):
        shapes = {"a": 3, "b": 5000, "c": 2, "d": 0}
        rank.init(**{key: np.zeros(length) for key, length in shapes.items()})
        if rank.rank == 0:
            rank.push("a", np.ones(3))
        sums = {}
        for key in "bcd" if rank.rank else "dbc":
            rank.push(key, np.full(shapes[key], rank.rank + 1.0))
            if rank.rank == 0:
                sums[key] = rank.pull(key)
        if rank.rank:
            rank.push("a", np.ones(3))
        return {**{key: rank.pull(key) for key in shapes}, **sums}

    for sums in succeed(run(2, pushing)):
        assert sums["a"].tolist() == [2, 2, 2] and sums["b"].sum() == 15000
        assert sums["c"].tolist() == [3, 3] and sums["d"].size == 0


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_against_a_serial_model(seed):
    compare_random_program(seed)


@pytest.mark.parametrize("per_host", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_random_programs_on_several_machines(seed, per_host):
    compare_random_program(seed, per_host)


def compare_random_program(seed, per_host=None):
    """Run a random program on several ranks with random delays, and check its sums."""
    draw = random.Random(seed)
    size, bound = draw.choice((1, 2, 3, 5)), draw.choice((8, 100, 4096, 10**6))
    size = 2 * per_host if per_host else size
    lengths = {f"k{i}": draw.choice((0, 1, 3, 40, 700, 9000)) for i in range(draw.randint(1, 12))}
    rounds = {key: draw.randint(0, 4) for key in lengths}
    later = set(draw.sample(sorted(lengths), draw.randint(0, len(lengths) // 2)))

    def program(rank):
        order = random.Random(seed * 31 + rank.rank)
        early = {key: np.zeros(lengths[key]) for key in lengths if key not in later}
        if early:
            rank.init(**early)
        seen = {}
        for group in (sorted(set(lengths) - later), sorted(later)):
            calls = [key for key in group for _ in range(rounds[key])]
            order.shuffle(calls)
            if group and group[0] in later:
                rank.init(**{key: np.zeros(lengths[key]) for key in group})
            count = dict.fromkeys(lengths, 0)
            for key in calls:
                count[key] += 1
                rank.push(key, np.full(lengths[key], count[key] * 10.0 + rank.rank))
                if order.random() < 0.1:
                    time.sleep(0.0005)
        for key in sorted(lengths, key=lambda _: order.random()):
            rank.pull(key)
            seen[key] = [total.tolist() for total in rank.values[key]]
        return seen

    for seen in succeed(run(size, program, bound, seed, per_host=per_host)):
        for key, length in lengths.items():
            sums = [r * 10.0 * size + size * (size - 1) / 2 for r in range(1, rounds[key] + 1)]
            assert seen[key] == [[total] * length for total in sums]


def test_a_push_that_waits_for_a_sum_of_its_own_bucket():
    """The push is expected by others, but comes only after the other key's sum."""

    def program(rank):
        rank.init(a=np.zeros(4), b=np.zeros(3))
        rank.slots["b"].submitted += 1
        rank.push("a", np.ones(4))
        rank.pull("a")
        rank.slots["b"].submitted -= 1
        rank.push("b", np.ones(3))
        return rank.pull("b")[0]

    assert succeed(run(2, program)) == [2, 2]


def test_sixty_four_ranks():
    def program(rank):
        rank.init(a=np.zeros(4), b=np.zeros(3))
        for _ in range(2):
            rank.push("a", np.ones(4))
            rank.push("b", np.ones(3))
            rank.pull("a")
        return rank.pull("a")[0], rank.pull("b")[0]

    assert set(succeed(run(64, program))) == {(64.0, 64.0)}


def test_large_sums_are_made_inside_machines_first():
    """Each rank of a machine then reduces its part with its counterparts on other machines."""
    calls = []

    def program(rank):
        rank.init(a=np.zeros(20_001), b=np.zeros(5))
        for slot in rank.slots.values():
            rank.push(slot.key, np.full(slot.size, 1.0 + rank.rank))
        a, b = rank.pull("a"), rank.pull("b")
        inside = rank.slots["a"].bucket.channel.inside
        calls.append((inside.rank, inside.size, inside._calls))
        return a.tolist(), b.tolist()

    for a, b in succeed(run(6, program, per_host=3)):
        assert a == [21.0] * 20_001 and b == [21.0] * 5
    assert sorted(calls) == [(number, 3, 2) for number in (0, 0, 1, 1, 2, 2)]


def test_bucket_bytes(monkeypatch):
    slots = [Slot(i, (100,), np.dtype("float32"), None) for i in range(30)]
    slots.append(Slot("big", (5000,), np.dtype("float32"), None))
    slots.append(Slot("other", (1,), np.dtype("int64"), None))
    groups = plan(slots, 4000, 500, 256)
    assert [[slot.key for slot in group] for group in groups[:2]] == [["other"], ["big"]]
    assert sorted(len(group) for group in groups) == [1, 1, 10, 10, 10]
    assert [slot.key for slot in groups[2]] == list(range(29, 19, -1))
    mixed = [Slot(i, (10,), np.dtype("float32"), None, still=i % 2 > 0) for i in range(8)]
    keys = [[slot.key for slot in group] for group in plan(mixed, 4000, 500, 256)]
    assert keys == [[7, 5, 3, 1], [6, 4, 2, 0]]
    keys = [[slot.key for slot in group] for group in plan(slots[:10], 4000, 900, 256, ends=True)]
    assert keys == [[9, 8, 7], [6, 5, 4, 3, 2], [1, 0]]
    few = plan(slots, 400, 50, 4)
    assert len(few) <= 4 and sum(len(group) for group in few) == 32
    monkeypatch.setenv("MXCY_DIST_BUCKET_BYTES", "800")
    store = mx.kv.create("dist_sync")
    store.init(list(range(6)), [mx.nd.zeros(100)] * 6)
    for key in range(6):
        store.push(key, mx.nd.ones(100))
    store._settle()
    assert [bucket["keys"] for bucket in store.stats()["buckets"]] == [[5], [4, 3], [2, 1], [0]]


def test_keys_in_different_orders():
    """Buckets have the order of rank 0."""
    keys = {"a": 2, "b": 300, "c": 100, "d": 1}

    def program(rank):
        own = list(keys) if rank.rank != 1 else ["d", "b", "a", "c"]
        rank.init(**{key: np.full(keys[key], 10.0 * rank.rank) for key in own})
        for key in own:
            rank.push(key, np.full(keys[key], keys[key] + rank.rank))
        sums = {key: rank.pull(key) for key in keys}
        buckets = [[slot.key for slot in bucket.slots] for bucket in rank.exchange.buckets]
        return {key: (total.size, total[0]) for key, total in sums.items()}, buckets

    for sums, groups in succeed(run(3, program, bound=3000)):
        assert sums == {key: (size, 3 * size + 3) for key, size in keys.items()}
        assert groups == [["d", "c"], ["b", "a"]]


def test_different_keys_are_refused_on_all_ranks():
    def shapes(rank):
        rank.init(weight=np.zeros(2 + (rank.rank == 1)))

    text = (
        "init: rank 0 initializes key 'weight' of shape (2,) and dtype float64, "
        "rank 1 key 'weight' of shape (3,) and dtype float64"
    )
    assert [str(error) for error in run(3, shapes)] == [text] * 3

    def lacking(rank):
        rank.init(**{"a": np.zeros(1), **({"b": np.zeros(1)} if rank.rank == 0 else {})})

    assert all("rank 1 no further key" in str(error) for error in run(2, lacking))


def test_keys_that_have_gradients_on_one_rank_only():
    mine, other = ([["a", [1], "<f4", still]] for still in (False, True))
    with pytest.raises(mx.MXNetError, match="rank 1 key 'a' .* without a gradient"):
        compare_keys([mine, other])


def test_a_rank_that_leaves_early():
    def program(rank):
        rank.init(a=np.zeros(2), b=np.zeros(3))
        for i in range(3):
            if rank.rank == 1 and i == 2:
                return "left"
            rank.push("a", np.ones(2))
            rank.push("b", np.ones(3))
            rank.pull("b")
        return None

    results = run(3, program)
    assert results[1] == "left"
    for result in (results[0], results[2]):
        assert "rank 1 (memory) left the job in round 3 of key 'b'" in str(result)


def test_a_rank_that_leaves_before_an_agreement():
    def program(rank):
        if rank.rank == 0:
            return "left"
        rank.init(a=np.zeros(2))

    results = run(2, program)
    assert results[0] == "left"
    assert "rank 0 (memory) left the job before init of key 'a'" in str(results[1])


def test_last_pushes_are_summed_before_the_end():
    """A leaving rank has pushed everything: others still get the sums that they request later."""

    def program(rank):
        rank.init(a=np.zeros(2), b=np.zeros(3))
        rank.push("b", np.ones(3))
        rank.push("a", np.ones(2))
        if rank.rank == 1:
            return 2
        time.sleep(0.1)
        return rank.pull("a")[0]

    assert succeed(run(2, program)) == [2, 2]


def test_failed_delivery_is_reported_to_all():
    def program(rank):
        rank.init(a=np.zeros(2), b=np.zeros(2))
        if rank.rank == 1:

            def fail(total, lease):
                raise ValueError("no")

            rank.slots["a"].deliver = fail
        rank.push("a", np.ones(2))
        rank.push("b", np.ones(2))
        total = rank.pull("b")[0]
        while True:  # others learn of it soon
            rank.pull("a")
            time.sleep(0.001)
        return total

    first, second = run(2, program)
    assert str(second) == "key 'a', round 1: ValueError: no"
    assert str(first) == "rank 1 (memory): key 'a', round 1: ValueError: no"
