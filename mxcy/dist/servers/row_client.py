"""The workers' side of row_sparse values on servers."""

import threading

import numpy as np

from mxcy._library.rows import copy_rows, deal_rows, find_rows, sum_rows_at
from mxcy.base import MXNetError
from mxcy.dist.servers.key_client import Answers, KeyClient, ServedKey
from mxcy.dist.servers.row_shares import padded
from mxcy.dist.servers.shares import take_near
from mxcy.dist.worlds.shared_blocks import SharedBlock

__all__ = ["RowClient"]


class RowClient(KeyClient):
    """Keys with rows distributed over servers: row r is on server r modulo their number."""

    @property
    def _place(self):
        return self._messenger.world.place

    def _divide(self, key, array, levels):
        servers = len(self.places)
        shares = [
            (self._shares + i, i, i, len(range(i, array.shape[0], servers))) for i in range(servers)
        ]
        self._shares += servers
        return ServedKey(key, array.shape, array.dtype, shares, by_rows=True)

    def _put(self, served, array, weight, answers, what):
        for number, server, begin, length in served.shares:
            terms = {
                "shape": [length, *served.shape[1:]],
                "dtype": served.dtype.str,
                "weight": weight,
                "waits": self._waits,
                "by_rows": [begin, len(self.places)],
            }
            rows = np.ascontiguousarray(array[begin :: len(self.places)])
            content = [self.number, number, served.key, terms]
            self._messenger.ask(self.places[server], "put", content, answers.take, what, body=rows)

    def _deal(self, served, ids):
        """For each share: number, server's place, positions in `ids`, local row numbers."""
        counts, places, local = deal_rows(ids, len(self.places))
        ends = np.cumsum(counts)
        for number, server, begin, _ in served.shares:
            own = slice(ends[begin] - counts[begin], ends[begin])
            yield number, self.places[server], places[own], local[own]

    def push_rows(self, served, ids, rows, priority=0):
        """Push copies of rows to their servers; every server gets a message, which is a push.

        If workers sum rows as they pull them, those on this machine get all rows, in one block.

        Parameters
        ----------
        served : ServedKey
        ids : numpy.ndarray of int64
            Ascending; rows of equal ids are summed.
        rows : numpy.ndarray
            Contiguous.
        priority : int
        """
        blocks, near = self._messenger.world.blocks, self._near()
        messages = self._push_of_all(served, ids, rows, near) if self._sums_here(served) else []
        if len(messages) < len(served.shares):
            done = {place for _, place, _, _ in messages}
            for number, place, own, local in self._deal(served, ids):
                if place not in done:
                    reads = place in near and place != self._place
                    form, body = _packed(local, rows, blocks if reads else None, own)
                    messages.append((number, place, [*form, False], body))

        def send():
            for number, place, form, body in messages:
                content, line = [self.number, number, form], (self.number, number)
                self._messenger.send(place, "push", content, body, priority, line, given=True)
                self.sent += form[0] * (8 + rows[:1].nbytes)

        self._progress.submit(send)

    def _push_of_all(self, served, ids, rows, near):
        """Messages with all rows to the servers near by, if there is a block for these."""
        form, body = _packed(ids, rows, self._messenger.world.blocks) if near else (None, None)
        if not isinstance(body, SharedBlock):
            return []
        servers = [(number, self.places[server]) for number, server, _, _ in served.shares]
        return [(number, place, [*form, True], body) for number, place in servers if place in near]

    def _sums_here(self, served):
        """Whether this process sums rows that it pulls: it is a server without an updater."""
        server = self._messenger.server
        return self._hosted(served) is not None and not server.rules.updates(self.number)

    def _near(self):
        """Places of the servers on this machine that read its blocks, if some are not here."""
        world = self._messenger.world
        readers = frozenset() if world.blocks is None else world.blocks.readers
        near = readers.intersection(self.places)
        return near | {self._place} if near else near

    def pull_rows(self, served, ids, rows, priority=0):
        """Fetch rows, which include this worker's pushes, and wait for them.

        Parameters
        ----------
        served : ServedKey
        ids : numpy.ndarray of int64
            Ascending and distinct.
        rows : numpy.ndarray
            Takes the rows; contiguous.
        priority : int
            Messages with larger priorities go first.

        Raises
        ------
        MXNetError
            When an update of the key has failed, or a server does not answer.
        """
        over, errors = threading.Event(), []

        def on_done(error):
            errors.append(error)
            over.set()

        def begin():
            if self._sums_here(served):
                own = self._hosted(served)
                self._ask(served, "wait", self._place, own, sum_or_ask, priority)
            else:
                self._ask_for_rows(served, ids, rows, on_done, priority)

        def sum_or_ask(error, form, body):
            known = None if error else self._share(served).sum
            if error is None and (known is None or not known.whole):
                self._ask_for_rows(served, ids, rows, on_done, priority)
                return
            if error is None:
                sum_rows_at(ids, known.pushes, rows)
            on_done(error)

        self._progress.turn.attend(begin, over)
        if errors[0]:
            raise MXNetError(errors[0])

    def _hosted(self, served):
        """The number of the share of a key that a server in this process has, or None."""
        if self._messenger.server is None or self._place not in self.places:
            return None
        return served.shares[self.places.index(self._place)][0]

    def _share(self, served):
        """That share."""
        return self._messenger.server.share(self.number, self._hosted(served))

    def _ask_for_rows(self, served, ids, rows, on_done, priority):
        """Get rows from the servers that own them."""
        wanted = [part for part in self._deal(served, ids) if part[2].size]
        if not wanted:
            on_done(None)
            return
        answers, hosted = Answers(len(wanted), on_done), self._hosted(served)
        for number, place, own, local in wanted:
            if number == hosted:
                copy = self._copying(served, rows, own, local, answers)
                self._ask(served, "wait", place, number, copy, priority)
            else:
                fill = _filling(rows, own, local, answers)
                self._ask(served, "pull", place, number, fill, priority, local)

    def _ask(self, served, kind, place, number, on_done, priority, ids=None):
        content, line = [self.number, number], (self.number, number)
        what, body = f"rows of key {served.key!r}", ids
        if ids is not None:
            body = self._copied(ids, place)
        self._messenger.ask(
            place, kind, content, on_done, what, body=body, priority=priority, line=line, given=True
        )

    def _copying(self, served, rows, own, local, answers):
        """What copies rows from the server in this process."""

        def copy(error, form, body):
            if error is None:
                self._share(served).copy_rows(local, rows, own)
            answers.take(error)

        return copy


def _packed(ids, rows, blocks, places=None):
    """The form [number of rows, row numbers that there is memory for] and body of a push."""
    most, row = padded(ids.size), rows[:1].nbytes
    block, memory = take_near(8 * most + ids.size * row, blocks)
    memory[: ids.nbytes].view(np.int64)[...] = ids
    copy_rows(rows, memory[8 * most :].reshape(ids.size, row), places, stream=block is not None)
    return [ids.size, most], memory if block is None else block


def _filling(rows, own, local, answers):
    """What copies an answer's rows to their places."""

    def fill(error, form, body):
        if error is None and form:
            stored, most = form
            places = find_rows(local, body[: 8 * stored].view(np.int64))
            copy_rows(body[8 * most :], rows, places, own)
        elif error is None:
            copy_rows(body, rows, targets=own)
        answers.take(error)

    return fill
