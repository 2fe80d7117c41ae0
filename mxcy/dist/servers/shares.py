"""Shares: the parts of values that a server keeps."""

from typing import NamedTuple

import numpy as np

from mxcy.dist.keys.levels import Levels

__all__ = ["Pull", "RowShare", "Share"]


class Pull(NamedTuple):
    """A pull that waits for a round."""

    needed: int  # round
    place: int
    ticket: list
    asked: list
    body: np.ndarray
    since: float


class Share:
    """A part of a dense value, with waiting pushes and pulls.

    Parameters
    ----------
    key : int or str
    terms : dict
        ``shape`` and ``dtype`` of the part, dtype of the whole ``weight``, ``waits`` and, if pushes
        are packed, ``levels``.
    body : numpy.ndarray of uint8
        The initial value.

    Attributes
    ----------
    value : numpy.ndarray
        Contiguous.
    pushes : dict of int to deque
        By place: pushes that wait for those of other workers.
    arrived : dict of int to int
        By place: number of pushes.
    rounds : int
        Number of sums so far.
    pulls : list of Pull
        Waiting pulls.
    waits : bool
        Whether pushes wait for those of the other workers.
    failed : str or None
        The reason why the value no longer changes.
    """

    def __init__(self, key, terms, body):
        self.key, self.weight = key, terms["weight"]
        dtype = np.dtype(terms["dtype"])
        self.value = np.array(body).view(dtype).reshape(terms["shape"])
        self.pushes, self.arrived, self.rounds, self.pulls = {}, {}, 0, []
        self._levels = Levels(*terms["levels"]) if "levels" in terms else None
        self.waits, self.failed = terms["waits"], None

    def read(self, body, form):
        """The pushed array of a message."""
        if self._levels is not None:
            body = self._levels.unpack(body, self.value.size)
        return body.view(self.value.dtype).reshape(self.value.shape)

    def total(self, pushed):
        """The sum of pushed arrays, in order."""
        if len(pushed) == 1:
            return pushed[0]
        total = np.add(pushed[0], pushed[1])
        for array in pushed[2:]:
            np.add(total, array, out=total)
        return total

    def replace(self, total):
        """Replace the value by a sum."""
        self.value[...] = total

    def answer(self, asked, body):
        """The answer to a pull: form and a copy of the value."""
        return [], self.value.copy()


class RowShare(Share):
    """Every n-th row of a value, n the number of servers; pushes and pulls select rows.

    The body of a push has the row numbers within the share as int64, then the rows.
    """

    def read(self, body, form):
        count = form[0]
        ids = body[: 8 * count].view(np.int64)
        rows = body[8 * count :].view(self.value.dtype)
        return ids, rows.reshape(count, *self.value.shape[1:])

    def total(self, pushed):
        """The row numbers and the sum of each row, in order of pushes."""
        ids = np.concatenate([ids_of_push for ids_of_push, _ in pushed])
        rows = np.concatenate([rows for _, rows in pushed])
        order = np.argsort(ids, kind="stable")
        unique, starts = np.unique(ids[order], return_index=True)
        if not unique.size:
            return unique, rows
        return unique, np.add.reduceat(rows[order], starts, axis=0, dtype=rows.dtype)

    def replace(self, total):
        ids, rows = total
        self.value[...] = 0
        self.value[ids] = rows

    def answer(self, asked, body):
        return [], self.value[body.view(np.int64)]
