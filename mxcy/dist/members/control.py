"""Control messages between ranks: departures, progress reports, failures, membership changes."""

import json
import logging
import math
import time

from mxcy.base import MXNetError
from mxcy.dist.worlds.neighbour import Neighbour

__all__ = ["ControlMessages"]

_LOOK_SECONDS = 2e-4  # between polls for messages
_ANSWER_SECONDS = 2  # time limit of a progress report
_END_SECONDS = 5  # time limit of the process manager to end all ranks when one has failed


class ControlMessages:
    """Sends and handles the control messages of a progress thread.

    Parameters
    ----------
    progress : ProgressThread
    patience : float
        Seconds of waiting after which all ranks are queried for their progress; 0: never.
    heartbeat : tuple of float
        Interval and timeout, see `Neighbour`.
    """

    def __init__(self, progress, patience, heartbeat=(0, 0)):
        self._progress, self._world, self._patience = progress, progress.world, patience
        self.left = {}  # rank -> its last progress report
        self._answers = None
        self._present, self._all_present = set(), None
        self._asked = self._looked = 0.0
        self._warned = None  # the agreement that the last warning was about
        self._failing = {}  # rank -> when it reported that its program failed
        self._heartbeat = heartbeat
        self.neighbour = self._new_neighbour()
        self._handlers = {
            "bye": self._on_bye,
            "query": self._on_query,
            "progress": self._on_progress,
            "ping": self._on_ping,
            "pong": self._on_pong,
            "heartbeat": self._on_heartbeat,
            "failing": self._on_failing,
            "lost": self._on_lost,
            "key_failed": self._on_key_failed,
            "pace": lambda rank, figures: progress.pace.add_report(rank, figures),
            "ready": lambda rank, name, parameters: progress.named_calls.on_ready(
                rank, name, parameters
            ),
            "go": lambda rank, name, parameters: progress.named_calls.on_go(name, parameters),
            "join": lambda rank, round, sessions: progress.joining.on_join(rank, round, sessions),
            "session": lambda rank, **session: progress.joining.on_session(**session),
            "halt": lambda rank: progress.admission.on_halt(),
            "steps": lambda rank, steps: progress.admission.on_steps(rank, steps),
            "admit": lambda rank, after, count: progress.admission.on_admit(after, count),
        }

    def _new_neighbour(self):
        return Neighbour(self._world, lambda rank: self.to_one(rank, "heartbeat"), *self._heartbeat)

    def renew(self, formers):
        """Adopt new ranks, after the job has shrunk or grown; `formers`: old ranks by new rank."""
        self.left = {
            rank: self.left[former] for rank, former in enumerate(formers) if former in self.left
        }
        self._answers, self._failing = None, {}
        self.neighbour.close()
        self.neighbour = self._new_neighbour()

    def to_all(self, kind, **content):
        """Send a message to all other ranks."""
        text = json.dumps({"kind": kind, **content}).encode()
        for rank in range(self._world.size):
            if rank != self._world.rank:
                self._world.send_control(rank, text)

    def to_one(self, rank, kind, **content):
        """Send a message to one rank."""
        self._world.send_control(rank, json.dumps({"kind": kind, **content}).encode())

    def name(self, rank):
        """A rank with its host, for error messages."""
        return f"rank {rank} ({self._world.hosts[rank]})"

    def look(self, now):
        """Handle messages, check the neighbour and time limits; return whether a message came."""
        if self._world.size == 1 or now - self._looked < _LOOK_SECONDS:
            return False
        self._looked = now
        moved = False
        while (message := self._world.receive_control()) is not None:
            rank, content = message[0], json.loads(message[1])
            self._handlers[content.pop("kind")](rank, **content)
            moved = True
        self._look_after_neighbour(now)
        self._watch_waits(now)
        return moved

    def _look_after_neighbour(self, now):
        if self._progress.closing is None:
            fate, rank = self.neighbour.step(now), self.neighbour.rank
            if fate is not None:
                if self._progress.elastic and (fate == "died" or self.neighbour.kill()):
                    self.neighbour.close()  # MPI reports the death to all ranks
                    return
                self.neighbour.close()
                if rank not in self._failing:
                    self.to_all("lost", rank=rank, fate=fate)
                    self._progress.report_lost(rank, fate)
        for rank, since in list(self._failing.items()):
            if now - since > _END_SECONDS:
                self._failing[rank] = float("inf")
                self._progress.report_lost(rank, "reported that its program has failed")

    # -- handlers by kind of message: ``handler(rank, **content)`` ---------------------------------

    def _on_bye(self, rank, **progress):
        self.left[rank] = progress
        for exchange in self._progress.exchanges:
            exchange.check_left()
        self._progress.named_calls.check_left()

    def _on_query(self, rank):
        self.to_one(rank, "progress", **self._progress.report())

    def _on_progress(self, rank, **progress):
        if self._answers is not None:
            self._answers[rank] = progress

    def _on_ping(self, rank):
        self.to_one(rank, "pong")

    def _on_pong(self, rank):
        self._present.add(rank)
        self._check_presence()

    def _on_heartbeat(self, rank):
        self.neighbour.note_heartbeat(time.monotonic())

    def _on_failing(self, rank):
        if not self._progress.elastic:  # wait a while: the rank's own error is to be the last text
            self._failing[rank] = time.monotonic()

    def _on_lost(self, _, rank, fate):
        self._progress.report_lost(rank, fate)

    def _on_key_failed(self, rank, exchange, slot, text):
        exchange = self._progress.exchanges[exchange]
        exchange.fail_key(exchange.slots[slot], f"{self.name(rank)}: {text}")

    # -- presence ----------------------------------------------------------------------------------

    def ping_all(self, over):
        """Ping all ranks; set `over` once all have answered."""
        self._present, self._all_present = {self._world.rank}, over
        self.to_all("ping")
        self._check_presence()

    def _check_presence(self):
        if len(self._present) == self._world.size and self._all_present is not None:
            self._all_present.set()

    def all_left(self):
        """Whether all other ranks have said goodbye."""
        return len(self.left) == self._world.size - 1

    def silent(self):
        """The ranks that have not answered the last ping."""
        return [rank for rank in range(self._world.size) if rank not in self._present]

    def absent(self, agreement):
        """The error of an agreement that a rank has left without taking part in, or None."""
        for rank, state in self.left.items():
            if state["tasks"] < agreement.number:
                return MXNetError(f"{self.name(rank)} left the job before {agreement.what}")
        return None

    def gone(self, exchange, slot):
        """The error of a key that waits for a push of a rank that has left, or None."""
        for rank, state in self.left.items():
            rounds = _rounds_of(state, exchange, slot)
            if rounds < slot.arrived:
                return (
                    f"{self.name(rank)} left the job in round {rounds + 1} of key {slot.key!r}, "
                    "which it has not pushed"
                )
        return None

    # -- time limits -------------------------------------------------------------------------------

    def _waits(self):
        """The longest wait: (start time, exchange or None, slot or agreement), or None."""
        waits = [
            wait
            for wait in (exchange.longest_wait() for exchange in self._progress.exchanges)
            if wait
        ]
        if self._progress.waiting is not None:
            waits.append((self._progress.waiting.began, None, self._progress.waiting))
        return min(waits, key=lambda wait: wait[0], default=None)

    def _watch_waits(self, now):
        """Ask the others where they are if a wait takes long; warn of those behind, or fail."""
        wait = self._waits()
        if wait is None or now - wait[0] < self._limit(*wait[1:]):
            self._answers = None
            return
        if self._answers is None:
            self._answers, self._asked = {}, now
            self.to_all("query")
            return
        others = self._world.size - 1
        if len(self._answers) < others and time.monotonic() - self._asked < _ANSWER_SECONDS:
            return
        self._report(now - wait[0], *wait[1:])
        self._answers = None

    def _limit(self, exchange, waited):
        """Seconds of waiting until a warning, if it is due, or until the wait fails."""
        patience = self._patience or math.inf
        warns = exchange is None and waited is not self._warned
        return min(patience, waited.patience) if warns else patience

    def _report(self, seconds, exchange, waited):
        silent, behind = self._missing(exchange, waited)
        reasons = [f"{self._names(silent)} does not answer"] if silent else []
        reasons += [f"{self._names(behind)} has not reached it"] if behind else []
        reason = "; ".join(reasons) or "all ranks have reached it"
        what = (
            waited.what if exchange is None else f"round {waited.rounds + 1} of key {waited.key!r}"
        )
        if not self._patience or seconds < self._patience:
            self._warned = waited
            present = set(range(self._world.size)).difference(silent, behind)
            if self._world.rank == min(present):  # one line is enough
                logging.warning("waiting for %s for %.0f seconds: %s", what, seconds, reason)
            return
        text = f"waited {self._patience:g} seconds (MXCY_DIST_TIMEOUT) for {what}: {reason}"
        if exchange is None:
            waited.error = MXNetError(text)
        else:
            exchange.fail_key(waited, text)

    def _names(self, ranks):
        return ", ".join(map(self.name, ranks))

    def _missing(self, exchange, waited):
        """The ranks that do not answer, and those that have not reached what is waited for."""
        silent, behind = [], []
        for rank in range(self._world.size):
            if rank == self._world.rank:
                continue
            state = self._answers.get(rank)
            if state is None:
                silent.append(rank)
            elif exchange is None and state["tasks"] < waited.number:
                behind.append(rank)
            elif rank in self._progress.joining.ranks:
                continue
            elif exchange is not None and _rounds_of(state, exchange, waited) <= waited.rounds:
                behind.append(rank)
        return silent, behind


def _rounds_of(state, exchange, slot):
    """The number of pushes of a key in a rank's progress report."""
    rounds = state["rounds"]
    if exchange.number >= len(rounds) or slot.number >= len(rounds[exchange.number]):
        return 0
    return rounds[exchange.number][slot.number]
