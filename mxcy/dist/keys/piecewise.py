"""Sharded updates of large buckets in pieces, in memory that all ranks share.

Each rank's part of the bucket is cut into pieces that fit into the cache of a core several times.
For each piece in turn, every rank copies the other ranks' pieces of its source to its input buffer,
waits for theirs, sums its own piece and updates it, and copies new values of others to the
program's arrays. So pushed values, sums and weights are in the cache when they are needed next.
Counters in shared memory tell the ranks of each other's progress; see `Pieces`.

Weights stay in memory for the values of a rank's whole part, which all ranks can read.
"""

import itertools

from mxcy._library.pieces import FAILED, HEADER, RANKS, SUMMED, Pieces
from mxcy.base import MXNetError
from mxcy.dist.keys.ownership import divide

__all__ = ["PiecewiseUpdate"]

_PIECE_BYTES = 1 << 16  # a few are in the cache at a time


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
        Whether values fit into the memory of their rank, and there are not too many ranks.
    """

    def __init__(self, bucket, inputs):
        channel = bucket.channel
        self._bucket, self._rank = bucket, channel.rank
        all_shares, self._cuts = divide(bucket, bucket.slots)
        self._shares = all_shares[self._rank]
        longest = max(last - first for first, last in itertools.pairwise(self._cuts))
        memory = None
        if channel.size <= RANKS:
            memory = channel.values(HEADER + longest * bucket.dtype.itemsize)
        self.possible = memory is not None
        if self.possible:
            self._values = [one[HEADER:].view(bucket.dtype) for one in memory]
            self._pieces = Pieces(
                self._rank, inputs, memory, self._cuts, bucket.dtype, _PIECE_BYTES
            )

    def run(self, source, sums, current, push):
        """Update all keys.

        Parameters
        ----------
        source : numpy.ndarray
            Pushed values of the whole bucket.
        sums : numpy.ndarray
            Memory for the sums of this rank's part.
        current : bool
            Whether the values that all ranks share are the current ones.
        push : BucketPush or None
            Its targets get the new values.

        Yields
        ------
        request
        """
        updating, pieces = self._bucket.updating, self._pieces
        first, last = self._cuts[self._rank : self._rank + 2]
        own, sums = self._value(first, last, self._rank), sums[: last - first]
        on_parts = push and push.on_parts
        pieces.begin(source, sums, push.targets() if on_parts else None)
        if not current:  # until all have begun, others may read values of the last session
            yield from self._advance()
        pieces.use(updating.begin(self._shares, own, self._bucket.slots, current))
        if (yield from self._advance()) == SUMMED:
            done = updating.update([(self._shares, sums, own)], (), True)
            if not done.done():
                yield done
            pieces.updated()
        if (yield from self._advance()) == FAILED:
            raise MXNetError("the kernel of an optimizer has failed")
        if on_parts:
            on_parts([], [], True)

    def _advance(self):
        """Do what can be done without this rank's program; return what `Pieces.advance` does."""
        request = _Advance(self._pieces)
        request.done()  # now, as the progress thread looks at other things first
        yield request
        return request.result

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


class _Advance:
    """A request that is done when a session has come to its next point."""

    def __init__(self, pieces):
        self._pieces, self.result = pieces, 0

    def done(self):
        self.result = self.result or self._pieces.advance()
        return self.result != 0
