"""Shares: the parts of values that a server keeps."""

from typing import NamedTuple

import numpy as np

from mxcy._library.rows import find_rows, gather_rows, scatter_rows, sum_rows
from mxcy.dist.keys.levels import Levels
from mxcy.dist.memory import take

__all__ = ["Pull", "RowShare", "Share", "is_ascending"]


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
        self._answers = []  # those that send the current value's memory
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

    def before_change(self):
        """Leave the value to answers that are still being sent, and go on with a copy."""
        if self._answers:
            self.value, self._answers = self._copy(), []

    def _copy(self):
        copy = take(self.value.nbytes).view(self.value.dtype).reshape(self.value.shape)
        np.copyto(copy, self.value)
        return copy

    def answer(self, asked, body):
        """The answer to a pull: form, body, and a function to call when it has been sent."""
        answers, answer = self._answers, object()
        answers.append(answer)
        return [], self.value, lambda: answers.remove(answer)


class RowShare(Share):
    """Every n-th row of a value, n the number of servers; pushes and pulls select rows.

    The body of a push has the row numbers within the share as int64, ascending, then the rows.
    """

    def __init__(self, key, terms, body):
        self._sum = None  # ids and rows of the sum that replaces the table
        super().__init__(key, terms, body)

    @property
    def value(self):
        """numpy.ndarray: all rows; a sum is not written to them before."""
        if self._sum is not None:
            self._table[...] = 0
            scatter_rows(self._sum[1], self._sum[0], self._table)
            self._sum = None
        return self._table

    @value.setter
    def value(self, value):
        self._table = value

    def read(self, body, form):
        count = form[0]
        ids = body[: 8 * count].view(np.int64)
        rows = body[8 * count :].view(self._table.dtype)
        return ids, rows.reshape(count, *self._table.shape[1:])

    def total(self, pushed):
        """The row numbers and the sum of each row, in order of pushes."""
        terms = [term for term in pushed if term[0].size]
        if not terms or (len(terms) == 1 and is_ascending(terms[0][0])):
            return terms[0] if terms else pushed[0]
        most = sum(ids.size for ids, _ in terms)
        ids, rows = np.empty(most, np.int64), self._rows(most)
        count = sum_rows(terms, ids, rows)
        return ids[:count], rows[:count]

    def _rows(self, count):
        """Memory for so many rows."""
        row = self._table[:1]
        return take(count * row.nbytes).view(row.dtype).reshape(count, *row.shape[1:])

    def replace(self, total):
        self._sum = total

    def answer(self, asked, body):
        ids = body.view(np.int64)
        rows = self._rows(ids.size)
        if self._sum is None:
            gather_rows(self._table, ids, rows)
        else:
            gather_rows(self._sum[1], find_rows(ids, self._sum[0]), rows)
        return [], rows, None


def is_ascending(ids):
    """Whether row numbers are sorted and distinct."""
    return bool((ids[1:] > ids[:-1]).all())
