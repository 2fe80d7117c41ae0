"""Sharded updates while ranks die, on threads of one process: nothing is lost or done twice."""

import itertools
import os
import random
import time

import numpy as np
import pytest

import mxcy as mx
from mxcy.dist.keys import buckets
from mxcy.dist.keys.mirrors import Mirrors
from mxcy.kvstore import shared_updates
from mxcy.kvstore.shared_updates import SharedUpdates
from mxcy.optimizer import get_updater
from tests.dist.ranks import run

pytestmark = pytest.mark.skipif(
    os.environ.get("MXNET_ENABLE_CYTHON") == "0", reason="threads: one front is enough"
)
_SHAPES = {"a": (3,), "b": (40, 2), "c": (900,), "d": (7, 100), "e": (1, 5)}


class _Key:
    same_dtype, by_rows = True, False

    def __init__(self, slot):
        self.slot = slot


class _Store:
    """What `SharedUpdates` needs of a store; updates of other buckets are made here."""

    def __init__(self, rank):
        self.progress, self.exchange = rank.progress, rank.exchange
        settings = {"learning_rate": 0.5, "momentum": 0.5}  # sums of few bits: results are exact
        self.updater = get_updater(mx.optimizer.SGD(**settings))
        self.weights, self.values, self.sharded = {}, rank.values, []
        rank.init(**{key: np.zeros(shape, "float32") for key, shape in _SHAPES.items()})
        self.shared = {key: _Key(slot) for key, slot in rank.slots.items()}
        for key, slot in rank.slots.items():
            self.weights[key] = mx.nd.zeros(slot.shape)
            slot.deliver = self._taking(key)
        self.updates = SharedUpdates.of(self, self.updater, None)
        rank.spread = self.updates.spread
        rank.exchange.share_updates(self.updates)

    def current(self, key):
        return self.weights[key]

    def _taking(self, key):
        def take(array, lease):
            self.sharded.append(self.shared[key].slot.bucket.updating is not None)
            total = mx.nd.array(array, dtype="float32").reshape(array.shape)
            if self.sharded[-1]:
                self.weights[key] = total
            else:
                self.updater(key, total, self.weights[key])
            self.values[key].append(self.weights[key].asnumpy().copy())

        return take


def _gradient(number, step, key):
    draw = np.random.RandomState(1000 * number + 10 * step + ord(key[0]) % 10)
    return draw.randint(-8, 8, _SHAPES[key]).astype("float32")


_CALLS = ("all_reduce_min", "reduce_scatter", "all_to_all_v", "barrier", "barrier", "all_gather_v")


def _die_at(rank, order):
    """Have the rank die at its next collective call of some kind, before or after it."""
    name, before = order.choice(_CALLS), order.random() < 0.3

    def dying(call):
        def wrapped(*arguments):
            if before:
                rank.die()
            request = call(*arguments)
            rank.die()
            return request

        return wrapped

    for channel in rank.progress.world.channels:
        setattr(channel, name, dying(getattr(channel, name)))


def _program(seed, deaths, rounds=9):
    def program(rank):
        number, order = rank.rank, random.Random(seed * 31 + rank.rank)
        store = _Store(rank)
        for step in range(rounds):
            keys = sorted(_SHAPES, key=lambda _: order.random())
            dies = deaths.get(number) == step
            if dies:
                _die_at(rank, order)
            for i, key in enumerate(keys):
                if dies and i == seed % 7:
                    break
                rank.push(key, _gradient(number, step, key))
            if dies:
                time.sleep(0.02)
                rank.die()
                return "died"
            if order.random() < 0.7 or step in (0, rounds - 1):
                for key in keys:
                    rank.pull(key)
        return {key: rank.values[key] for key in _SHAPES}, store.sharded

    return program


def _check(values, key, members, deaths, context):
    """Follow a weight and its momentum: each sum is over the members that are left, or more."""
    weight = momentum = np.zeros(_SHAPES[key], "float32")
    for step, seen in enumerate(values):
        dying = sorted(members & set(deaths))  # in any order: some run ahead of others
        for gone in itertools.chain.from_iterable(
            itertools.combinations(dying, count) for count in range(len(dying) + 1)
        ):
            total = sum(_gradient(number, step, key) for number in members - set(gone))
            after = momentum * 0.5 - total * 0.5
            if np.array_equal(weight + after, seen):
                break
        else:
            raise AssertionError((key, step, context))
        weight, momentum, members = seen, after, members - set(gone)
    return members


def _compare(seed, deaths, size):
    bound = random.Random(seed).choice((8, 500, 10**6))
    results = run(size, _program(seed, deaths), bound, seed, least=1)
    alive = [result for number, result in enumerate(results) if number not in deaths]
    for result in alive:
        if isinstance(result, Exception):
            raise result
    everybody = set(range(size))
    for key in _SHAPES:
        first = alive[0][0][key]
        assert len(first) == 9
        for values, _ in alive:
            assert all(map(np.array_equal, values[key], first)), (seed, key)
        assert _check(first, key, everybody, deaths, seed) == everybody - set(deaths)
    return alive[0][1]


@pytest.fixture(autouse=True)
def _all_buckets(monkeypatch):
    monkeypatch.setattr(buckets, "_COUNTED_BYTES", 0)
    monkeypatch.setattr(shared_updates, "_LEAST_BYTES", -1)


@pytest.mark.parametrize("seed", range(8))
def test_one_dies(seed):
    sharded = _compare(seed, {seed % 4: 2 + seed % 3}, size=4)
    assert all(sharded)


@pytest.mark.parametrize("seed", range(4))
def test_two_die(seed):
    assert all(_compare(seed, {0: 2, 1: 5}, size=5))


@pytest.mark.parametrize("seed", range(3))
def test_two_are_left(seed):
    """From then on both have all states, and update everything."""
    sharded = _compare(seed, {2: 3}, size=3)
    assert sharded[0] and not sharded[-1]


def test_both_holders_of_states_die():
    def program(rank):
        _Store(rank)
        for step in range(4):
            for key in _SHAPES:
                rank.push(key, _gradient(rank.rank, step, key))
            if rank.rank in (0, 2) and step == 2:
                job = rank.progress.world.job
                with job.lock:  # at once
                    job.dead |= {0, 2}
                    job.lock.notify_all()
                return "died"
            for key in _SHAPES:
                rank.pull(key)
        return "finished"

    results = run(4, program, 500, seed=5, least=1)
    for result in (results[1], results[3]):
        assert "died with both" in str(result) and "start again from a checkpoint" in str(result)


def test_mirrors_are_on_other_machines():
    for hosts in (["a"] * 4 + ["b"] * 4, ["a", "b"] * 4, ["a", "a", "b", "b", "c", "c", "c"]):
        mirrors = [Mirrors(rank, hosts) for rank in range(len(hosts))]
        for rank, mirror in enumerate(mirrors):
            assert mirrors[mirror.source].holder == rank
            assert hosts[mirror.source] != hosts[rank]
    assert [Mirrors(rank, ["a"] * 3).source for rank in range(3)] == [1, 2, 0]


@pytest.mark.dist
@pytest.mark.dist_long
@pytest.mark.parametrize("first", range(100, 180, 20))
def test_eighty_seeds(first):
    for seed in range(first, first + 20):
        _compare(seed, {seed % 5: 2 + seed % 3, (seed + 1) % 5: 6}, size=5)
