"""Channels: nonblocking collectives on an MPI communicator of their own, and their requests."""

from mxcy.dist.worlds.segments import VALUES_BYTES

__all__ = ["Channel", "Request", "Requests"]


class Channel:
    """Nonblocking collectives of a communicator; each returns a request.

    Attributes
    ----------
    number : int or None
        Index among the world's channels.
    inside, between : Channel or None
        In worlds with levels: among the ranks of this machine, and among the ranks with the same
        local rank on each machine.
    """

    inside = between = None

    def __init__(self, mpi, comm, number=None, segments=None):
        self._mpi, self.comm, self.number = mpi, comm, number
        self._segments, self._areas = segments, None

    @property
    def most_values(self):
        """int: bytes of values of each rank that all ranks can share; 0 if they share none."""
        return VALUES_BYTES if self._segments is not None else 0

    @property
    def areas(self):
        """list of numpy.ndarray or None: memory of each rank that all ranks share, if any."""
        if self._areas is None and self._segments is not None:
            self._areas = self._segments.areas(self.number)
        return self._areas

    def values(self, length):
        """list of numpy.ndarray: memory of each rank for so many bytes of values, likewise."""
        return self._segments.values(self.number, length)

    def replace(self, comm, segments=None):
        """Switch to another communicator, without levels; no collective may be in flight."""
        for channel in (self.inside, self.between):
            if channel is not None:
                channel.comm.Free()
        self.comm.Free()
        self.comm, self.inside, self.between = comm, None, None
        self._segments, self._areas = segments, None

    @property
    def rank(self):
        """int: the rank of this process on the channel."""
        return self.comm.rank

    @property
    def size(self):
        """int: the number of ranks on the channel."""
        return self.comm.size

    def barrier(self):
        """Wait for all ranks."""
        return Request(self.comm.Ibarrier())

    def all_reduce(self, source, target):
        """Sum the arrays of all ranks; in place if both are the same array."""
        mpi = self._mpi
        buffer = mpi.IN_PLACE if source is target else source
        return Request(self.comm.Iallreduce(buffer, target, mpi.SUM))

    def all_reduce_min(self, source, target):
        """Elementwise minimum over all ranks."""
        return Request(self.comm.Iallreduce(source, target, self._mpi.MIN))

    def all_gather(self, source, target):
        """Concatenate the arrays of all ranks, of equal lengths."""
        return Request(self.comm.Iallgather(source, target))

    def reduce_scatter(self, source, target, lengths):
        """Sum arrays; each rank gets its part of the sum, at the start of `target`.

        Never in place: MPICH refuses that for parts of different lengths.
        """
        share = target[: lengths[self.rank]]
        return Request(self.comm.Ireduce_scatter(source, share, lengths, self._mpi.SUM))

    def all_gather_v(self, source, target, lengths):
        """Concatenate arrays of different lengths; in place if `source` is None."""
        kind = self._mpi._typedict[target.dtype.char]
        buffer = self._mpi.IN_PLACE if source is None else source
        return Request(self.comm.Iallgatherv(buffer, [target, lengths, kind]))

    def all_to_all_v(self, source, sent, target, taken):
        """Send each rank a part of `source` and receive one from each; lengths by rank."""
        kind = self._mpi._typedict[source.dtype.char]
        return Request(self.comm.Ialltoallv([source, sent, kind], [target, taken, kind]))

    def broadcast(self, array, root):
        """Overwrite the array with that of rank `root`."""
        return Request(self.comm.Ibcast(array, root))


class Request:
    """An MPI operation in flight."""

    def __init__(self, request):
        self._request = request

    def done(self):
        """Whether it has finished; polling is what makes MPI progress."""
        return self._request.Test()


class Requests:
    """Several MPI operations; keeps the memory that they read alive."""

    def __init__(self, requests, kept):
        self._requests, self._kept = requests, kept

    def done(self):
        """Whether all have finished."""
        self._requests = [request for request in self._requests if not request.Test()]
        return not self._requests
