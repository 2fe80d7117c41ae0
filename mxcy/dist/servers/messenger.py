"""Messages between processes of any role, sent by priority and dispatched by kind."""

import heapq
import itertools
import json
import time
from collections import deque

__all__ = ["Messenger"]

_AWAY = 2  # messages in flight per destination
_AT_ONCE = 64  # messages received in a row
_TURNS = 8  # of sending and receiving per step
_PIECE = 5e-5  # seconds between polls while MPI sends a body
_RECENT = 0.2  # seconds after a message in which more are expected
_LOOK_SECONDS = 0.1  # between checks for unanswered questions
_GRACE = 5  # seconds beyond the time limit in which servers may report who is missing


class Messenger:
    """Sends and dispatches the messages of a world, on the thread that owns it.

    Parameters
    ----------
    world : World
    patience : float
        Time limit of answers in seconds; 0: none.

    Attributes
    ----------
    handlers : dict of str to callable
        By kind of message: ``handler(place, body, *content)``.
    watchers : list of callable
        Called periodically with the time.
    store_numbers : iterator
        Numbers of stores with values on servers, the same in all workers.
    server : KeyServer or None
        The server in this process.
    """

    def __init__(self, world, patience=0):
        self.world, self._patience = world, patience
        self.handlers, self.watchers = {"answer": self._answer, "leave": _ignore}, []
        self.store_numbers, self._tickets = itertools.count(), itertools.count()
        self.server = None
        self._questions, self._failed = {}, None
        self._sent = itertools.count()
        self._queues, self._lines, self._away = {}, {}, {}
        self._last, self._checked = -_RECENT, 0.0
        self._woken = world.bells is not None and world.bells.reach(world.roles)

    def name(self, place):
        """A process with its host, for error messages."""
        world = self.world
        number = world.roles[:place].count(world.roles[place])
        what = "rank" if world.roles[place] == "worker" else "server"
        return f"{what} {number} ({world.machines[place]})"

    def send(self, place, kind, content, body=None, priority=0, line=None, away=None, given=False):
        """Queue a message.

        Parameters
        ----------
        place : int
        kind : str
        content : list
            JSON values.
        body : numpy.ndarray, optional
            Contiguous.
        priority : int
            Messages with larger priorities go first.
        line : hashable, optional
            Messages of one line keep their order; each raises the priority of those before it.
        away : callable, optional
            Called when `body` is no longer needed.
        given : bool
            Whether `body` never changes, see `World.send_message`.
        """
        if self._failed:
            self._release(away)
            return
        number = next(self._sent)
        line = (place, number if line is None else line)
        self._lines.setdefault(line, deque()).append((kind, content, body, away, given))
        heapq.heappush(self._queues.setdefault(place, []), (-priority, number, line))

    def ask(self, place, kind, content, on_done, what, into=None, **options):
        """Send a message that expects an answer, which gets the same priority.

        Parameters
        ----------
        place, kind, content
            See `send`; a ticket for `answer` precedes the content.
        on_done : callable
            ``on_done(error, form, body)``, called with an error message or None and the answer.
        what : str
            Description for errors.
        into : numpy.ndarray of uint8, optional
            The answer may arrive here, if it has this size.
        **options
            See `send`.
        """
        if self._failed:
            on_done(self._failed, None, None)
            return
        number = next(self._tickets)
        self._questions[number] = (time.monotonic(), place, what, on_done, into)
        ticket = [number, options.get("priority", 0)]
        self.send(place, kind, [ticket, *content], **options)

    def answer(self, place, ticket, error=None, form=None, body=None, away=None):
        """Answer a message; without `away` the answer's body never changes."""
        number, priority = ticket
        content, given = [number, error, form], away is None
        self.send(place, "answer", content, body, priority, away=away, given=given)

    def _memory_of(self, head, length):
        """Where the body of an answer belongs, or None."""
        if not head.startswith(b'["answer"'):
            return None
        question = self._questions.get(json.loads(head)[1])
        into = question and question[4]
        return into if into is not None and into.nbytes == length else None

    def _answer(self, place, body, number, error, form):
        question = self._questions.pop(number, None)
        if question is not None:  # it may have timed out
            question[3](error, form, body)

    def _check_waits(self, now):
        if now - self._checked < _LOOK_SECONDS:
            return
        self._checked = now
        for watcher in self.watchers:
            watcher(now)
        if not self._patience:
            return
        late = now - self._patience - _GRACE
        for number, (since, place, what, on_done, _) in list(self._questions.items()):
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
        """Send and receive; return whether anything happened, and whether to poll for more."""
        moved = False
        for _ in range(_TURNS):  # answers follow messages, also those of this process to itself
            if not self._dispatch() | self._receive(now):
                break
            moved = True
        self._check_waits(now)
        if not moved and (self.world.receiving() or any(self._away.values())):
            time.sleep(_PIECE)  # MPI sends large bodies in pieces, each of which needs a poll
            moved = True
        if self._woken:
            return moved, any(self._away.values())
        busy = bool(self._questions) or any(self._away.values()) or any(self._queues.values())
        return moved, busy or now - self._last < _RECENT

    def _receive(self, now):
        """Handle some of the messages that have arrived; return whether there were any."""
        received = 0
        while received < _AT_ONCE:
            message = self.world.receive_message(self._memory_of)
            if message is None:
                break
            place, head, body = message
            kind, *content = json.loads(head)
            self.handlers[kind](place, body, *content)
            received, self._last = received + 1, now
        return received > 0

    def _dispatch(self):
        moved = False
        for place, queue in self._queues.items():
            in_flight = self._away.setdefault(place, [])
            for entry in list(in_flight):
                if entry[0].done():
                    in_flight.remove(entry)
                    moved = True
                    self._release(entry[1])
            while queue and len(in_flight) < _AWAY:
                _, _, line = heapq.heappop(queue)
                messages = self._lines[line]
                kind, content, body, away, given = messages.popleft()
                if not messages:
                    del self._lines[line]
                head = json.dumps([kind, *content]).encode()
                in_flight.append((self.world.send_message(place, head, body, given), away))
                moved = True
        return moved

    def leave(self):
        """Say goodbye to all processes, if there is a store with values on servers."""
        if next(self.store_numbers) == 0:
            return
        for place in range(len(self.world.roles)):
            self.send(place, "leave", [], priority=float("-inf"))

    def fail_waiting(self, text):
        """Fail if there are values on servers, which a dead process had a part of."""
        if self.server is not None or self._questions:
            self.fail(text)

    def fail(self, text):
        """Fail all questions and drop all messages, now and later."""
        self._failed = text
        questions, self._questions = self._questions, {}
        for _, _, what, on_done, _ in questions.values():
            on_done(f"{text}, in {what}", None, None)
        for in_flight in self._away.values():
            for entry in in_flight:
                self._release(entry[1])
            in_flight.clear()
        for messages in self._lines.values():
            for _, _, _, away, _ in messages:
                self._release(away)
        self._lines.clear()
        self._queues.clear()

    @staticmethod
    def _release(away):
        if away is not None:
            away()


def _ignore(place, body):
    """Workers ignore that a process leaves."""
