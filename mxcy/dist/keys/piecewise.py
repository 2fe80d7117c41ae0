"""Sharded updates of large buckets in pieces, in memory that all ranks share.

Each rank's part of the bucket is cut into pieces between rows. For each piece in turn, every rank
copies the other ranks' pieces of its source to its input buffer, waits for all ranks, sums its own
piece and updates it. So pushed values, sums and weights are in the cache when they are needed next.

Weights stay in memory for the values of a rank's whole part, which all ranks can read. Input
buffers have three slots, as ranks start to wait for the next piece before they sum this one: while
one slot is written, others may still read the two that were written before it.
"""

import itertools

from mxcy._library.stream import stream
from mxcy._library.sums import sum_arrays
from mxcy.dist.keys.ownership import divide

__all__ = ["PiecewiseUpdate"]

_PIECE_BYTES = 1 << 20  # small enough for the cache, and large enough to hide the cost of a call
_SLOTS = 3
_ALIGNMENT = 64  # bytes


class PiecewiseUpdate:
    """Memory and pieces of a bucket.

    Parameters
    ----------
    bucket : Bucket
        With an ownership, and a channel with areas.
    inputs : list of numpy.ndarray
        The ranks' input buffers.

    Attributes
    ----------
    possible : bool
        Whether rows fit into slots, and values into the memory of their rank.
    """

    def __init__(self, bucket, inputs):
        channel = self._channel = bucket.channel
        self._bucket, self._rank, self._ranks = bucket, channel.rank, channel.size
        self._others = [rank for rank in range(channel.size) if rank != channel.rank]
        itemsize = bucket.dtype.itemsize
        slot = inputs[0].nbytes // (_SLOTS * (self._ranks - 1)) // _ALIGNMENT * _ALIGNMENT
        self._slot = slot // itemsize
        self._inputs = inputs
        all_shares, self._cuts = divide(bucket, bucket.slots)
        pieces = [_cut(owned, min(slot, _PIECE_BYTES) // itemsize) for owned in all_shares]
        longest = max(last - first for first, last in itertools.pairwise(self._cuts))
        values = None if None in pieces else channel.values(longest * itemsize)
        self.possible = values is not None
        if self.possible:
            self._values = [memory.view(bucket.dtype) for memory in values]
            self._own_shares = all_shares[self._rank]
            self._steps = list(itertools.zip_longest(*pieces, fillvalue=()))
            self._spans = self._places()

    def _places(self):
        """The first and last element, in the bucket, of each rank's piece, by step."""
        begins, spans = self._cuts[:-1], []
        for step in self._steps:
            ends = [
                begin + sum(share.length for share in piece)
                for begin, piece in zip(begins, step, strict=True)
            ]
            spans.append(list(zip(begins, ends, strict=True)))
            begins = ends
        return spans

    def run(self, source, sums, current, on_parts):
        """Update all keys.

        Parameters
        ----------
        source : numpy.ndarray
            Pushed values of the whole bucket.
        sums : numpy.ndarray
            Memory for the sums of a piece.
        current : bool
            Whether the values that all ranks share are the current ones.
        on_parts : callable or None
            See `BucketPush`.

        Yields
        ------
        request
        """
        updating, count = self._bucket.updating, len(self._steps)
        self._scatter(0, source)
        request = self._channel.barrier()
        for step in range(count):
            yield request
            if step == 0:  # until here, other ranks may have read values of the last session
                own = self._value(*self._cuts[self._rank : self._rank + 2], self._rank)
                updating.begin(self._own_shares, own, self._bucket.slots, current)
            if step > 1:
                self._hand_over(step - 2, on_parts, self._others)
            if step + 1 < count:
                self._scatter(step + 1, source)
                request = self._channel.barrier()
            total, values = self._sum(step, source, sums)
            done = updating.update([(self._steps[step][self._rank], total, values)], (), True)
            if not done.done():
                yield done
            self._hand_over(step, on_parts, [self._rank])  # while it is in the cache
        yield self._channel.barrier()
        for step in range(max(0, count - 2), count):
            self._hand_over(step, on_parts, self._others)

    def gather(self, target, cuts):
        """Copy the current values of all ranks."""
        for rank, (first, last) in enumerate(itertools.pairwise(cuts)):
            target[first:last] = self._value(first, last, rank)

    @property
    def cuts(self):
        """list of int: the first element of each rank's part, and the length."""
        return self._cuts

    def _value(self, first, last, rank):
        """Values of some elements in the part of a rank."""
        begin = self._cuts[rank]
        return self._values[rank][first - begin : last - begin]

    def _slot_of(self, step, writer, reader):
        """Input slot in which one rank has the piece of another."""
        number = step % _SLOTS * (self._ranks - 1) + (reader - writer - 1) % self._ranks
        first, last = self._spans[step][reader]
        return self._inputs[writer][number * self._slot :][: last - first]

    def _scatter(self, step, source):
        for rank, (first, last) in enumerate(self._spans[step]):
            if rank != self._rank:
                stream(self._slot_of(step, self._rank, rank), source[first:last])

    def _sum(self, step, source, sums):
        """Sum this rank's piece, in the order of ranks; return the sums and the piece's values."""
        first, last = self._spans[step][self._rank]
        terms = [
            source[first:last] if rank == self._rank else self._slot_of(step, rank, self._rank)
            for rank in range(self._ranks)
        ]
        total = sums[: last - first]
        sum_arrays(terms, total)
        return total, self._value(first, last, self._rank)

    def _hand_over(self, step, on_parts, ranks):
        """Give the program the pieces of some ranks, if it takes any."""
        if on_parts is None:
            return
        spans = {rank: self._spans[step][rank] for rank in ranks}
        values = [self._value(*span, rank) for rank, span in spans.items()]
        last = step + 1 == len(self._steps) and ranks is self._others
        on_parts([first for first, _ in spans.values()], values, last)


def _cut(shares, most):
    """Cut shares into pieces of at most so many elements, between rows.

    Returns
    -------
    list of list of Share
        None if a row is too long.
    """
    pieces, room = [[]], most
    for share in shares:
        if share.row > most:
            return None
        begin = share.begin
        while begin < share.end:
            if room < share.row:
                pieces.append([])
                room = most
            end = min(share.end, begin + room // share.row)
            pieces[-1].append(share.piece(begin, end))
            room -= pieces[-1][-1].length
            begin = end
    return pieces
