"""Sharded updates: which rank owns which rows of a bucket, and their session."""

import itertools
from bisect import bisect_right

__all__ = ["Ownership", "Share", "divide", "update_shares"]


class Share:
    """The rows of a key that one rank owns.

    Attributes
    ----------
    slot : Slot
    begin, end : int
        The range of rows; of elements, if the key has one dimension.
    row, length : int
        The number of elements in a row, and in all rows.
    """

    def __init__(self, slot, begin, end, row):
        self.slot, self.begin, self.end, self.row = slot, begin, end, row
        self.length = (end - begin) * row


class Ownership:
    """Splits a bucket into one part per rank, at boundaries of rows.

    Parameters
    ----------
    slots : list of Slot
        The bucket's, with their spans.
    size : int
        Number of ranks.
    """

    def __init__(self, slots, size):
        self._slots, self._starts = slots, [slot.span.start for slot in slots]
        self._size, self._of_all = size, None
        length = slots[-1].span.stop
        inner = [self._between_rows(length * i // size) for i in range(1, size)]
        self._cuts = [0, *inner, length]

    def _between_rows(self, element):
        """The start of the row that contains an element."""
        slot = self._slots[bisect_right(self._starts, element) - 1]
        row = _row(slot)
        return slot.span.start + (element - slot.span.start) // row * row

    def shares(self, slots):
        """The shares of each rank in some of the keys.

        Parameters
        ----------
        slots : list of Slot
            In the order of the bucket.

        Returns
        -------
        list of list of Share
            By rank.
        """
        if len(slots) < len(self._slots):
            return [self._shares(rank, slots) for rank in range(self._size)]
        if self._of_all is None:
            self._of_all = [self._shares(rank, slots) for rank in range(self._size)]
        return self._of_all

    def _shares(self, rank, slots):
        first, last = self._cuts[rank : rank + 2]
        owned = []
        for slot in slots:
            begin, end = max(first, slot.span.start), min(last, slot.span.stop)
            if begin < end:
                start, row = slot.span.start, _row(slot)
                owned.append(Share(slot, (begin - start) // row, (end - start) // row, row))
        return owned


def _row(slot):
    """The number of elements per row of a key."""
    return slot.size // slot.shape[0] if slot.size and slot.shape else 1


def update_shares(bucket, slots, source, arrays):
    """Reduce-scatter a bucket, update this rank's shares, and all-gather new values.

    Parameters
    ----------
    bucket : Bucket
    slots : list of Slot
        Keys that all ranks have pushed, in the order of the bucket.
    source : numpy.ndarray
        Pushed values.
    arrays : tuple of numpy.ndarray
        For sums and new values.

    Yields
    ------
    request
    """
    (sums, target), rank = arrays, bucket.channel.rank
    all_shares, cuts = divide(bucket, slots)
    lengths = [last - first for first, last in itertools.pairwise(cuts)]
    yield bucket.channel.reduce_scatter(source, sums, lengths)
    values = target[cuts[rank] : cuts[rank + 1]]
    yield bucket.updating.update([(all_shares[rank], sums[: values.size], values)], slots, False)
    yield bucket.channel.all_gather_v(None, target, lengths)


def divide(bucket, slots):
    """Return the shares of each rank in some keys, and the bounds of the ranks' parts."""
    all_shares = bucket.ownership.shares(slots)
    lengths = (sum(share.length for share in shares) for shares in all_shares)
    return all_shares, [0, *itertools.accumulate(lengths)]
