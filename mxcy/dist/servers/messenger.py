"""Messages between processes of any role: sent by priority, and handed to who takes their kind."""

import heapq
import itertools
import json
import time
from collections import deque

__all__ = ["Messenger"]

_AWAY = 2  # messages to one process that are sent at a time
_AT_ONCE = 64  # messages that are read before others get a turn
_RECENT = 0.2  # seconds after a message in which more are expected soon
_LOOK_SECONDS = 0.1  # between looks for questions without an answer
_GRACE = 5  # seconds that others have to tell who is missing before they count as silent


class Messenger:
    """Sends and reads the messages of a world, on the thread that owns it.

    Parameters
    ----------
    world : World
    patience : float
        Seconds to wait for an answer; 0: any time.

    Attributes
    ----------
    handlers : dict of str to callable
        By the kind of messages: ``handler(place, body, *content)``.
    watchers : list of callable
        Called with the time now and then.
    store_numbers : iterator
        Numbers the stores that have values on servers, alike in all workers.
    server : KeyServer or None
        That of this process.
    """

    def __init__(self, world, patience=0):
        self.world, self._patience = world, patience
        self.handlers, self.watchers = {"answer": self._answer, "leave": _ignore}, []
        self.store_numbers, self._tickets = itertools.count(), itertools.count()
        self.server = None
        self._questions, self._failed = {}, None
        self._sent = itertools.count()
        self._queues, self._lines, self._away = {}, {}, {}
        self._last, self._looked = -_RECENT, 0.0

    def name(self, place):
        """A process in messages."""
        world = self.world
        number = world.roles[:place].count(world.roles[place])
        what = "rank" if world.roles[place] == "worker" else "server"
        return f"{what} {number} ({world.machines[place]})"

    def send(self, place, kind, content, body=None, priority=0, line=None, away=None):
        """Send a message when its turn comes.

        Parameters
        ----------
        place : int
        kind : str
        content : list
            Of what JSON can tell.
        body : numpy.ndarray, optional
            Contiguous.
        priority : int
            Messages with larger numbers go first.
        line : hashable, optional
            Messages of one line go in their order; each lends its priority to those before it.
        away : callable, optional
            Called when `body` is not needed any more.
        """
        if self._failed:
            self._release(away)
            return
        number = next(self._sent)
        line = (place, number if line is None else line)
        self._lines.setdefault(line, deque()).append((kind, content, body, away))
        heapq.heappush(self._queues.setdefault(place, []), (-priority, number, line))

    def ask(self, place, kind, content, on_done, what, **options):
        """Send a message that is answered, with the same priority.

        Parameters
        ----------
        place, kind, content
            See `send`; the content begins with a ticket that `answer` gives back.
        on_done : callable
            ``on_done(error, form, body)`` gets the text of an error or None, and the answer.
        what : str
            What is requested, for errors.
        **options
            Of `send`.
        """
        if self._failed:
            on_done(self._failed, None, None)
            return
        number = next(self._tickets)
        self._questions[number] = (time.monotonic(), place, what, on_done)
        ticket = [number, options.get("priority", 0)]
        self.send(place, kind, [ticket, *content], **options)

    def answer(self, place, ticket, error=None, form=None, body=None):
        """Answer a question."""
        number, priority = ticket
        self.send(place, "answer", [number, error, form], body, priority)

    def _answer(self, place, body, number, error, form):
        question = self._questions.pop(number, None)
        if question is not None:  # who asked may have lost patience
            question[3](error, form, body)

    def _look(self, now):
        if now - self._looked < _LOOK_SECONDS:
            return
        self._looked = now
        for watcher in self.watchers:
            watcher(now)
        if not self._patience:
            return
        late = now - self._patience - _GRACE
        for number, (since, place, what, on_done) in list(self._questions.items()):
            if since > late:
                break
            del self._questions[number]
            on_done(
                f"waited {self._patience + _GRACE:g} seconds (MXCY_DIST_TIMEOUT) for {what}: "
                f"{self.name(place)} does not answer",
                None,
                None,
            )

    def step(self, now):
        """Carry messages on; whether something moved, and whether something is waited for."""
        moved = self._dispatch()
        for _ in range(_AT_ONCE):
            message = self.world.receive_message()
            if message is None:
                break
            place, head, body = message
            kind, *content = json.loads(head)
            self.handlers[kind](place, body, *content)
            moved, self._last = True, now
        self._look(now)
        if not moved and (self.world.receiving() or any(self._away.values())):
            time.sleep(0)  # a big body goes in many pieces, each of which needs a look
            moved = True
        busy = bool(self._questions) or any(self._away.values()) or any(self._queues.values())
        return moved, busy or now - self._last < _RECENT

    def _dispatch(self):
        moved = False
        for place, queue in self._queues.items():
            under_way = self._away.setdefault(place, [])
            for entry in list(under_way):
                if entry[0].done():
                    under_way.remove(entry)
                    moved = True
                    self._release(entry[1])
            while queue and len(under_way) < _AWAY:
                _, _, line = heapq.heappop(queue)
                messages = self._lines[line]
                kind, content, body, away = messages.popleft()
                if not messages:
                    del self._lines[line]
                head = json.dumps([kind, *content]).encode()
                under_way.append((self.world.send_message(place, head, body), away))
                moved = True
        return moved

    def leave(self):
        """Say goodbye, if there is a store with values on servers."""
        if next(self.store_numbers) == 0:
            return
        for place in range(len(self.world.roles)):
            self.send(place, "leave", [], priority=float("-inf"))

    def fail_waiting(self, text):
        """Values on servers have gone with a process, if there are any."""
        if self.server is not None or self._questions:
            self.fail(text)

    def fail(self, text):
        """Nothing is sent any more."""
        self._failed = text
        questions, self._questions = self._questions, {}
        for _, _, what, on_done in questions.values():
            on_done(f"{text}, in {what}", None, None)
        for under_way in self._away.values():
            for entry in under_way:
                self._release(entry[1])
            under_way.clear()
        for messages in self._lines.values():
            for _, _, _, away in messages:
                self._release(away)
        self._lines.clear()
        self._queues.clear()

    @staticmethod
    def _release(away):
        if away is not None:
            away()


def _ignore(place, body):
    """Nobody minds that a process leaves."""
