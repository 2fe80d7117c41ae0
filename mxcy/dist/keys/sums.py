"""Ways to add up arrays of all processes, as generators of requests on a channel."""

import itertools

import numpy as np

from mxcy.dist.keys.partition import parts

__all__ = ["CompressedSum", "WholeSum"]


_PIECE = 1 << 18  # elements that go through the levels one after the other
_LEAST_BYTES = 1 << 16  # of sums of two levels: smaller ones are a matter of latency


class WholeSum:
    """By one collective call, or three: inside machines, between them, and inside again."""

    #: whether the arrays may be of any values, beside the counts of a bucket
    exact = True

    def memory(self, length, dtype):
        """A buffer of that many elements."""
        return np.zeros(length, dtype)

    def terms(self):
        """What others need to do the same: None, or those of `Levels`."""
        return None

    def bytes_of(self, source):
        """What a process sends of an array."""
        return source.nbytes

    def add_up(self, channel, source, target):
        """Add up arrays.

        Parameters
        ----------
        channel : channel of a `World`
        source, target : numpy.ndarray
            Flat, of one length.

        Yields
        ------
        request

        Returns
        -------
        float
            What has been sent in after the last request: the time.
        """
        if channel.inside is None or source.nbytes < _LEAST_BYTES:
            return (yield channel.all_reduce(source, target))
        return (yield from _in_levels(channel, source, target))


def _in_levels(channel, source, target):
    """Add up inside machines, then each part of that between them, piece after piece."""
    inside, between = channel.inside, channel.between
    pieces = []
    for begin in range(0, source.size, _PIECE):
        whole = target[begin : begin + _PIECE]
        lengths = [length for _, _, length in parts(whole.size, 0, inside.size, 0)]
        first = sum(lengths[: inside.rank])
        mine = np.empty(lengths[inside.rank], source.dtype)
        request = inside.reduce_scatter(source[begin : begin + _PIECE], mine, lengths)
        pieces.append((whole, lengths, slice(first, first + mine.size), mine, request))
    sums = []
    for *_, mine, request in pieces:
        yield request
        sums.append(between.all_reduce(mine, mine))
    spread = []
    for (whole, lengths, place, mine, _), request in zip(pieces, sums, strict=True):
        yield request
        whole[place] = mine
        spread.append(inside.all_gather_v(None, whole, lengths))
    for request in spread:
        now = yield request
    return now


class CompressedSum(WholeSum):
    """Arrays of a few levels: parts go as bits to their owners, who send sums to all.

    Parameters
    ----------
    levels : Levels
    """

    exact = False

    def __init__(self, levels):
        self._levels = levels

    def terms(self):
        return [self._levels.kind, float(self._levels.threshold)]

    def bytes_of(self, source):
        return self._levels.bytes_of(source.size)

    def add_up(self, channel, source, target):
        levels = self._levels
        shares = parts(source.size, 0, channel.size, 0, levels.per_word)
        packed = [levels.pack(source[begin : begin + length]) for _, begin, length in shares]
        sent = [one.size for one in packed]
        mine = shares[channel.rank][2]
        taken = [levels.bytes_of(mine)] * channel.size
        words = np.empty(sum(taken), np.uint8)
        yield channel.all_to_all_v(np.concatenate(packed), sent, words, taken)
        ends = list(itertools.accumulate(taken))
        total = levels.unpack(words[: ends[0]], mine)
        for begin, end in itertools.pairwise(ends):
            total += levels.unpack(words[begin:end], mine)
        return (yield channel.all_gather_v(total, target, [length for _, _, length in shares]))
