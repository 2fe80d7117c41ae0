"""The workers' side of row_sparse values on servers."""

import threading

import numpy as np

from mxcy._library.rows import copy_rows, deal_rows, find_rows, sum_rows_at
from mxcy.base import MXNetError
from mxcy.dist.memory import take
from mxcy.dist.servers.key_client import Answers, KeyClient, ServedKey
from mxcy.dist.servers.row_shares import padded

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

        Servers on this machine get all rows, in one block.

        Parameters
        ----------
        served : ServedKey
        ids : numpy.ndarray of int64
            Ascending; rows of equal ids are summed.
        rows : numpy.ndarray
            Contiguous.
        priority : int
        """
        near, messages = self._near(), []
        block, most = self._block_of(ids, rows) if near else (None, 0)
        if block is None:
            near = frozenset()
        for number, server, _, _ in served.shares:
            if self.places[server] in near:
                messages.append((number, self.places[server], [ids.size, most], block))
        if len(messages) < len(served.shares):
            for number, place, own, local in self._deal(served, ids):
                if place not in near:
                    messages.append((number, place, [own.size], _part_of(rows, own, local)))

        def send():
            for number, place, form, body in messages:
                content, line = [self.number, number, form], (self.number, number)
                self._messenger.send(place, "push", content, body, priority, line, given=True)
                self.sent += form[0] * (8 + rows[:1].nbytes)

        self._progress.submit(send)

    def _block_of(self, ids, rows):
        """A block with rows and their numbers, in memory for so many; or None."""
        most = padded(ids.size)
        block = self._messenger.world.blocks.take(8 * most + rows.nbytes)
        if block is not None:
            memory = block.array()
            memory[: ids.nbytes].view(np.int64)[...] = ids
            copy_rows(rows, memory[8 * most :].reshape(len(rows), rows[:1].nbytes), stream=True)
        return block, most

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
            own = self._hosted(served)
            if own is None or self._messenger.server.rules.updates(self.number):
                self._ask_for_rows(served, ids, rows, on_done, priority)
            else:
                self._ask(served, "wait", self._place, own, sum_or_ask, priority)

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


def _part_of(rows, own, local):
    """The body of a push of some rows."""
    row = rows[:1].nbytes
    body = take(own.size * (8 + row))
    body[: local.nbytes].view(np.int64)[...] = local
    copy_rows(rows, body[local.nbytes :].reshape(own.size, row), own)
    return body


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
