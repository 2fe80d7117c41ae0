"""Sharded updates in jobs that may shrink: two ranks hold the optimizer states of each part."""

import numpy as np

from mxcy.dist.keys.ownership import divide

__all__ = ["Mirrors", "PendingUpdate", "update_mirrored"]


class Mirrors:
    """Which rank mirrors the part of which: one on another machine, if possible.

    Parameters
    ----------
    rank : int
        This rank.
    hosts : list of str
        The host name of each rank.

    Attributes
    ----------
    source : int
        The rank whose part is mirrored here.
    holder : int
        The rank that mirrors this rank's part.
    """

    def __init__(self, rank, hosts):
        order = sorted(range(len(hosts)), key=lambda one: (hosts.index(hosts[one]), one))
        place, half = order.index(rank), len(order) // 2
        self.source = order[(place + half) % len(order)]
        self.holder = order[place - half]


class PendingUpdate:
    """A session whose sums are complete on all ranks as soon as one of them has updated anything.

    Parameters
    ----------
    bucket : Bucket
    slots : list of Slot
        Keys of the session.
    complete : bool
        Whether these are all keys of the bucket.
    parts : list of tuple
        Of this rank and of the one that it mirrors: shares, sums, array for new values.
    begins : list of int
        The first element of each of these parts.

    Attributes
    ----------
    done : bool
        Whether this rank has updated its parts.
    """

    def __init__(self, bucket, slots, complete, parts, begins):
        self._bucket, self._slots, self._complete = bucket, slots, complete
        self._parts, self._begins = parts, begins
        self.done = False

    def run(self):
        """Update the parts; return a request."""
        self.done = True
        return self._bucket.updating.update(self._parts, self._slots, False)

    def pieces(self):
        """The new values of the parts: first element, values."""
        values = [part[2] for part in self._parts]
        return list(zip(self._begins, values, strict=True))

    def result(self, pieces):
        """The arguments of `Bucket.adopt`, from the pieces of all ranks that are left.

        Returns
        -------
        tuple or None
            None if pieces are missing.
        """
        length = sum(slot.size for slot in self._slots)
        values, known = np.empty(length, self._bucket.dtype), np.zeros(length, bool)
        for begin, piece in pieces:
            values[begin : begin + piece.size] = piece
            known[begin : begin + piece.size] = True
        numbers = [self._bucket.slots.index(slot) for slot in self._slots]
        return (numbers, self._complete, values) if known.all() else None


def update_mirrored(bucket, slots, source, arrays):
    """Reduce-scatter a bucket, update two parts on each rank, and all-gather new values.

    Nobody updates anything before a barrier, which all ranks reach with complete sums. If a rank
    dies, the others therefore either all repeat the session, or all complete it.

    Parameters
    ----------
    bucket, slots, source, arrays
        See `update_shares`; the bucket has mirrors.

    Yields
    ------
    request
    """
    sums, target = arrays
    channel, mirrored = bucket.channel, bucket.mirrors.source
    rank = channel.rank
    all_shares, cuts = divide(bucket, slots)
    lengths = [last - first for first, last in zip(cuts[:-1], cuts[1:], strict=True)]
    mine = sums[: lengths[rank]]
    yield channel.reduce_scatter(source, sums, lengths)
    if bucket.factor != 1.0:
        mine *= bucket.dtype.type(bucket.factor)
    other = sums[mine.size : mine.size + lengths[mirrored]]
    sent, taken = [0] * len(lengths), [0] * len(lengths)
    sent[bucket.mirrors.holder], taken[mirrored] = mine.size, other.size
    yield channel.all_to_all_v(mine, sent, other, taken)
    values = target[cuts[rank] : cuts[rank + 1]]
    parts = [(all_shares[rank], mine, values), (all_shares[mirrored], other, np.empty_like(other))]
    begins = [cuts[rank], cuts[mirrored]]
    pending = PendingUpdate(bucket, slots, len(slots) == len(bucket.slots), parts, begins)
    bucket.pending_update = pending
    yield channel.barrier()
    yield pending.run()
    yield channel.all_gather_v(None, target, lengths)
