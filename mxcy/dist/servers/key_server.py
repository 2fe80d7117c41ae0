"""The servers' side of stores with values on servers."""

import time
from collections import deque

from mxcy.base import MXNetError
from mxcy.dist.servers.key_client import FENCE
from mxcy.dist.servers.row_shares import RowShare
from mxcy.dist.servers.shares import Pull, Share

__all__ = ["KeyServer"]


class KeyServer:
    """Keeps shares of values, sums or applies pushes, and answers pulls.

    It runs in a server process or in a worker.

    Parameters
    ----------
    messenger : Messenger
    patience : float
        Seconds after which a pull fails that waits for other workers' pushes; 0: never.
    rules : object
        ``apply(store, share, total)`` updates a share's value, or returns False where the sum
        replaces it, as it does if ``updates(store)`` is false; ``command(store, head, text, body)``
        executes a worker's command and returns an array or None.

    Attributes
    ----------
    stores : int
        Number of stores with values here.
    """

    def __init__(self, messenger, patience, rules):
        self._messenger, self._patience, self.rules = messenger, patience, rules
        self._workers = [i for i, role in enumerate(messenger.world.roles) if role == "worker"]
        self._shares, self._left = {}, set()
        self._blocks = messenger.world.blocks
        self._near = self._blocks.readers if self._blocks else ()
        self.stores = 0
        messenger.server = self
        messenger.watchers.append(self._check_waits)
        messenger.handlers.update(
            put=self._put,
            push=self._push,
            pull=self._pull,
            wait=self._await,
            command=self._command,
            leave=self._leave,
        )

    def _put(self, place, body, ticket, store, number, key, terms):
        self.stores = max(self.stores, store + 1)
        by_rows = terms.get("by_rows")
        kind = RowShare if by_rows else Share
        self._shares[store, number] = kind(key, terms, body, self._blocks)
        self._messenger.answer(place, ticket)

    def _push(self, place, body, store, number, form):
        share = self._shares[store, number]
        share.arrived[place] = share.arrived.get(place, 0) + 1
        try:
            pushed = share.read(body, form)
        except Exception as error:
            share.failed = share.failed or f"key {share.key!r}: {_text_of(error)}"
            self._answer(share)
            return
        if not share.waits:
            self._apply(store, share, [pushed])
            return
        share.pushes.setdefault(place, deque()).append(pushed)
        while all(share.pushes.get(worker) for worker in self._workers):
            self._apply(store, share, [share.pushes[worker].popleft() for worker in self._workers])
            self._answer(share)
        self._check_departed(share)

    def _apply(self, store, share, pushed):
        share.rounds += 1
        if share.failed:
            return
        try:
            share.before_change()
            total = share.total(pushed)
            if not self.rules.apply(store, share, total):
                share.replace(total)
        except Exception as error:  # of an updater
            share.failed = f"key {share.key!r}, update {share.rounds}: {_text_of(error)}"

    def _pull(self, place, body, ticket, store, number):
        share = self._shares[store, number]

        def answer(error):
            if error is not None:
                self._messenger.answer(place, ticket, error)
                return
            form, value, away = share.answer(body, place in self._near)
            self._messenger.answer(place, ticket, None, form, value, away)

        self._wait(share, place, answer)

    def _await(self, place, body, ticket, store, number):
        """Answer, without a body, when a share includes the pushes of a worker."""
        share = self._shares[store, number]
        self._wait(share, place, lambda error: self._messenger.answer(place, ticket, error))

    def share(self, store, number):
        """A share; on the progress thread."""
        return self._shares[store, number]

    def _wait(self, share, place, on_ready):
        needed = share.arrived.get(place, 0) if share.waits else 0
        share.pulls.append(Pull(needed, place, time.monotonic(), on_ready))
        self._answer(share)
        self._check_departed(share)

    def _answer(self, share):
        waiting, share.pulls = share.pulls, []
        for pull in waiting:
            if share.failed:
                self._refuse(pull, share.failed)
            elif pull.needed <= share.rounds:
                pull.on_ready(None)
            else:
                share.pulls.append(pull)

    def _refuse(self, pull, text):
        pull.on_ready(f"{self._messenger.name(self._messenger.world.place)}: {text}")

    def _command(self, place, body, ticket, store, head, text):
        if head == FENCE:
            self._messenger.answer(place, ticket)
            return
        try:
            error, answer = None, self.rules.command(store, head, text, body)
        except Exception as failure:
            error, answer = _text_of(failure), None
        self._messenger.answer(place, ticket, error, None, answer)

    # -- workers that leave -----------------------------------------------------------------------

    def _leave(self, place, body):
        self._left.add(place)
        for share in self._shares.values():
            self._check_departed(share)

    def _check_departed(self, share):
        """Fail a share if pulls wait for pushes of a worker that has left."""
        for place in self._left if share.pulls else ():
            pushed = share.arrived.get(place, 0)
            if pushed < max(pull.needed for pull in share.pulls):
                share.failed = share.failed or (
                    f"{self._messenger.name(place)} left the job in round {pushed + 1} of key "
                    f"{share.key!r}, which it has not pushed"
                )
                self._answer(share)
                return

    def _check_waits(self, now):
        """Fail pulls that have waited too long."""
        for share in self._shares.values():
            if self._patience and share.pulls and now - share.pulls[0].since > self._patience:
                self._lose_patience(share)

    def _lose_patience(self, share):
        missing = [
            self._messenger.name(place)
            for place in self._workers
            if share.arrived.get(place, 0) <= share.rounds
        ]
        waiting, share.pulls = share.pulls, []
        for pull in waiting:
            self._refuse(
                pull,
                f"waited {self._patience:g} seconds (MXCY_DIST_TIMEOUT) for round "
                f"{share.rounds + 1} of key {share.key!r}: {', '.join(missing)} has not reached it",
            )


def _text_of(error):
    return str(error) if isinstance(error, MXNetError) else f"{type(error).__name__}: {error}"
