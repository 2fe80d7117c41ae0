"""Sums and updates of buckets in memory shared by all ranks, as generators of requests.

A bucket's array is cut into one part per rank, and each part into pieces that fit into the cache of
a core several times. For each piece in turn, every rank copies the other ranks' pieces of what it
contributes to its input memory, waits for theirs, sums its own piece and updates values by it, and
copies new values of others to the program's arrays. So pushed values, sums and weights are in the
cache when they are needed next. Counters in shared memory tell the ranks of each other's progress;
see `Pieces`.

Values stay in memory of a rank's whole part, which all ranks can read: weights for the next update,
sums until something else needs them.
"""

import itertools

from mxcy._library.pieces import FAILED, HEADER, RANKS, SUMMED, Pieces
from mxcy.base import MXNetError
from mxcy.dist.keys.ownership import divide

__all__ = ["SharedArray", "SharedValues", "fits"]

_PIECE_BYTES = 1 << 16  # a few are in the cache at a time


def fits(channel, count):
    """Whether so many bytes can be summed in memory shared by the ranks of a channel."""
    return HEADER + count <= channel.most_values and channel.size <= RANKS


class SharedArray:
    """The array of a bucket.

    Parameters
    ----------
    bucket : Bucket
        That `fits`.
    """

    def __init__(self, bucket):
        channel = bucket.channel
        self._bucket, self._rank, self._shares = bucket, channel.rank, []
        if bucket.updating is None:
            ranks = channel.size
            self._cuts = [bucket.length * i // ranks for i in range(ranks + 1)]
        else:
            all_shares, self._cuts = divide(bucket, bucket.slots)
            self._shares = all_shares[self._rank]
        longest = max(last - first for first, last in itertools.pairwise(self._cuts))
        memory = channel.values(HEADER + longest * bucket.dtype.itemsize)
        self._values = [one[HEADER:].view(bucket.dtype) for one in memory]
        self._pieces = Pieces(
            self._rank, channel.areas, memory, self._cuts, bucket.dtype, _PIECE_BYTES
        )

    def sum(self, arrays):
        """Have sums as values.

        Parameters
        ----------
        arrays : KeyArrays

        Yields
        ------
        request
        """
        self._pieces.begin(arrays.starts, arrays.sources, arrays.targets)
        yield from self._finish()

    def update(self, arrays, sums, current):
        """Update values by sums.

        Parameters
        ----------
        arrays : KeyArrays
        sums : numpy.ndarray
            Memory for the sums of this rank's part.
        current : bool
            Whether the values in shared memory are the current ones.

        Yields
        ------
        request
        """
        updating, pieces = self._bucket.updating, self._pieces
        first, last = self._cuts[self._rank : self._rank + 2]
        own, sums = self._value(first, last, self._rank), sums[: last - first]
        pieces.begin(arrays.starts, arrays.sources, arrays.targets, sums)
        if not current:  # until all have begun, others may read values of the last session
            yield from self._advance()
        pieces.use(updating.begin(self._shares, own, self._bucket.slots, current))
        yield from self._finish(lambda: updating.update([(self._shares, sums, own)], (), True))

    def _finish(self, update=None):
        result = yield from self._advance()
        if result == SUMMED:
            done = update()
            if not done.done():
                yield done
            self._pieces.updated()
            result = yield from self._advance()
        if result == FAILED:
            raise MXNetError("the kernel of an optimizer has failed")

    def _advance(self):
        """Do what can be done without this rank's program; return what `Pieces.advance` does."""
        request = _Advance(self._pieces)
        request.done()  # now, as the progress thread looks at other things first
        yield request
        return request.result

    def copy_to(self, target):
        """Copy the values of all ranks."""
        for rank, (first, last) in enumerate(itertools.pairwise(self._cuts)):
            target[first:last] = self._value(first, last, rank)

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


class SharedValues:
    """Values of a bucket that stay in the ranks' memory until they are needed elsewhere.

    They are there until all ranks have begun the next session.

    Parameters
    ----------
    array : SharedArray
    lease : callable
        Returns a buffer for all values, and its lease.
    """

    def __init__(self, array, lease):
        self._array, self._new = array, lease
        self._copy = self._lease = None

    def __getitem__(self, span):
        return self.copy()[span]

    def copy(self):
        """Copy the values unless that was done; they do not change afterwards.

        Returns
        -------
        numpy.ndarray
            Valid as long as this object.
        """
        if self._copy is None:
            if self._array is None:
                raise RuntimeError("values in shared memory have been overwritten")
            self._copy, self._lease = self._new()
            self._array.copy_to(self._copy)
        return self._copy

    def drop(self):
        """Give up values that have not been copied: the next ones are about to replace them."""
        self._array = None
