"""Unnamed files whose memory the processes of one machine share."""

import mmap
import os

import numpy as np

__all__ = ["MemoryFiles"]


class MemoryFiles:
    """A file of this process, and those of other processes that it opens.

    Files are sparse: only what is used takes memory, and nothing is left when the processes have
    ended, however that was.

    Parameters
    ----------
    name : str
        What the system shows it as.
    length : int
        Bytes.

    Raises
    ------
    OSError
        When the system does not offer such files.
    """

    def __init__(self, name, length):
        if not hasattr(os, "memfd_create"):
            raise OSError("no unnamed files")
        own = os.memfd_create(name)
        os.ftruncate(own, length)
        self._files = {None: own}

    @property
    def path(self):
        """str: where other processes find this process's file."""
        return f"/proc/{os.getpid()}/fd/{self._files[None]}"

    def attach(self, place, path):
        """Open the file of the process at a place; OSError if this process may not."""
        self._files[place] = os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def map(self, place, start, length):
        """Memory of the process at a place, as numpy.ndarray of uint8; None: of this process."""
        return np.frombuffer(mmap.mmap(self._files[place], length, offset=start), np.uint8)

    def close(self):
        """Close the files; memory stays mapped while it is in use."""
        for file in self._files.values():
            os.close(file)
        self._files = {}
