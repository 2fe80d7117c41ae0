"""Which process updates which elements of a bucket, and the session in which all of them do."""

from bisect import bisect_right

__all__ = ["Ownership", "Share", "update_shares"]


class Share:
    """The part of a key that one process owns: some of its rows.

    Attributes
    ----------
    slot : Slot
    begin, end : int
        The rows; elements, where the key has one dimension.
    length : int
        How many elements they have.
    """

    def __init__(self, slot, begin, end, row):
        self.slot, self.begin, self.end = slot, begin, end
        self.length = (end - begin) * row


class Ownership:
    """Cuts a bucket into one part for each process, between rows.

    Parameters
    ----------
    slots : list of Slot
        The bucket's, which have their places.
    size : int
        How many processes there are.
    """

    def __init__(self, slots, size):
        self._slots, self._starts = slots, [slot.place.start for slot in slots]
        self._size, self._of_all = size, None
        whole = slots[-1].place.stop
        inner = [self._between_rows(whole * i // size) for i in range(1, size)]
        self._cuts = [0, *inner, whole]

    def _between_rows(self, element):
        """The last beginning of a row up to an element."""
        slot = self._slots[bisect_right(self._starts, element) - 1]
        row = _row(slot)
        return slot.place.start + (element - slot.place.start) // row * row

    def shares(self, slots):
        """What each process owns of some of the keys.

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
            begin, end = max(first, slot.place.start), min(last, slot.place.stop)
            if begin < end:
                start, row = slot.place.start, _row(slot)
                owned.append(Share(slot, (begin - start) // row, (end - start) // row, row))
        return owned


def _row(slot):
    """How many elements a row of a key has."""
    return slot.size // slot.shape[0] if slot.size and slot.shape else 1


def update_shares(bucket, slots, rank, arrays):
    """Have each process add up what it owns of a bucket, update it, and send it to all.

    Parameters
    ----------
    bucket : Bucket
    slots : list of Slot
        The keys that all have pushed, in the order of the bucket.
    rank : int
        Of this process.
    arrays : tuple of numpy.ndarray
        What has been pushed to them, what takes sums, and what takes new values.

    Yields
    ------
    request

    Returns
    -------
    float
        What has been sent in after the last request: the time.
    """
    source, sums, target = arrays
    shares = bucket.ownership.shares(slots)
    lengths = [sum(share.length for share in owned) for owned in shares]
    begin = sum(lengths[:rank])
    yield bucket.channel.reduce_scatter(source, sums, lengths)
    sums, values = sums[: lengths[rank]], target[begin : begin + lengths[rank]]
    owned = {share.slot for share in shares[rank]}
    others = [slot for slot in slots if slot not in owned]
    yield bucket.updating.update(shares[rank], sums, values, others)
    return (yield bucket.channel.all_gather_v(None, target, lengths))
