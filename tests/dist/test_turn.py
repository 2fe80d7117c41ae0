"""Which thread advances communication: the progress thread, or one that waits for a result."""

import threading
from types import SimpleNamespace

import pytest

from mxcy.dist.inbox import Inbox
from mxcy.dist.turn import Turn
from tests.conditions import await_that


class _Progress:
    """What a turn needs of a progress thread that is at rest."""

    def __init__(self):
        self.inbox, self.aborted = Inbox(), []
        self.elastic, self.closing, self.failed = False, None, None
        self.polling = SimpleNamespace(crowded=False)
        self.world, self.abort = SimpleNamespace(rank=0), self.aborted.append
        self.turn, self.threads = Turn(self), []

    def now(self):
        return 0.0

    def advance(self, now):
        self.threads.append(threading.current_thread())
        return self.inbox.read(), False

    def advance_once_woken(self):
        """What the progress thread does next."""
        assert self.inbox.wake.wait(60)
        self.turn.acquire()
        self.advance(0.0)
        self.turn.release()


def test_who_waits_advances_communication_himself():
    progress, over = _Progress(), threading.Event()
    progress.turn.attend(over.set, over)
    assert progress.threads == [threading.current_thread()]
    assert progress.turn.acquire(blocking=False), "the turn was not given back"


@pytest.mark.parametrize("reason", ["taken", "crowded", "elastic", "closing", "failed"])
def test_the_progress_thread_does_it_otherwise(reason):
    progress, over = _Progress(), threading.Event()
    if reason == "taken":
        progress.turn.acquire()
    elif reason == "crowded":
        progress.polling.crowded = True
    else:
        setattr(progress, reason, True)
    waiting = threading.Thread(target=progress.turn.attend, args=(over.set, over), daemon=True)
    waiting.start()
    await_that(progress.inbox.wake.is_set)
    if reason == "taken":
        progress.turn.release()
    progress.advance_once_woken()
    waiting.join(60)
    assert over.is_set() and progress.threads == [threading.current_thread()]


def test_a_long_wait_is_left_to_the_progress_thread():
    """Nothing happens for a while after this thread has begun."""
    progress, over = _Progress(), threading.Event()
    waiting = threading.Thread(target=progress.turn.attend, args=(lambda: None, over), daemon=True)
    waiting.start()
    await_that(progress.inbox.wake.is_set)
    assert progress.turn.acquire(blocking=False) and waiting.is_alive()
    over.set()
    waiting.join(60)
    assert not waiting.is_alive()


def test_an_error_fails_all_that_wait_and_gives_the_turn_back():
    progress = _Progress()

    def fail():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        progress.turn.attend(fail, threading.Event())
    assert progress.aborted == ["rank 0: communication failed: KeyboardInterrupt()"]
    assert progress.turn.acquire(blocking=False)
