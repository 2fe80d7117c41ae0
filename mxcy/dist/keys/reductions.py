"""All-reduce algorithms, as generators of requests on a channel."""

import numpy as np

from mxcy.dist.keys.partition import parts

__all__ = ["CompressedAllReduce", "AllReduce"]


_PIECE = 1 << 18  # elements per pipelined piece of a two-level all-reduce
_LEAST_BYTES = 1 << 16  # of a two-level all-reduce: smaller ones are bound by latency


class AllReduce:
    """In two levels, inside machines and between them, or by MPI alone."""

    #: whether any values are summed exactly, as the counts of a bucket require
    exact = True

    def memory(self, length, dtype):
        """A buffer of that many elements."""
        return np.zeros(length, dtype)

    def send_memory(self, length, dtype):
        """A buffer for what is sent of that many elements, if not one for sums; or None."""
        return None

    def padded(self, size):
        """The elements that a key of `size` elements takes in buffers."""
        return size

    def place(self, start, size):
        """Where a key is in what is sent, if it is at `start` in sums."""
        return slice(start, start + size)

    def settings(self):
        """Arguments of `Levels` for a rank to do the same; None: uncompressed."""
        return None

    def all_reduce(self, channel, source, target):
        """Sum arrays over all ranks.

        Parameters
        ----------
        channel : channel of a `World`
        source, target : numpy.ndarray
            Flat, of one length, unless the source is in `send_memory`.

        Yields
        ------
        request

        Returns
        -------
        float
            The time sent into the generator after its last request.
        """
        if channel.inside is None or source.nbytes < _LEAST_BYTES:
            return (yield channel.all_reduce(source, target))
        return (yield from _in_levels(channel, source, target))


def _in_levels(channel, source, target):
    """Reduce-scatter inside machines, all-reduce between them, all-gather inside; pipelined."""
    inside, between = channel.inside, channel.between
    pieces = []
    for begin in range(0, source.size, _PIECE):
        piece = target[begin : begin + _PIECE]
        lengths = [length for _, _, length in parts(piece.size, 0, inside.size, 0)]
        first = sum(lengths[: inside.rank])
        share = np.empty(lengths[inside.rank], source.dtype)
        request = inside.reduce_scatter(source[begin : begin + _PIECE], share, lengths)
        pieces.append((piece, lengths, slice(first, first + share.size), share, request))
    sums = []
    for *_, share, request in pieces:
        yield request
        sums.append(between.all_reduce(share, share))
    spread = []
    for (piece, lengths, place, share, _), request in zip(pieces, sums, strict=True):
        yield request
        piece[place] = share
        spread.append(inside.all_gather_v(None, piece, lengths))
    for request in spread:
        now = yield request
    return now


class CompressedAllReduce(AllReduce):
    """All-reduce of packed levels: parts go to their owners, which send sums to all.

    A sum over ranks is an integer times the threshold, and travels as one byte per element; only
    jobs of more than 127 ranks need two.

    Parameters
    ----------
    levels : Levels
    """

    exact = False

    def __init__(self, levels):
        self._levels = levels

    def settings(self):
        return [self._levels.kind, float(self._levels.threshold)]

    def padded(self, size):
        return self._levels.padded(size)

    def place(self, start, size):
        first = self._levels.bytes_of(start)
        return slice(first, first + self._levels.bytes_of(size))

    def send_memory(self, length, dtype):
        return np.zeros(self._levels.bytes_of(length), np.uint8)

    def all_reduce(self, channel, source, target):
        levels = self._levels
        lengths = [
            length for _, _, length in parts(target.size, 0, channel.size, 0, levels.per_word)
        ]
        share = lengths[channel.rank]
        sent = [levels.bytes_of(length) for length in lengths]
        taken = [levels.bytes_of(share)] * channel.size
        words = np.empty(sum(taken), np.uint8)
        yield channel.all_to_all_v(source, sent, words, taken)
        total = levels.sum(np.split(words, channel.size), share)
        sums = levels.sums(target.size, channel.size)
        now = yield channel.all_gather_v(total, sums, lengths)
        levels.scale(sums, target)
        return now
