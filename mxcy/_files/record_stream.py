"""RecordIO framing: consecutive byte strings that can be resynchronized at any offset.

A record is a magic number, a word with its length (29 bits) and part code (3 bits), the bytes, and
zero padding to a multiple of four. A payload with the magic number at a multiple of four is split
there: the number is dropped, and the parts are separate records.
"""

import mmap
import os
import struct

from mxcy.base import MXNetError

__all__ = [
    "LIMIT",
    "MappedFile",
    "PlaceInFile",
    "file_offset",
    "framed",
    "next_record",
    "read_record",
    "records_between",
]

_MAGIC = struct.pack("<I", 0xCED7230A)
_HEAD = struct.Struct("<4sI")
_WHOLE, _FIRST, _MIDDLE, _LAST = range(4)
_BLOCK = 1 << 16
LIMIT = 1 << 29  # exclusive limit of a record's length


def framed(payload):
    """Split a record into the pieces of bytes to write to a file.

    Parameters
    ----------
    payload : bytes-like
        The content of the record.

    Returns
    -------
    list of bytes

    Raises
    ------
    MXNetError
        If the payload has 2**29 or more bytes.
    """
    size = len(payload)
    if size >= LIMIT:
        raise MXNetError(f"RecordIO: a record must have less than {LIMIT} bytes, got {size}")
    payload = bytes(payload)
    pieces, start, place = [], 0, payload.find(_MAGIC)
    while place >= 0:
        if place % 4:
            place = payload.find(_MAGIC, place + 1)
            continue
        part = _MIDDLE if start else _FIRST
        pieces += _HEAD.pack(_MAGIC, part << 29 | place - start), payload[start:place]
        start = place + 4
        place = payload.find(_MAGIC, start)
    part = _LAST if start else _WHOLE
    pieces += _HEAD.pack(_MAGIC, part << 29 | size - start), payload[start:], bytes(-size % 4)
    return pieces


def read_record(file, name):
    """Read the record at a file's current position.

    Parameters
    ----------
    file : binary file object
    name : str
        Name of the file in messages.

    Returns
    -------
    bytes-like or None
        None at the end of the file.

    Raises
    ------
    MXNetError
        If there is no record at this position, or it is truncated.
    """
    pieces = []
    while True:
        head = file.read(8)
        if not head and not pieces:
            return None
        if len(head) < 8:
            raise _truncated(file, name)
        magic, word = _HEAD.unpack(head)
        part, size = word >> 29, word & LIMIT - 1
        if magic != _MAGIC or part not in ((_MIDDLE, _LAST) if pieces else (_WHOLE, _FIRST)):
            raise MXNetError(
                f"RecordIO: {name} has no record at offset {file.tell() - 8}: it is not a RecordIO "
                "file, or is damaged"
            )
        data = file.read(size)
        if len(data) < size or len(file.read(-size % 4)) < -size % 4:
            raise _truncated(file, name)
        if part == _WHOLE:
            return data
        pieces.append(data)
        if part == _LAST:
            return _MAGIC.join(pieces)


def _truncated(file, name):
    return MXNetError(f"RecordIO: {name} is truncated: it ends within a record, at {file.tell()}")


def file_offset(text):
    """Parse an offset in an index.

    Raises
    ------
    ValueError
        If it is not a valid offset.
    """
    offset = int(text)
    if not 0 <= offset < 2**63:
        raise ValueError(f"{offset} is not an offset")
    return offset


def next_record(file, offset):
    """Find the start of the first record at or after `offset`.

    Parameters
    ----------
    file : binary file object
    offset : int

    Returns
    -------
    int
        The offset, or the size of the file if there is none.
    """
    start = offset + -offset % 4
    file.seek(start)
    block = bytes(file.read(_BLOCK))
    while len(block) >= 8:
        place = block.find(_MAGIC)
        while 0 <= place <= len(block) - 8:
            part = _HEAD.unpack_from(block, place)[1] >> 29
            if place % 4 == 0 and part in (_WHOLE, _FIRST):
                return start + place
            place = block.find(_MAGIC, place + 1)
        done = (len(block) - 4) // 4 * 4  # the last word may be a magic number
        start += done
        block = block[done:] + file.read(_BLOCK)
        if len(block) < 8:
            break
    return file.seek(0, os.SEEK_END)


def records_between(file, name, begin, end):
    """Read the records that start in a range of a file.

    Parameters
    ----------
    file : binary file object
    name : str
    begin, end : int
        Range of offsets, not necessarily aligned to records.

    Yields
    ------
    bytes-like
    """
    file.seek(next_record(file, begin))
    while file.tell() < end:
        record = read_record(file, name)
        if record is None:
            return
        yield record


class MappedFile:
    """A memory-mapped file, whose reads return views.

    Parameters
    ----------
    path : str

    Raises
    ------
    OSError
        If it cannot be opened.
    """

    def __init__(self, path):
        self._place = 0
        with open(path, "rb") as file:
            empty = os.fstat(file.fileno()).st_size == 0
            self._view = memoryview(
                b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            )

    def read(self, size):
        """Read the next bytes; fewer at the end of the file."""
        part = self._view[self._place : self._place + size]
        self._place += len(part)
        return part

    def seek(self, offset, whence=os.SEEK_SET):
        """Seek an offset from the beginning or the end."""
        self._place = offset + (len(self._view) if whence == os.SEEK_END else 0)
        return self._place

    def tell(self):
        """The current offset."""
        return self._place


class PlaceInFile:
    """A private position in an open file, so that threads can read records concurrently.

    Parameters
    ----------
    file : binary file object
    offset : int
    """

    def __init__(self, file, offset):
        self._descriptor, self._place = file.fileno(), offset

    def read(self, size):
        """Read the next bytes; fewer at the end of the file."""
        part = os.pread(self._descriptor, size, self._place) if size else b""
        self._place += len(part)
        return part

    def tell(self):
        """The current offset."""
        return self._place
