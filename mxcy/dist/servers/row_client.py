"""The workers' side of row_sparse values on servers."""

import numpy as np

from mxcy._library.rows import deal_rows, gather_rows, scatter_rows
from mxcy.dist.memory import take
from mxcy.dist.servers.key_client import Answers, KeyClient, ServedKey

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

    def _deal(self, served, ids):
        """For each share: its number, its server's place, positions in `ids`, local row numbers."""
        counts, places, local = deal_rows(ids, len(self.places))
        ends = np.cumsum(counts)
        for number, server, begin, _ in served.shares:
            own = slice(ends[begin] - counts[begin], ends[begin])
            yield number, self.places[server], places[own], local[own]

    def push_rows(self, served, ids, rows, priority=0):
        """Push copies of rows to their servers; every server gets a message, which is a push.

        Parameters
        ----------
        served : ServedKey
        ids : numpy.ndarray of int64
            Ascending; rows of equal ids are summed.
        rows : numpy.ndarray
            Contiguous.
        priority : int
        """
        messages = []
        for number, place, own, local in self._deal(served, ids):
            body = take(local.nbytes + own.size * rows[:1].nbytes)
            body[: local.nbytes].view(np.int64)[...] = local
            gather_rows(rows, own, body[local.nbytes :])
            messages.append((number, place, own.size, body))

        def send():
            for number, place, count, body in messages:
                content, line = [self.number, number, [count]], (self.number, number)
                self._messenger.send(place, "push", content, body, priority, line, given=True)
                self.sent += body.nbytes

        self._progress.submit(send)

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

        def filling(own, answers):
            def fill(error, form, body):
                if error is None:
                    scatter_rows(body, own, rows)
                answers.take(error)

            return fill

        def ask():
            answers = Answers(len(wanted), on_done)
            for number, place, own, local in wanted:
                self._messenger.ask(
                    place,
                    "pull",
                    [self.number, number, None],
                    filling(own, answers),
                    f"rows of key {served.key!r}",
                    body=local,
                    priority=priority,
                    line=(self.number, number),
                    given=True,
                )

        self._progress.submit(ask)
