"""The workers' side of row_sparse values on servers."""

import numpy as np

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

    def _by_server(self, served, ids):
        """For each share: its number, its server's place, positions in `ids`, local row numbers."""
        owners = ids % len(self.places)
        for number, server, begin, _ in served.shares:
            own = np.flatnonzero(owners == begin)
            local = np.ascontiguousarray(ids[own] // len(self.places), np.int64)
            yield number, self.places[server], own, local

    def push_rows(self, served, ids, rows, done, priority=0):
        """Push rows to their servers; every server gets a message, which counts as a push.

        Parameters
        ----------
        served : ServedKey
        ids : numpy.ndarray of int64
        rows : numpy.ndarray
        done : callable
            Called when `rows` are no longer needed.
        priority : int
        """
        messages = []
        for number, place, own, local in self._by_server(served, ids):
            octets = np.ascontiguousarray(rows[own]).reshape(-1).view(np.uint8)
            messages.append(
                (number, place, len(own), np.concatenate([local.view(np.uint8), octets]))
            )
        done()

        def send():
            for number, place, count, body in messages:
                content, line = [self.number, number, [count]], (self.number, number)
                self._messenger.send(place, "push", content, body, priority, line)
                self.sent += body.nbytes

        self._progress.submit(send)

    def pull_rows(self, served, ids, on_done, priority=0):
        """Fetch rows, which include this worker's pushes.

        Parameters
        ----------
        served : ServedKey
        ids : numpy.ndarray of int64
        on_done : callable
            ``on_done(error, rows)``, called with an error message or None and the rows.
        priority : int
        """
        rows = np.empty((ids.size, *served.shape[1:]), served.dtype)
        wanted = [part for part in self._by_server(served, ids) if part[2].size]
        if not wanted:
            on_done(None, rows)
            return

        def filling(own, answers):
            def take(error, form, body):
                if error is None:
                    rows[own] = body.view(rows.dtype).reshape(own.size, *rows.shape[1:])
                answers.take(error)

            return take

        def ask():
            answers = Answers(len(wanted), lambda error: on_done(error, rows))
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
                )

        self._progress.submit(ask)
