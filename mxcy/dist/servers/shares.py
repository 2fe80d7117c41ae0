"""Parts of values as servers keep them."""

from typing import NamedTuple

import numpy as np

from mxcy.dist.keys.levels import Levels

__all__ = ["Pull", "RowShare", "Share"]


class Pull(NamedTuple):
    """Somebody who waits for a value."""

    needed: int  # the round
    place: int
    ticket: list
    asked: list
    body: np.ndarray
    since: float


class Share:
    """A part of a dense value, and what has been pushed to it.

    Parameters
    ----------
    key : int or str
    terms : dict
        ``shape`` and ``dtype`` of the part, the dtype of the ``weight`` that it is part of, and
        ``levels``, if pushes are packed.
    body : numpy.ndarray of uint8
        The first value.

    Attributes
    ----------
    value : numpy.ndarray
        Contiguous.
    pushes : dict of int to deque
        By place: what waits for the pushes of others.
    arrived : dict of int to int
        By place: how often it has been pushed.
    rounds : int
        How many sums have been made.
    pulls : list of Pull
        Who waits.
    waits : bool
        Whether what is pushed waits for the pushes of the other workers.
    failed : str or None
        Why the value does not change any more.
    """

    def __init__(self, key, terms, body):
        self.key, self.weight = key, terms["weight"]
        dtype = np.dtype(terms["dtype"])
        self.value = np.array(body).view(dtype).reshape(terms["shape"])
        self.pushes, self.arrived, self.rounds, self.pulls = {}, {}, 0, []
        self._levels = Levels(*terms["levels"]) if "levels" in terms else None
        self.waits, self.failed = terms["waits"], None

    def read(self, body, form):
        """What a message adds."""
        if self._levels is not None:
            body = self._levels.unpack(body, self.value.size)
        return body.view(self.value.dtype).reshape(self.value.shape)

    def total(self, pushed):
        """The sum of what has been pushed, in this order."""
        if len(pushed) == 1:
            return pushed[0]
        total = np.add(pushed[0], pushed[1])
        for one in pushed[2:]:
            np.add(total, one, out=total)
        return total

    def replace(self, total):
        """Take a sum for the value."""
        self.value[...] = total

    def answer(self, asked, body):
        """What a pull gets: its form, and an array of its own."""
        return [], self.value.copy()


class RowShare(Share):
    """Rows of a value: every so many-th one, of which pushes and pulls name some.

    A body has the rows' numbers within the share as int64, then the rows.
    """

    def read(self, body, form):
        count = form[0]
        ids = body[: 8 * count].view(np.int64)
        rows = body[8 * count :].view(self.value.dtype)
        return ids, rows.reshape(count, *self.value.shape[1:])

    def total(self, pushed):
        """The sums of each row, in the order of what has been pushed, with their numbers."""
        ids = np.concatenate([one for one, _ in pushed])
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
