"""Shares: the parts of values that a server keeps."""

from typing import NamedTuple

import numpy as np

from mxcy._library.rows import copy_rows, find_rows, sum_rows
from mxcy.dist.keys.levels import Levels
from mxcy.dist.memory import take

__all__ = ["Pull", "RowShare", "RowSum", "Share", "is_ascending", "padded"]


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

    def answer(self, asked, body, near):
        """The answer to a pull: form, body, and a function to call when it has been sent.

        Parameters
        ----------
        asked : list
            The form of the pull.
        body : numpy.ndarray of uint8
            The body of the pull.
        near : bool
            Whether the puller can read blocks of this process.
        """
        answers, answer = self._answers, object()
        answers.append(answer)
        return [], self.value, lambda: answers.remove(answer)


class RowSum(NamedTuple):
    """The sum of pushed rows; in a block, the rows follow memory for `most` row numbers."""

    ids: np.ndarray  # ascending row numbers within the share
    rows: np.ndarray
    block: object = None  # SharedBlock that has the whole sum
    most: int = 0


class RowShare(Share):
    """Every n-th row of a value, n the number of servers; pushes and pulls select rows.

    The body of a push of the form [count] has so many row numbers within the share, as ascending
    int64, then the rows. In one of the form [count, first, all] there are the row numbers of all
    servers, those of this one from `first` on, the place of each of the rows, and all rows; each
    column of numbers has the length `all`.

    Parameters
    ----------
    key, terms, body
        See `Share`.
    blocks : SharedBlocks, optional
        For sums and answers.
    """

    def __init__(self, key, terms, body, blocks=None):
        self._sum, self._blocks = None, blocks  # `_sum` replaces the table
        self._replaces = True  # whether sums do so, instead of updating it
        super().__init__(key, terms, body)

    @property
    def value(self):
        """numpy.ndarray: all rows; a sum is not written to them before."""
        if self._sum is not None:
            self._table[...] = 0
            copy_rows(self._sum.rows, self._table, targets=self._sum.ids)
            self._sum = None
        return self._table

    @value.setter
    def value(self, value):
        self._table = value

    def read(self, body, form):
        """Row numbers, rows, and the place of each one's row among them or None: in order."""
        count, first, every = form if len(form) > 1 else (form[0], 0, form[0])
        columns = len(form[:2])  # of numbers
        ids = body[8 * first : 8 * (first + count)].view(np.int64)
        rows = body[8 * every * columns :].view(self._table.dtype)
        rows = rows.reshape(-1, *self._table.shape[1:])
        if columns == 1:
            return ids, rows, None
        return ids, rows, body[8 * (every + first) :][: 8 * count].view(np.int64)

    def total(self, pushed):
        """The row numbers and the sum of each row, in order of pushes, as `RowSum`."""
        terms = [term for term in pushed if term[0].size]
        if len(terms) == 1 and terms[0][2] is None and is_ascending(terms[0][0]):
            return RowSum(*terms[0][:2])
        most = padded(sum(ids.size for ids, _, _ in terms))
        row = self._table[:1]
        block, memory = self._take(most * (8 + row.nbytes), self._replaces)
        self._replaces = False
        ids = memory[: 8 * most].view(np.int64)
        rows = memory[8 * most :].view(row.dtype).reshape(most, *row.shape[1:])
        count = sum_rows(terms, ids, rows, stream=block is not None)
        return RowSum(ids[:count], rows[:count], block, most)

    def _take(self, count, shared):
        """A block or None, and memory for so many bytes, there if it is not None."""
        block = self._blocks.take(count) if shared and self._blocks is not None else None
        return block, take(count) if block is None else block.array()

    def replace(self, total):
        self._sum, self._replaces = total, True

    def answer(self, asked, body, near):
        """Rows; or the whole sum, of the form [number of rows, `RowSum.most`]."""
        ids, known = body.view(np.int64), self._sum
        if known is not None and known.block is not None and near:
            return [known.ids.size, known.most], known.block, None
        block, memory = self._take(ids.size * self._table[:1].nbytes, near)
        rows = memory.view(self._table.dtype).reshape(ids.size, *self._table.shape[1:])
        if known is None:
            copy_rows(self._table, rows, ids, stream=block is not None)
        else:
            copy_rows(known.rows, rows, find_rows(ids, known.ids), stream=block is not None)
        return [], rows if block is None else block, None


def padded(count):
    """So many row numbers or more, after which rows begin at a cache line."""
    return -(-count // 8) * 8


def is_ascending(ids):
    """Whether row numbers are sorted and distinct."""
    return bool((ids[1:] > ids[:-1]).all())
