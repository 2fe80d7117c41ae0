"""All-reduce algorithms, as generators of requests on a channel."""

import itertools

import numpy as np

from mxcy.dist.keys.partition import parts

__all__ = ["CompressedAllReduce", "AllReduce"]


_PIECE = 1 << 18  # elements per pipelined piece of a two-level all-reduce
_LEAST_BYTES = 1 << 16  # of a two-level all-reduce: smaller ones are bound by latency


class AllReduce:
    """In shared memory, in two levels (inside machines and between them), or by MPI alone."""

    #: whether any values are summed exactly, as the counts of a bucket require
    exact = True

    def memory(self, length, dtype):
        """A buffer of that many elements."""
        return np.zeros(length, dtype)

    def settings(self):
        """Arguments of `Levels` for a rank to do the same; None: uncompressed."""
        return None

    def bytes_of(self, source):
        """The bytes that a rank sends of an array."""
        return source.nbytes

    def all_reduce(self, channel, source, target, buffers=None, on_parts=None):
        """Sum arrays over all ranks.

        Parameters
        ----------
        channel : channel of a `World`
        source, target : numpy.ndarray
            Flat, of one length.
        buffers : SharedBuffers, optional
            Memory that all ranks share.
        on_parts : callable, optional
            See `BucketPush`.

        Yields
        ------
        request

        Returns
        -------
        float
            The time sent into the generator after its last request.
        """
        if buffers is not None:
            return (yield from buffers.all_reduce(source, target, on_parts))
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
    """All-reduce of quantized arrays: packed parts go to their owners, which send sums to all.

    Parameters
    ----------
    levels : Levels
    """

    exact = False

    def __init__(self, levels):
        self._levels = levels

    def settings(self):
        return [self._levels.kind, float(self._levels.threshold)]

    def bytes_of(self, source):
        return self._levels.bytes_of(source.size)

    def all_reduce(self, channel, source, target, buffers=None, on_parts=None):
        levels = self._levels
        shares = parts(source.size, 0, channel.size, 0, levels.per_word)
        packed = [levels.pack(source[begin : begin + length]) for _, begin, length in shares]
        sent = [words_of_rank.size for words_of_rank in packed]
        share = shares[channel.rank][2]
        taken = [levels.bytes_of(share)] * channel.size
        words = np.empty(sum(taken), np.uint8)
        yield channel.all_to_all_v(np.concatenate(packed), sent, words, taken)
        ends = list(itertools.accumulate(taken))
        total = levels.unpack(words[: ends[0]], share)
        for begin, end in itertools.pairwise(ends):
            total += levels.unpack(words[begin:end], share)
        return (yield channel.all_gather_v(total, target, [length for _, _, length in shares]))
