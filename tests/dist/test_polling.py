"""The progress thread's polling intervals."""

import os
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from mxcy._library.event import SharedEvent
from mxcy.dist import polling
from mxcy.dist.auto_reset_event import AutoResetEvent
from mxcy.dist.inbox import Inbox
from mxcy.dist.polling import Polling


class _Clock:
    """This thread's CPU seconds, and its waits: seconds of naps, or 'wake'."""

    def __init__(self):
        self.computed, self.rests = 0.0, []
        self.taken, self.lasting = 0.0, []  # seconds of all polls; of the next ones, last first
        self.glances, self.done_after = 0, None
        self.moment = self.others = self.computing = 0.0

    def monotonic(self):
        return self.moment

    def thread_time(self):
        return self.computed

    def process_time(self):
        return self.computed + self.others

    def perf_counter(self):
        return self.taken

    def glance(self):
        self.glances += 1
        self.taken += self.lasting.pop() if self.lasting else 0.0
        return self.glances == self.done_after

    def wait(self, seconds):
        self.rests.append(seconds if seconds < polling._SLEEP else "wake")
        self.moment += seconds
        self.others += self.computing * seconds


@pytest.fixture
def clock(monkeypatch):
    clock = _Clock()
    monkeypatch.setattr(polling, "time", clock)
    return clock


def _polling(clock, workers=1):
    world = SimpleNamespace(rank=0, hosts=["here"] * workers + ["there"])
    wake = SimpleNamespace(wait=clock.wait, is_set=lambda: False)
    turn = threading.Lock()
    turn.acquire()
    return Polling(world, wake, turn, lambda: [clock.glance])


def test_sums_in_progress_are_polled_at_once(clock):
    one = _polling(clock)
    one.expect(10.0, 4 << 20)
    one.rest(10.0, True, True)
    clock.computed = 5e-3
    one.rest(10.005, True, True)
    assert clock.rests == []
    one.rest(10.1, True, True)  # another process is late
    assert len(clock.rests) == 1 and clock.rests[0] < 3e-3
    one.rest(10.1, False, False)
    assert clock.rests[1:] == ["wake"]


def test_lone_sums_are_polled_more_often(clock):
    one = _polling(clock)
    one.expect(10.0, 4 << 20)
    one.rest(10.0, True, True)
    many = clock.glances
    assert many > 8
    clock.done_after = many + 2
    one.rest(10.0, True, True)
    assert clock.glances == many + 2


def test_larger_sums_are_expected_for_longer(clock):
    one = _polling(clock)
    one.expect(10.0, 64 << 20)
    one.expect(10.0, 4)
    clock.computed = 0.06
    one.rest(10.06, True, True)
    one.rest(10.06, True, True)
    assert clock.rests == []


def test_oversubscribed_processes_yield_cores(clock):
    one = _polling(clock, workers=os.cpu_count() + 1)
    one.expect(10.0, 4 << 20)
    one.rest(10.0, True, True)
    assert len(clock.rests) == 1


def test_core_needed_by_another_process(clock):
    one = _polling(clock)
    one.expect(10.0, 4 << 20)
    one.rest(10.004, True, True)  # during which this thread did not run
    assert clock.rests == []
    one.rest(10.004, True, True)
    one.expect(10.01, 4 << 20)
    one.rest(10.01, True, True)
    assert len(clock.rests) == 2
    one.expect(11.0, 4 << 20)  # a while later it tries again
    one.rest(11.0, True, True)
    one.rest(11.0, True, True)
    assert len(clock.rests) == 2


def test_naps_grow_while_nothing_moves(clock):
    one = _polling(clock)
    for moment in (1.0, 1.001, 1.005, 2.0):
        one.rest(moment, True, True)
    one.note_moves()
    one.rest(2.0, True, True)
    assert clock.rests[:4] == sorted(clock.rests[:4])
    assert clock.rests[0] < clock.rests[2] < 1e-3
    assert clock.rests[4] == clock.rests[0]


def test_naps_are_longer_while_others_compute(clock):
    one, longest = _polling(clock), []
    for clock.computing in (0.0, 0.9, 0.0):
        one.note_moves()
        clock.rests.clear()
        one.rest(clock.moment, True, False)
        longest.append(max(clock.rests))
    assert longest[0] == pytest.approx(longest[2], rel=0.1)
    assert longest[0] < 5e-4 < 2e-3 < longest[1]


def test_naps_between_full_steps(clock):
    """If only sums are awaited, several, each followed by a poll, until one of those finds it."""
    one = _polling(clock)
    clock.moment = 1.0
    one.rest(1.0, True, False)
    naps = len(clock.rests)
    assert naps == clock.glances > 10 and 8e-3 < sum(clock.rests) < 15e-3
    clock.done_after = naps + 2
    one.rest(clock.moment, True, False)
    assert len(clock.rests) == naps + 2
    one.rest(clock.moment, True, True)  # something else is awaited, too
    assert len(clock.rests) == naps + 3


def test_polls_continue_while_they_take_time(clock):
    """They move what a socket has received meanwhile."""
    one = _polling(clock)
    clock.lasting = [1e-6, 2e-5, 2e-5]
    one.rest(1.0, True, True)
    assert len(clock.rests) == 1 and clock.glances == 3
    clock.lasting = [2e-5] * 1000
    one.rest(1.0, True, True)
    assert clock.glances < 100


def test_polls_after_a_nap_take_turns(clock):
    """Each of them has MPI move the pieces of all collectives."""
    one, polled = _polling(clock), []

    def poll(number):
        polled.append(number)
        clock.taken += 2e-5
        return len(polled) == 5

    one._in_flight = lambda: [lambda: poll(1), lambda: poll(2)]
    one.rest(1.0, True, True)
    assert polled == [1, 2, 1, 2, 1]
    one._in_flight = list
    one.rest(1.0, True, True)
    assert len(clock.rests) == 2


@pytest.mark.parametrize("event", [AutoResetEvent(), SharedEvent(np.zeros(8, np.uint8))])
def test_an_event_wakes_one_wait(event):
    assert not event.is_set() and not event.wait(0)
    event.set()
    event.set()  # no more than once
    assert event.is_set() and event.wait(0) and not event.wait(0)
    event.set()
    event.clear()
    event.clear()
    assert not event.is_set()
    threading.Thread(target=event.set).start()
    assert event.wait(60)


def test_added_functions_are_called_after_the_next_wake():
    inbox, called = Inbox(), []
    inbox.add(lambda: called.append(1))
    inbox.add(lambda: called.append(2))
    assert inbox and not inbox.wake.is_set()
    inbox.submit(lambda: called.append(3))
    assert inbox.wake.is_set() and called == []
    assert inbox.read() and called == [1, 2, 3]
    assert not inbox.wake.is_set() and not inbox.read()
