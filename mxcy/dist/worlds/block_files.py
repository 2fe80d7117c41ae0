"""The unnamed files of a machine's processes that hold their `SharedBlocks`."""

import mmap
import os

import numpy as np

__all__ = ["BlockFiles"]

_LENGTH = 1 << 40  # a sparse file: only what is used takes memory


class BlockFiles:
    """The file of this process, and those of other processes that it may open.

    Nothing is left when the processes have ended, however that was.

    Raises
    ------
    OSError
        When the system does not offer such files.
    """

    def __init__(self):
        if not hasattr(os, "memfd_create"):
            raise OSError("no unnamed files")
        own = os.memfd_create("mxcy messages")
        os.ftruncate(own, _LENGTH)
        self._files = {None: own}

    @property
    def path(self):
        """str: where other processes find this process's file."""
        return f"/proc/{os.getpid()}/fd/{self._files[None]}"

    def attach(self, place, path):
        """Open the file of the process at a place; return whether this process may."""
        try:
            self._files[place] = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        return True

    def map(self, place, start, length):
        """Memory of the process at a place, as numpy.ndarray of uint8; None: of this process."""
        return np.frombuffer(mmap.mmap(self._files[place], length, offset=start), np.uint8)

    def close(self):
        """Close the files; memory stays mapped while it is in use."""
        for file in self._files.values():
            os.close(file)
        self._files = {}
