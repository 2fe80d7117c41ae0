"""Memory shared by the ranks of one machine, for all-reduce without copies through MPI."""

import mmap
import os

import numpy as np

__all__ = ["AREA_BYTES", "Segments"]

AREA_BYTES = 16 << 20  # of a channel, in the segment of each rank: two buffers
_VALUES_BYTES = 4 << 30  # of a channel, likewise: for values that stay there
_STRIDE = AREA_BYTES + _VALUES_BYTES
_MOST_CHANNELS = 1 << 11


class Segments:
    """A segment of memory per rank, in which each channel has an area and memory for values.

    A segment is an unnamed sparse file: only what is used takes memory, and nothing is left
    when the ranks have ended, however that was. Other ranks open it by its owner's process number.

    Raises
    ------
    OSError
        When the system does not offer such files.
    """

    def __init__(self):
        if not hasattr(os, "memfd_create"):
            raise OSError("no unnamed files")
        own = os.memfd_create("mxcy all-reduce")
        os.ftruncate(own, _STRIDE * _MOST_CHANNELS)
        self._own, self._files = own, []

    @property
    def path(self):
        """str: where other processes find this rank's segment."""
        return f"/proc/{os.getpid()}/fd/{self._own}"

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
        for path in paths:
            self._files.append(os.open(path, os.O_RDWR | os.O_CLOEXEC))

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
            Bytes.

        Returns
        -------
        list of numpy.ndarray of uint8, or None
            By rank; None if there is less memory.
        """
        if length > _VALUES_BYTES:
            return None
        return self._map(channel * _STRIDE + AREA_BYTES, length)

    def _map(self, start, length):
        return [
            np.frombuffer(mmap.mmap(file, length, offset=start), np.uint8) for file in self._files
        ]

    def close(self):
        """Close the files; areas stay mapped while they are in use."""
        for file in (self._own, *self._files):
            os.close(file)
        self._files = []
