"""Segments of memory that processes share; see kernels/include/mxcy_shared.h."""

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
    """Memory that can be handed to other processes by its file descriptor.

    It has no name and belongs to those who use it: it is gone with the last of them, even when they
    are killed.

    Parameters
    ----------
    size : int
        The number of bytes.

    Raises
    ------
    MXNetError
        When the system has no room for it.
    """

    _release = _library.mx_segment_release  # still there when modules are being cleared
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
        """A segment of another process.

        Parameters
        ----------
        fd : int
            Its file descriptor, which the segment takes over.
        size : int
            The number of bytes.
        keep : bool
            Keep the descriptor, without which a segment cannot be handed on.
        lent : bool
            The other process has called `lend`.
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
        """Count one more user, before the descriptor is on its way there."""
        _library.mx_segment_lend(self._fields)

    @property
    def address(self) -> int:
        """int: Where the memory begins."""
        return self._fields.data

    @property
    def size(self) -> int:
        """int: The number of bytes; where segments are recycled, perhaps more than asked for."""
        return self._fields.bytes

    @property
    def fd(self) -> int:
        """int: The file descriptor, -1 when it was not kept."""
        return self._fields.fd

    @property
    def users(self) -> int:
        """int: How many processes made the segment, attached it or will do so, and use it still."""
        return _library.mx_segment_users(self._fields)

    def view(self, offset: int, size: int) -> memoryview:
        """Some of the bytes, as a memoryview that keeps the segment alive."""
        if not 0 <= offset <= offset + size <= self.size:
            raise MXNetError(f"bytes {offset} to {offset + size} of a segment of {self.size}")
        octets: Any = (ctypes.c_char * size).from_address(self.address + offset)
        octets.segment = self
        return memoryview(octets).cast("B")

    def __del__(self) -> None:
        if not self._fields.data:
            return  # it could not be made
        self._count(-1)
        if _Spare.most and self._fields.fd >= 0:
            _Spare.fields.append(self._fields)
            if len(_Spare.fields) <= _Spare.most:
                return
            self._fields = _Spare.fields.pop(0)
        self._release(self._fields)


class _Spare:
    """Segments that nobody needs any more, for those that this process sends next.

    Taking memory from the system costs several times what it costs to fill it.
    """

    fields: ClassVar[list[Any]] = []
    most = 0


def recycle(most: int) -> None:
    """Keep up to `most` segments of this process for reuse when their other users are gone."""
    _Spare.most = most


def stats() -> dict[str, int]:
    """Counters of this process's segments, as of a memory pool; attached ones are live as well."""
    pooled = sum(_rounded(fields.bytes) for fields in list(_Spare.fields))
    return {**Segment._counts, "pooled_bytes": pooled}


def round_size(size: int) -> int:
    """The bytes that a segment for `size` bytes takes, with its header."""
    return _rounded(size) if size else 0


def _rounded(size: int, header: int = 64, page: int = mmap.PAGESIZE) -> int:
    return -(-(size + header) // page) * page


def _take_spare(size: int) -> Any:
    """The fields of a kept segment that nobody uses, of at least `size` bytes but not much more."""
    for place, fields in enumerate(_Spare.fields):
        if size <= fields.bytes <= 2 * size and _library.mx_segment_users(fields) == 1:
            return _Spare.fields.pop(place)
    return None


def _check(status: int) -> None:
    if status != 0:
        raise MXNetError(_library.mx_last_error().decode())
