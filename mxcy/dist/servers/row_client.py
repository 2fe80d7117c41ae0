"""The workers' side of row_sparse values on servers."""

import numpy as np

from mxcy._library.rows import copy_rows, deal_rows, find_rows
from mxcy.dist.memory import take
from mxcy.dist.servers.key_client import Answers, KeyClient, ServedKey
from mxcy.dist.servers.shares import padded

__all__ = ["RowClient"]


class RowClient(KeyClient):
    """Keys with rows distributed over servers: row r is on server r modulo their number."""

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
                "by_rows": True,
            }
            rows = np.ascontiguousarray(array[begin :: len(self.places)])
            content = [self.number, number, served.key, terms]
            self._messenger.ask(self.places[server], "put", content, answers.take, what, body=rows)

    def _deal(self, served, ids, out=None):
        """For each share: number, server's place, positions in `ids`, local row numbers, first."""
        counts, places, local = deal_rows(ids, len(self.places), out)
        ends = np.cumsum(counts)
        for number, server, begin, _ in served.shares:
            first = int(ends[begin] - counts[begin])
            own = slice(first, ends[begin])
            yield number, self.places[server], places[own], local[own], first

    def push_rows(self, served, ids, rows, priority=0):
        """Push copies of rows to their servers; every server gets a message, which is a push.

        Servers on this machine read them in one block.

        Parameters
        ----------
        served : ServedKey
        ids : numpy.ndarray of int64
            Ascending; rows of equal ids are summed.
        rows : numpy.ndarray
            Contiguous.
        priority : int
        """
        count, row, near = ids.size, rows[:1].nbytes, self._near()
        every = padded(count)
        size = 16 * every + count * row
        block = self._messenger.world.blocks.take(size) if near else None
        out, messages = None, []
        if block is not None:
            memory = block.array()
            out = memory[: 16 * every].view(np.int64)
            copy_rows(rows, memory[16 * every :].reshape(count, row), stream=True)
        for number, place, own, local, first in self._deal(served, ids, out):
            form, body = [own.size], block
            if block is not None and place in near:
                form += [first, every]
            else:
                body = take(own.size * (8 + row))
                body[: local.nbytes].view(np.int64)[...] = local
                copy_rows(rows, body[local.nbytes :].reshape(own.size, row), own)
            messages.append((number, place, form, body))

        def send():
            for number, place, form, body in messages:
                content, line = [self.number, number, form], (self.number, number)
                self._messenger.send(place, "push", content, body, priority, line, given=True)
                self.sent += form[0] * (8 + row)

        self._progress.submit(send)

    def _near(self):
        """Places of the servers on this machine that read its blocks, if some are not here."""
        world = self._messenger.world
        readers = frozenset() if world.blocks is None else world.blocks.readers
        near = readers.intersection(self.places)
        return near | {world.place} if near else near

    def pull_rows(self, served, ids, rows, on_done, priority=0):
        """Fetch rows, which include this worker's pushes.

        Parameters
        ----------
        served : ServedKey
        ids : numpy.ndarray of int64
        rows : numpy.ndarray
            Takes the rows; contiguous.
        on_done : callable
            ``on_done(error)``, called with an error message or None.
        priority : int
        """
        wanted = [part for part in self._deal(served, ids) if part[2].size]
        if not wanted:
            on_done(None)
            return

        def filling(own, local, answers):
            def fill(error, form, body):
                if error is None and form:
                    stored, most = form
                    places = find_rows(local, body[: 8 * stored].view(np.int64))
                    copy_rows(body[8 * most :], rows, places, own)
                elif error is None:
                    copy_rows(body, rows, targets=own)
                answers.take(error)

            return fill

        def ask():
            answers = Answers(len(wanted), on_done)
            for number, place, own, local, _ in wanted:
                self._messenger.ask(
                    place,
                    "pull",
                    [self.number, number, None],
                    filling(own, local, answers),
                    f"rows of key {served.key!r}",
                    body=local,
                    priority=priority,
                    line=(self.number, number),
                    given=True,
                )

        self._progress.submit(ask)
