"""All-reduce in memory shared by all ranks, as generators of requests; see `Segments`.

An array is cut into one part per rank. Each rank has its values in its input buffer, at least the
parts of the other ranks. After a barrier it sums its part over all input buffers, in the order of
ranks, into its output buffer; after another barrier all sums can be read from the ranks' output
buffers. No more barriers are needed: input buffers are read before the second barrier only, output
buffers only until all ranks have passed the first barrier of the next all-reduce. Where ranks first
agree on the keys that all have pushed, that collective is the first barrier.
"""

import itertools

from mxcy._library.stream import stream
from mxcy._library.sums import sum_arrays

__all__ = ["SharedBuffers", "SharedValues", "buffer_bytes"]

_CHUNK_BYTES = 8 << 20  # of arrays that are copied to the input buffer
_ALIGNMENT = 64  # bytes


def buffer_bytes(area):
    """The bytes of each buffer, given those of an area."""
    return area // 2 // _ALIGNMENT * _ALIGNMENT


class SharedBuffers:
    """Input and output buffers of all ranks for one bucket.

    Parameters
    ----------
    channel : channel of a `World`
        With areas.
    dtype : numpy.dtype
    length : int
        Of the bucket.

    Attributes
    ----------
    capacity : int
        Elements of a buffer.
    inputs : list of numpy.ndarray
        The ranks' input buffers.
    own : numpy.ndarray or None
        This rank's input buffer for the whole bucket, if it fits.
    filled : bool
        Whether all ranks are known to have what they will send in `own`.
    """

    def __init__(self, channel, dtype, length):
        self._channel, self._rank, self._ranks = channel, channel.rank, channel.size
        self.filled = False
        size = buffer_bytes(channel.areas[0].nbytes)
        self.inputs = [area[:size].view(dtype) for area in channel.areas]
        self._outputs = [area[size : 2 * size].view(dtype) for area in channel.areas]
        self.capacity = size // dtype.itemsize
        self.own = self.inputs[self._rank][:length] if length <= self.capacity else None

    def all_reduce(self, source, target):
        """Sum an array over all ranks.

        Parameters
        ----------
        source, target : numpy.ndarray
            Flat, of one length. They may be the same array, but only the source may be `own`.

        Yields
        ------
        request

        Returns
        -------
        float
            The time sent into the generator after its last request.
        """
        step = source.size
        if source is not self.own:
            step = min(_CHUNK_BYTES // source.itemsize, self.capacity)
        for begin in range(0, source.size, step):
            piece, sums = source[begin : begin + step], target[begin : begin + step]
            cuts = self._equal_cuts(piece.size)
            yield from self.scatter(piece, cuts, source is self.own)
            copy = sums[cuts[self._rank] : cuts[self._rank + 1]]
            self.sum_part(piece, cuts, copy, self.parts(cuts)[self._rank])
            now = yield from self.barrier(cuts)
            self.gather(sums, cuts, skip=self._rank)
        return now

    def sum_whole(self, source, out, on_parts):
        """Sum an array of the bucket's length, if that fits; sums stay in the output buffers.

        Parameters
        ----------
        source : numpy.ndarray
            May be `own`.
        out : numpy.ndarray or None
            Takes the sums of this rank's part, then not handed over; may be the source.
        on_parts : callable
            See `BucketPush`.

        Yields
        ------
        request

        Returns
        -------
        list of int
            The first element of each rank's part, and the length.
        """
        cuts = self._equal_cuts(source.size)
        yield from self.scatter(source, cuts, source is self.own)
        copy = None if out is None else out[cuts[self._rank] : cuts[self._rank + 1]]
        self.sum_part(source, cuts, copy, self.parts(cuts)[self._rank])
        yield from self.barrier(cuts, on_parts, early=out is None)
        return cuts

    def _equal_cuts(self, length):
        return [length * i // self._ranks for i in range(self._ranks + 1)]

    def scatter(self, source, cuts, is_own):
        """Have the parts of the other ranks in the input buffer, and wait until all ranks have.

        Parameters
        ----------
        source : numpy.ndarray
            Flat, not longer than a buffer.
        cuts : list of int
            The first element of the part of each rank, and the length.
        is_own : bool
            Whether the source is in the input buffer.

        Yields
        ------
        request
        """
        if not is_own:
            for rank, (first, last) in enumerate(itertools.pairwise(cuts)):
                if rank != self._rank:
                    stream(self.inputs[self._rank][first:last], source[first:last])
        filled, self.filled = self.filled, False
        if not (is_own and filled):
            yield self._channel.barrier()

    def sum_part(self, source, cuts, out, shared=None):
        """Sum this rank's part of what all ranks have scattered, in the order of ranks.

        Parameters
        ----------
        source, cuts
            See `scatter`.
        out : numpy.ndarray or None
            Takes the sum; may be the part of `source`.
        shared : numpy.ndarray, optional
            Takes the sum, too, for the other ranks.
        """
        inputs = [self._part(self.inputs, rank, self._rank, cuts) for rank in range(self._ranks)]
        inputs[self._rank] = source[cuts[self._rank] : cuts[self._rank + 1]]
        sum_arrays(inputs, out, shared)

    def parts(self, cuts):
        """The parts of all ranks in their output buffers; only this rank writes its own.

        Parameters
        ----------
        cuts : list of int
            See `scatter`.

        Returns
        -------
        list of numpy.ndarray
        """
        return [self._part(self._outputs, rank, rank, cuts) for rank in range(self._ranks)]

    def barrier(self, cuts, on_parts=None, early=True):
        """Wait until all ranks have written their parts, and hand them over.

        Parameters
        ----------
        cuts : list of int
            See `scatter`.
        on_parts : callable, optional
            See `BucketPush`.
        early : bool
            Whether to hand over this rank's part, too, while the others write theirs.

        Yields
        ------
        request

        Returns
        -------
        float
            The time sent into the generator after its last request.
        """
        request, parts, rank = self._channel.barrier(), self.parts(cuts), self._rank
        if on_parts is not None and early:
            on_parts([cuts[rank]], [parts[rank]], False)
        now = yield request
        if on_parts is not None:
            on_parts([*cuts[:rank], *cuts[rank + 1 : -1]], parts[:rank] + parts[rank + 1 :], True)
        return now

    def gather(self, target, cuts, skip=None):
        """Copy all parts from the output buffers of their ranks.

        Parameters
        ----------
        target : numpy.ndarray
        cuts : list of int
            See `scatter`.
        skip : int, optional
            A rank whose part is not copied.
        """
        for rank, (first, last) in enumerate(itertools.pairwise(cuts)):
            if rank != skip:
                target[first:last] = self._part(self._outputs, rank, rank, cuts)

    @staticmethod
    def _part(buffers, owner, rank, cuts):
        return buffers[owner][cuts[rank] : cuts[rank + 1]]


class SharedValues:
    """Values of a bucket that stay in the ranks' memory until they are needed elsewhere.

    They are there until this rank passes the first barrier of its next all-reduce.

    Parameters
    ----------
    buffers : SharedBuffers or PiecewiseUpdate
        Has the values.
    cuts : list of int
        See `SharedBuffers.scatter`.
    lease : callable
        Returns a buffer of a number of elements, and its lease.
    """

    def __init__(self, buffers, cuts, lease):
        self._buffers, self._cuts, self._new = buffers, cuts, lease
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
            if self._buffers is None:
                raise RuntimeError("values in shared memory have been overwritten")
            self._copy, self._lease = self._new(self._cuts[-1])
            self._buffers.gather(self._copy, self._cuts)
        return self._copy

    def drop(self):
        """Give up values that have not been copied: the next ones are about to replace them."""
        self._buffers = None
