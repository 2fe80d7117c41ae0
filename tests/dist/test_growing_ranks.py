"""Joining ranks, on threads of one process: sums include all ranks from one step on."""

import json
import os
import random
import time

import numpy as np
import pytest

from mxcy.dist.keys.levels import Levels
from mxcy.dist.keys.reductions import CompressedAllReduce
from mxcy.dist.members import admission
from mxcy.dist.members.requests import REQUESTS
from tests.dist.ranks import run

pytestmark = pytest.mark.skipif(
    os.environ.get("MXNET_ENABLE_CYTHON") == "0", reason="no arrays: one front is enough"
)
_LENGTHS = {"a": 3, "b": 40, "c": 9000, "d": 700}
_STEPS = 12


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(admission, "_LOOK_SECONDS", 0)


def _ask(folder, name, count):
    (folder / REQUESTS).mkdir(exist_ok=True)
    path = folder / REQUESTS / f"{name}.txt"
    path.write_text(json.dumps({"count": count}), encoding="utf-8")
    path.rename(path.with_suffix(".json"))


def _program(seed, folder, requests, pack=np.array):
    """Each rank adds one to all keys in each step; `requests`: step -> number of joining ranks."""

    def program(rank):
        order = random.Random(seed * 31 + rank.rank)
        changes, began = [], rank.steps
        rank.progress.membership.on_change(lambda old, new: changes.append((old, new)))
        if not began:
            rank.init(**{key: np.zeros(length, np.float32) for key, length in _LENGTHS.items()})
        while rank.steps < _STEPS:
            keys = sorted(_LENGTHS, key=lambda _: order.random())
            if rank.steps in requests and rank.rank == 0:
                _ask(folder, rank.steps, requests[rank.steps])
            if rank.steps in requests:  # others join after this step or one already begun
                target = rank.progress.membership.size
                while not rank.progress.admission.awaits:
                    time.sleep(0.001)
                    if rank.progress.membership.size > target:
                        break
            for key in keys:
                rank.push(key, pack(np.ones(_LENGTHS[key], np.float32)))
            if order.random() < 0.5:
                for key in keys:
                    rank.pull(key)
            rank.end_step()
        for key in _LENGTHS:
            rank.pull(key)
        sums = {key: [total.tolist() for total in rank.values[key]] for key in _LENGTHS}
        return began, sums, changes

    return program


def _compare(seed, folder, requests, size=3, pack=np.array, **settings):
    bound = random.Random(seed).choice((8, 500, 10**6))
    program = _program(seed, folder, requests, pack)
    results = run(size, program, bound, seed, folder=folder, **settings)
    for result in results:
        if isinstance(result, Exception):
            raise result
    joined = sorted(began for began, _, _ in results if began)
    assert len(joined) == sum(requests.values()), seed
    totals = [size + sum(began <= step for began in joined) for step in range(_STEPS)]
    for began, sums, changes in results:
        for key, length in _LENGTHS.items():
            assert sums[key] == [[total] * length for total in totals[began:]], (seed, key)
        numbers = [total for total in dict.fromkeys(totals) if total >= totals[began]]
        assert [new for _, new in changes] == numbers[1:], seed


@pytest.mark.parametrize("seed", range(4))
def test_one_joins(seed, tmp_path):
    _compare(seed, tmp_path, {4: 1})


@pytest.mark.parametrize("seed", range(3))
def test_some_join_twice(seed, tmp_path):
    _compare(seed, tmp_path, {3: 2, 7: 1}, per_host=[None, 1, 3][seed])


def test_bits(tmp_path):
    """Compressed sums are divided into as many parts as there are ranks."""
    levels = Levels("2bit", 1)
    _compare(1, tmp_path, {4: 2}, way=lambda world: CompressedAllReduce(levels), pack=levels.pack)


@pytest.mark.parametrize("seed", range(3))
def test_ranks_that_have_no_more_data_meanwhile(seed, tmp_path):
    """Others join or are rejected; there is no deadlock."""

    def program(rank):
        if not rank.steps:
            rank.init(**{key: np.zeros(length) for key, length in _LENGTHS.items()})
        last = 5 + rank.rank % 3
        while rank.steps < last:
            if rank.steps == 4 and rank.rank == 0:
                _ask(tmp_path, "late", 1)
            for key in _LENGTHS:
                rank.push(key, np.ones(_LENGTHS[key]))
            rank.end_step()
        for key in _LENGTHS:
            rank.pull(key)
        rank.progress.join()
        return rank.steps

    for result in run(3, program, 500, seed, folder=tmp_path):
        assert isinstance(result, int), result


def test_nonsense_is_put_aside(tmp_path):
    requests = tmp_path / REQUESTS
    requests.mkdir()
    for number, text in enumerate(('{"count": -1}', "[]", "", '{"count": "many"}')):
        (requests / f"{number}.json").write_text(text, encoding="utf-8")
    _compare(2, tmp_path, {4: 1})
    assert not list(requests.iterdir())


@pytest.mark.dist
@pytest.mark.dist_long
@pytest.mark.parametrize("first", range(100, 200, 25))
def test_a_hundred_seeds(first, tmp_path):
    for seed in range(first, first + 25):
        folder = tmp_path / str(seed)
        folder.mkdir()
        _compare(seed, folder, {2 + seed % 3: 1 + seed % 2, 7 + seed % 2: 1}, 2 + seed % 3)
