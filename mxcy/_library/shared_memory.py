"""Shared memory segments; see kernels/include/mxcy_shared.h."""

import ctypes
import mmap
from typing import Any, ClassVar

from mxcy._base.errors import MXNetError
from mxcy._library.open import open_library

__all__ = ["Segment", "recycle", "round_size", "stats"]


class _Fields(ctypes.Structure):
    """mx_segment."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("bytes", ctypes.c_size_t),
        ("fd", ctypes.c_int32),
        ("process", ctypes.c_int32),
    ]


def _open() -> ctypes.CDLL:
    library = open_library()
    library.mx_last_error.restype = ctypes.c_char_p
    segment = ctypes.POINTER(_Fields)
    library.mx_segment_create.argtypes = [ctypes.c_size_t, segment]
    number = ctypes.c_int32
    library.mx_segment_attach.argtypes = [number, ctypes.c_size_t, number, number, segment]
    library.mx_segment_lend.argtypes = [segment]
    library.mx_segment_users.argtypes = [segment]
    library.mx_segment_release.argtypes = [segment]
    return library


_library = _open()


class Segment:
    """A memory segment that is shared with other processes by its file descriptor.

    It has no name and is released when its last user is gone, even if killed.

    Parameters
    ----------
    size : int
        The number of bytes.

    Raises
    ------
    MXNetError
        If the system cannot allocate it.
    """

    _release = _library.mx_segment_release  # survives interpreter shutdown
    _counts = dict.fromkeys(("live_bytes", "pooled_bytes", "peak_bytes", "hits", "misses"), 0)

    def __init__(self, size: int) -> None:
        self._fields = _take_spare(size)
        self._counts["misses" if self._fields is None else "hits"] += 1
        if self._fields is None:
            self._fields = _Fields()
            _check(_library.mx_segment_create(size, self._fields))
        self._count(1)

    @classmethod
    def attached(cls, fd: int, size: int, keep: bool = True, lent: bool = False) -> "Segment":
        """Attach to a segment of another process.

        Parameters
        ----------
        fd : int
            Its file descriptor, now owned by the segment.
        size : int
            The number of bytes.
        keep : bool
            Whether to keep the descriptor, as needed for passing the segment on.
        lent : bool
            Whether the other process has called `lend`.
        """
        segment = cls.__new__(cls)
        segment._fields = _Fields()
        _check(_library.mx_segment_attach(fd, size, keep, lent, segment._fields))
        segment._count(1)
        return segment

    def _count(self, sign: int) -> None:
        counts = self._counts
        counts["live_bytes"] += sign * _rounded(self.size)
        counts["peak_bytes"] = max(counts["peak_bytes"], counts["live_bytes"])

    def lend(self) -> None:
        """Count an additional user, before the descriptor is sent to it."""
        _library.mx_segment_lend(self._fields)

    @property
    def address(self) -> int:
        """int: The start address of the memory."""
        return self._fields.data

    @property
    def size(self) -> int:
        """int: The number of bytes; a recycled segment may be larger than requested."""
        return self._fields.bytes

    @property
    def fd(self) -> int:
        """int: The file descriptor, or -1 if it was not kept."""
        return self._fields.fd

    @property
    def users(self) -> int:
        """int: The number of processes that use the segment or are about to attach it."""
        return _library.mx_segment_users(self._fields)

    def view(self, offset: int, size: int) -> memoryview:
        """Return a memoryview of some bytes, which keeps the segment alive."""
        if not 0 <= offset <= offset + size <= self.size:
            raise MXNetError(f"bytes {offset} to {offset + size} exceed a segment of {self.size}")
        octets: Any = (ctypes.c_char * size).from_address(self.address + offset)
        octets.segment = self
        return memoryview(octets).cast("B")

    def __del__(self) -> None:
        if not self._fields.data:
            return  # creation failed
        self._count(-1)
        if _Spare.most and self._fields.fd >= 0:
            _Spare.fields.append(self._fields)
            if len(_Spare.fields) <= _Spare.most:
                return
            self._fields = _Spare.fields.pop(0)
        self._release(self._fields)


class _Spare:
    """Unused segments, recycled for the next ones that this process sends.

    Allocating memory from the system costs several times as much as filling it.
    """

    fields: ClassVar[list[Any]] = []
    most = 0


def recycle(most: int) -> None:
    """Keep up to `most` segments of this process for reuse once their other users are gone."""
    _Spare.most = most


def stats() -> dict[str, int]:
    """Segment statistics of this process, as for a memory pool; attached ones count as live."""
    pooled = sum(_rounded(fields.bytes) for fields in list(_Spare.fields))
    return {**Segment._counts, "pooled_bytes": pooled}


def round_size(size: int) -> int:
    """The size in bytes of a segment for `size` bytes, header included."""
    return _rounded(size) if size else 0


def _rounded(size: int, header: int = 64, page: int = mmap.PAGESIZE) -> int:
    return -(-(size + header) // page) * page


def _take_spare(size: int) -> Any:
    """Take a recycled segment with at least `size` bytes, but not many more, or None."""
    for place, fields in enumerate(_Spare.fields):
        if size <= fields.bytes <= 2 * size and _library.mx_segment_users(fields) == 1:
            return _Spare.fields.pop(place)
    return None


def _check(status: int) -> None:
    if status != 0:
        raise MXNetError(_library.mx_last_error().decode())
