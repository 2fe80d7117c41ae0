"""Shares of row_sparse values."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from mxcy._library.rows import copy_rows, find_rows, own_rows, sum_rows
from mxcy.dist.servers.shares import Share, take_near

__all__ = ["PushedRows", "RowShare", "RowSum", "is_ascending", "padded"]


class PushedRows(NamedTuple):
    """The rows that a worker has pushed: those of a share, or of the whole value."""

    ids: np.ndarray  # ascending row numbers, within the share or within the whole value
    rows: np.ndarray
    whole: bool = False


class MergedRows(NamedTuple):
    """Sums of rows; in a block, the rows follow memory for `most` row numbers."""

    ids: np.ndarray  # ascending row numbers within the share
    rows: np.ndarray
    block: object = None  # SharedBlock that has all of it
    most: int = 0


class RowSum:
    """The sum of the rows that all workers have pushed; computed when it is needed.

    Parameters
    ----------
    pushes : list of PushedRows
        In the order of workers.
    share : RowShare
        The share of which it is a sum.

    Attributes
    ----------
    whole : bool
        Whether all workers have pushed rows of the whole value, so that any of its rows can be
        summed here.
    """

    def __init__(self, pushes, share):
        self.pushes, self._share, self._merged = pushes, share, None
        self.whole = all(push.whole for push in pushes)

    @property
    def dtype(self):
        """numpy.dtype: of the rows."""
        return self._share.row.dtype

    @cached_property
    def terms(self):
        """list of tuple: pushed rows of the share; see `RowShare.own_part`."""
        parts = [self._share.own_part(push) for push in self.pushes]
        return [part for part in parts if part[0].size]

    @property
    def ids(self):
        """numpy.ndarray: row numbers within the share."""
        return self.merged().ids

    @property
    def rows(self):
        """numpy.ndarray: the sums of these rows."""
        return self.merged().rows

    def merged(self, blocks=None):
        """The sums of the share's rows, each in the order of pushes.

        Parameters
        ----------
        blocks : SharedBlocks, optional
            Has memory for a sum that was not computed before.

        Returns
        -------
        MergedRows
        """
        if self._merged is None:
            self._merged = self._merge(blocks)
        return self._merged

    def _merge(self, blocks):
        terms = self.terms
        if len(terms) == 1 and terms[0][2] is None and is_ascending(terms[0][0]):
            return MergedRows(*terms[0][:2])
        most, row = padded(sum(ids.size for ids, _, _ in terms)), self._share.row
        block, memory = take_near(most * (8 + row.nbytes), blocks)
        ids = memory[: 8 * most].view(np.int64)
        rows = memory[8 * most :].view(row.dtype).reshape(most, *row.shape[1:])
        count = sum_rows(terms, ids, rows, stream=block is not None)
        return MergedRows(ids[:count], rows[:count], block, most)


class RowShare(Share):
    """Every n-th row of a value, n the number of servers; pushes and pulls select rows.

    A push of the form [count, most, whole] has so many row numbers, as ascending int64, in memory
    for `most`, then the rows: those of the share, or all rows, by their numbers in the whole value.

    Parameters
    ----------
    key, terms, body
        See `Share`; ``by_rows`` is the number of this share and of all.
    blocks : SharedBlocks, optional
        For sums and answers.
    """

    def __init__(self, key, terms, body, blocks=None):
        self._sum = None  # replaces the table
        self._number, self._shares = terms["by_rows"]
        super().__init__(key, terms, body, blocks)

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

    def _stored(self, octets):
        return np.array(octets)

    @property
    def row(self):
        """numpy.ndarray: one row, as an example of their shape and dtype."""
        return self._table[:1]

    def read(self, body, form):
        """The `PushedRows` of a message."""
        count, most, whole = form
        rows = body[8 * most :].view(self._table.dtype).reshape(-1, *self._table.shape[1:])
        return PushedRows(body[: 8 * count].view(np.int64), rows[:count], whole)

    def own_part(self, push):
        """Pushed rows of this share: their numbers, rows, and where each is among them, or None."""
        if not push.whole:
            return push.ids, push.rows, None
        ids, places = own_rows(push.ids, self._shares, self._number)
        return ids, push.rows, places

    def total(self, pushed):
        """The sum of pushed rows."""
        return RowSum(pushed, self)

    def replace(self, total):
        self._sum = total

    @property
    def sum(self):
        """RowSum or None: a sum that is the value."""
        return self._sum

    def copy_rows(self, ids, out, targets):
        """Copy rows of the value to an array.

        Parameters
        ----------
        ids : numpy.ndarray of int64
            Ascending row numbers within the share.
        out : numpy.ndarray
        targets : numpy.ndarray of int64 or None
            Where each row goes; the first rows by default.
        """
        self._copy_rows(ids, out, targets, False)

    def _copy_rows(self, ids, out, targets, stream):
        rows, places = self._table, ids
        if self._sum is not None:
            rows, places = self._sum.rows, find_rows(ids, self._sum.ids)
        copy_rows(rows, out, places, targets, stream)

    def answer(self, body, near):
        """Rows; or the whole sum, of the form [number of rows, `MergedRows.most`]."""
        blocks = self._blocks if near else None
        if blocks is not None and self._sum is not None:
            known = self._sum.merged(blocks)
            if known.block is not None:
                return [known.ids.size, known.most], known.block, None
        ids, row = body.view(np.int64), self.row
        block, memory = take_near(ids.size * row.nbytes, blocks)
        rows = memory.view(row.dtype).reshape(ids.size, *row.shape[1:])
        self._copy_rows(ids, rows, None, block is not None)
        return [], rows if block is None else block, None


def padded(count):
    """So many row numbers or more, after which rows begin at a cache line."""
    return -(-count // 8) * 8


def is_ascending(ids):
    """Whether row numbers are sorted and distinct."""
    return bool((ids[1:] > ids[:-1]).all())
