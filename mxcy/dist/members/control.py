"""What processes tell each other beside sums: that they leave, how far they are, what failed."""

import json
import time

from mxcy.base import MXNetError
from mxcy.dist.worlds.neighbour import Neighbour

__all__ = ["ControlMessages"]

_LOOK_SECONDS = 2e-4  # between looks for messages
_ANSWER_SECONDS = 2  # that a process has to tell how far it is
_END_SECONDS = 5  # that the process manager has to end all when one has failed


class ControlMessages:
    """Reads and writes the control messages of a progress thread.

    Parameters
    ----------
    progress : ProgressThread
    patience : float
        Seconds of waiting after which all are asked how far they are; 0: never.
    heartbeat : tuple of float
        See `Neighbour`: the interval and the timeout.
    """

    def __init__(self, progress, patience, heartbeat=(0, 0)):
        self._progress, self._world, self._patience = progress, progress.world, patience
        self.left = {}  # rank -> how far it was
        self._answers = None
        self._present, self._all_present = set(), None
        self._asked = self._looked = 0.0
        self._failing = {}  # rank -> when it said that its program has failed
        self._heartbeat = heartbeat
        self.neighbour = self._new_neighbour()

    def _new_neighbour(self):
        return Neighbour(self._world, lambda rank: self.to_one(rank, "beat"), *self._heartbeat)

    def renew(self, formers):
        """Go on with the processes that had these ranks, and those that have joined."""
        self.left = {
            rank: self.left[former] for rank, former in enumerate(formers) if former in self.left
        }
        self._answers, self._failing = None, {}
        self.neighbour.close()
        self.neighbour = self._new_neighbour()

    def to_all(self, kind, **content):
        """Write to all other processes."""
        text = json.dumps({"kind": kind, **content}).encode()
        for rank in range(self._world.size):
            if rank != self._world.rank:
                self._world.send_control(rank, text)

    def to_one(self, rank, kind, **content):
        """Write to one process."""
        self._world.send_control(rank, json.dumps({"kind": kind, **content}).encode())

    def name(self, rank):
        """A process in messages."""
        return f"rank {rank} ({self._world.hosts[rank]})"

    def look(self, now):
        """Read what has come, and ask when something takes too long; whether there was anything."""
        if self._world.size == 1 or now - self._looked < _LOOK_SECONDS:
            return False
        self._looked = now
        moved = False
        while (message := self._world.receive_control()) is not None:
            rank, content = message
            self._read(rank, json.loads(content))
            moved = True
        self._look_after_neighbour(now)
        if self._patience:
            self._lose_patience(now)
        return moved

    def _look_after_neighbour(self, now):
        if self._progress.closing is None:
            fate, rank = self.neighbour.step(now), self.neighbour.rank
            if fate is not None:
                if self._progress.elastic and (fate == "died" or self.neighbour.kill()):
                    self.neighbour.close()  # MPI tells all of it
                    return
                self.neighbour.close()
                if rank not in self._failing:
                    self.to_all("lost", rank=rank, fate=fate)
                    self._progress.lose(rank, fate)
        for rank, since in list(self._failing.items()):
            if now - since > _END_SECONDS:
                self._failing[rank] = float("inf")
                self._progress.lose(rank, "has failed, as it has told")

    def _read(self, rank, content):
        kind = content.pop("kind")
        if kind == "bye":
            self.left[rank] = content
            for exchange in self._progress.exchanges:
                exchange.check_left()
            self._progress.named_calls.check_left()
        elif kind == "ready":
            self._progress.named_calls.on_ready(rank, content["name"], content["terms"])
        elif kind == "go":
            self._progress.named_calls.on_go(content["name"], content["terms"])
        elif kind == "ask":
            self.to_one(rank, "tell", **self._progress.report())
        elif kind == "tell" and self._answers is not None:
            self._answers[rank] = content
        elif kind == "who":
            self.to_one(rank, "here")
        elif kind == "here":
            self._present.add(rank)
            self._note_present()
        elif kind == "pace":
            self._progress.pace.hear(rank, content["figures"])
        elif kind == "join":
            self._progress.joining.hear_join(rank, content["round"], content["sessions"])
        elif kind == "session":
            self._progress.joining.hear_session(**content)
        elif kind == "halt":
            self._progress.admission.hear_halt()
        elif kind == "steps":
            self._progress.admission.hear_steps(rank, content["steps"])
        elif kind == "admit":
            self._progress.admission.hear_admit(**content)
        elif kind == "beat":
            self.neighbour.hear(time.monotonic())
        elif (
            kind == "failing" and not self._progress.elastic
        ):  # its own message is to be the last one
            self._failing[rank] = time.monotonic()
        elif kind == "lost":
            self._progress.lose(content["rank"], content["fate"])
        elif kind == "failed":
            exchange = self._progress.exchanges[content["exchange"]]
            slot = exchange.slots[content["slot"]]
            exchange.give_up(slot, f"{self.name(rank)}: {content['text']}")

    def call_roll(self, over):
        """Ask all who is there; `over` is set once all have answered."""
        self._present, self._all_present = {self._world.rank}, over
        self.to_all("who")
        self._note_present()

    def _note_present(self):
        if len(self._present) == self._world.size and self._all_present is not None:
            self._all_present.set()

    def all_left(self):
        """Whether all others have said goodbye."""
        return len(self.left) == self._world.size - 1

    def silent(self):
        """The ranks that have not answered the last call of the roll."""
        return [rank for rank in range(self._world.size) if rank not in self._present]

    def absent(self, task):
        """The error of an agreement in which a process that has left took no part, or None."""
        for rank, state in self.left.items():
            if state["tasks"] < task.number:
                return MXNetError(f"{self.name(rank)} left the job before {task.what}")
        return None

    def gone(self, exchange, slot):
        """Who has left without the pushes that a key waits for, as a text, or None."""
        for rank, state in self.left.items():
            rounds = _rounds_of(state, exchange, slot)
            if rounds < slot.arrived:
                return (
                    f"{self.name(rank)} left the job in round {rounds + 1} of key {slot.key!r}, "
                    "which it has not pushed"
                )
        return None

    # -- patience ---------------------------------------------------------------------------------

    def _waits(self):
        """What has been waited for longest: (since when, exchange or None, slot or task)."""
        waits = [wait for wait in (one.longest_wait() for one in self._progress.exchanges) if wait]
        if self._progress.waiting is not None:
            waits.append((self._progress.waiting.began, None, self._progress.waiting))
        return min(waits, key=lambda wait: wait[0], default=None)

    def _lose_patience(self, now):
        wait = self._waits()
        if wait is None or now - wait[0] < self._patience:
            self._answers = None
            return
        if self._answers is None:
            self._answers, self._asked = {}, now
            self.to_all("ask")
            return
        others = self._world.size - 1
        if len(self._answers) < others and time.monotonic() - self._asked < _ANSWER_SECONDS:
            return
        _, exchange, waited = wait
        whole = self._blame(exchange, waited)
        if exchange is None:
            waited.error = MXNetError(whole)
        else:
            exchange.give_up(waited, whole)
        self._answers = None

    def _blame(self, exchange, waited):
        what = (
            waited.what if exchange is None else f"round {waited.rounds + 1} of key {waited.key!r}"
        )
        silent, behind = [], []
        for rank in range(self._world.size):
            if rank == self._world.rank:
                continue
            state = self._answers.get(rank)
            if state is None:
                silent.append(self.name(rank))
            elif exchange is None and state["tasks"] < waited.number:
                behind.append(self.name(rank))
            elif rank in self._progress.joining.ranks:
                continue
            elif exchange is not None and _rounds_of(state, exchange, waited) <= waited.rounds:
                behind.append(self.name(rank))
        reasons = [f"{', '.join(silent)} does not answer"] if silent else []
        reasons += [f"{', '.join(behind)} has not come there"] if behind else []
        return f"waited {self._patience:g} seconds (MXCY_DIST_TIMEOUT) for {what}: " + (
            "; ".join(reasons) or "all have come there"
        )


def _rounds_of(state, exchange, slot):
    """How many pushes of a key a process has told of."""
    rounds = state["rounds"]
    if exchange.number >= len(rounds) or slot.number >= len(rounds[exchange.number]):
        return 0
    return rounds[exchange.number][slot.number]
