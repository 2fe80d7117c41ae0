"""Reading files of known size: nothing is allocated that the rest of the file cannot fill."""

import io
import math
import struct

import numpy as np

from mxcy.base import MXNetError

__all__ = ["MAX_NDIM", "Source"]

#: as many dimensions as the kernels take
MAX_NDIM = 32
# zipfile makes a bytes object of whatever is asked for at once.
_CHUNK = 2**20


class Source:
    """A binary file, read from its current position on.

    Parameters
    ----------
    file : binary file object
        With ``readinto``.
    size : int
        The number of bytes that it still has.
    name : str
        What error messages call it.
    """

    def __init__(self, file, size, name):
        self.file, self.size, self.name = file, size, name
        self.offset = 0

    @classmethod
    def of_buffer(cls, buffer, name="<buffer>"):
        """A source over bytes in memory."""
        return cls(io.BytesIO(buffer), memoryview(buffer).nbytes, name)

    @property
    def left(self):
        """int: The number of bytes not yet read."""
        return self.size - self.offset

    def refuse(self, what, offset=None):
        """The error that names the file, the offset and what is wrong there."""
        return MXNetError(
            f"{self.name}: at byte {self.offset if offset is None else offset}: {what}"
        )

    def fill(self, memory, what):
        """Read as many bytes as `memory` holds into it."""
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
        """The next `count` bytes."""
        if count > self.left:
            raise self.refuse(f"{what} needs {count} bytes, the file has only {self.left} left")
        memory = bytearray(count)
        self.fill(memory, what)
        return memory

    def numbers(self, form, what):
        """The next numbers, little-endian, as the `struct` format `form` describes them."""
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form), what))

    def array(self, dtype, shape, what):
        """The next array, C-ordered.

        Raises
        ------
        MXNetError
            When `shape` is none that an array can have, or the rest of the file is too short.
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
        # With a zero among them, the other dimensions are bounded only by what NumPy can hold.
        if math.prod(dim for dim in shape if dim) * dtype.itemsize >= 2**63:
            raise self.refuse(f"{what} of shape {shape} is too large")
        flat = np.empty(count, dtype)
        self.fill(flat.view(np.uint8), what)
        if dtype == np.bool_:
            flat = flat.view(np.uint8) != 0  # other bytes than 0 and 1 are no valid booleans
        return flat.reshape(shape)
