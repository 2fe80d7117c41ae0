"""Memory shared by the ranks of one machine, for all-reduce without copies through MPI."""

from mxcy.dist.worlds.memory_files import MemoryFiles

__all__ = ["AREA_BYTES", "VALUES_BYTES", "Segments"]

AREA_BYTES = 8 << 20  # of a channel, in the segment of each rank: for what it passes to others
VALUES_BYTES = 4 << 30  # of a channel, likewise: for values that stay there
_STRIDE = AREA_BYTES + VALUES_BYTES
_MOST_CHANNELS = 1 << 11


class Segments:
    """A segment of memory per rank, in which each channel has an area and memory for values.

    Segments are `MemoryFiles`, which other ranks open by their owners' process numbers.

    Raises
    ------
    OSError
        When the system does not offer such files.
    """

    def __init__(self):
        self._files = MemoryFiles("mxcy all-reduce", _STRIDE * _MOST_CHANNELS)
        self._ranks = range(0)

    @property
    def path(self):
        """str: where other processes find this rank's segment."""
        return self._files.path

    def attach(self, paths):
        """Open the segments of all ranks.

        Parameters
        ----------
        paths : list of str
            The `path` of each rank.

        Raises
        ------
        OSError
            When another rank's processes may not be looked into.
        """
        for rank, path in enumerate(paths):
            self._files.attach(rank, path)
        self._ranks = range(len(paths))

    def areas(self, channel):
        """Map the area of a channel in all segments.

        Parameters
        ----------
        channel : int
            Its number.

        Returns
        -------
        list of numpy.ndarray of uint8
            By rank.
        """
        return self._map(channel * _STRIDE, AREA_BYTES)

    def values(self, channel, length):
        """Map a channel's memory for values in all segments.

        Parameters
        ----------
        channel : int
        length : int
            Bytes, `VALUES_BYTES` at most.

        Returns
        -------
        list of numpy.ndarray of uint8
            By rank.
        """
        return self._map(channel * _STRIDE + AREA_BYTES, length)

    def _map(self, start, length):
        return [self._files.map(rank, start, length) for rank in self._ranks]

    def close(self):
        """Close the files; areas stay mapped while they are in use."""
        self._files.close()
