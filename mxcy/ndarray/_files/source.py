"""Bounded reading of binary files: nothing is allocated beyond the remaining size of the file."""

import io
import math
import struct

import numpy as np

from mxcy.base import MXNetError

__all__ = ["MAX_NDIM", "Source"]

#: the maximum number of dimensions of the kernels
MAX_NDIM = 32
# zipfile allocates a bytes object for each whole request.
_CHUNK = 2**20


class Source:
    """A binary file of known size, read from its current position.

    Parameters
    ----------
    file : binary file object
        A file with ``readinto``.
    size : int
        Number of bytes up to its end.
    name : str
        Name of the file in error messages.
    """

    def __init__(self, file, size, name):
        self.file, self.size, self.name = file, size, name
        self.offset = 0

    @classmethod
    def of_buffer(cls, buffer, name="<buffer>"):
        """Make a source over bytes in memory."""
        return cls(io.BytesIO(buffer), memoryview(buffer).nbytes, name)

    @property
    def left(self):
        """int: number of bytes not yet read."""
        return self.size - self.offset

    def refuse(self, what, offset=None):
        """Make an error with the file, the offset and the problem."""
        return MXNetError(
            f"{self.name}: at byte {self.offset if offset is None else offset}: {what}"
        )

    def fill(self, memory, what):
        """Fill `memory` with the next bytes."""
        memory = memoryview(memory)
        if len(memory) > self.left:
            raise self.refuse(
                f"{what} needs {len(memory)} bytes, the file has only {self.left} left"
            )
        done = 0
        while done < len(memory):
            count = self.file.readinto(memory[done : done + _CHUNK])
            if not count:
                raise self.refuse(f"{what} ends after {done} of {len(memory)} bytes")
            done += count
        self.offset += done

    def take(self, count, what):
        """Read the next `count` bytes."""
        if count > self.left:
            raise self.refuse(f"{what} needs {count} bytes, the file has only {self.left} left")
        memory = bytearray(count)
        self.fill(memory, what)
        return memory

    def numbers(self, form, what):
        """Read the next little-endian numbers in the `struct` format `form`."""
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form), what))

    def array(self, dtype, shape, what):
        """Read the next C-ordered array.

        Raises
        ------
        MXNetError
            If `shape` is impossible, or the rest of the file is too short.
        """
        if len(shape) > MAX_NDIM or any(dim < 0 for dim in shape):
            raise self.refuse(
                f"{what} of shape {shape}, arrays have 0 to {MAX_NDIM} dimensions >= 0"
            )
        count = math.prod(shape)
        if count * dtype.itemsize > self.left:
            raise self.refuse(
                f"{what} of shape {shape} and type {dtype} needs {count * dtype.itemsize} bytes, "
                f"the file has only {self.left} left"
            )
        # If one dimension is zero, the others are bounded only by NumPy.
        if math.prod(dim for dim in shape if dim) * dtype.itemsize >= 2**63:
            raise self.refuse(f"{what} of shape {shape} is too large")
        flat = np.empty(count, dtype)
        self.fill(flat.view(np.uint8), what)
        if dtype == np.bool_:
            flat = flat.view(np.uint8) != 0  # bytes other than 0 and 1 are invalid booleans
        return flat.reshape(shape)
