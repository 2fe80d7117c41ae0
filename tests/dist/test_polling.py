"""How often the progress thread looks for what is under way."""

import os
from types import SimpleNamespace

import pytest

from mxcy.dist import polling
from mxcy.dist.polling import Polling


@pytest.fixture
def rests(monkeypatch):
    """What the thread waits for: seconds of naps, or 'wake'."""
    rests = []
    monkeypatch.setattr(polling, "time", SimpleNamespace(sleep=rests.append))
    monkeypatch.setattr(polling, "_evictions", lambda: 0)
    return rests


def _polling(rests, workers=1):
    world = SimpleNamespace(rank=0, hosts=["here"] * workers + ["there"])
    return Polling(world, SimpleNamespace(wait=lambda seconds: rests.append("wake")))


def test_sums_that_go_on_are_looked_for_at_once(rests):
    one = _polling(rests)
    one.expect(10.0, 4 << 20)
    one.rest(10.0, busy=True)
    one.rest(10.005, busy=True)
    assert rests == []
    one.rest(10.1, busy=True)  # another process has not come yet
    assert len(rests) == 1 and rests[0] < 1e-3
    one.rest(10.1, busy=False)
    assert rests[1:] == ["wake"]


def test_larger_sums_are_expected_for_longer(rests):
    one = _polling(rests)
    one.expect(10.0, 64 << 20)
    one.expect(10.0, 4)
    one.rest(10.06, busy=True)
    assert rests == []


def test_more_processes_than_cores_leave_them_to_each_other(rests):
    one = _polling(rests, workers=os.cpu_count() + 1)
    one.expect(10.0, 4 << 20)
    one.rest(10.0, busy=True)
    assert len(rests) == 1


def test_a_core_that_somebody_else_needs(rests, monkeypatch):
    one = _polling(rests)
    one.expect(10.0, 4)
    one.rest(10.0, busy=True)
    assert rests == []
    monkeypatch.setattr(polling, "_evictions", lambda: 3)
    one.expect(10.0, 4)
    one.rest(10.0, busy=True)
    assert len(rests) == 1
    one.expect(11.0, 4)  # nobody has needed it since
    one.rest(11.0, busy=True)
    assert len(rests) == 1
