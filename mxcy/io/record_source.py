"""Source of the records of a RecordIO file, or of a part of it, in an epoch's order."""

import os
import random

from mxcy._base.files import local_path, text_lines
from mxcy._files.record_stream import (
    MappedFile,
    file_offset,
    next_record,
    read_record,
    records_between,
)
from mxcy.base import MXNetError

__all__ = ["RecordSource"]

_MEGABYTE = 1 << 20
_CHUNK = 8 * _MEGABYTE  # records are shuffled within chunks if there is no index


class RecordSource:
    """Records of one of several equal parts of a file.

    With an index, parts have equal numbers of records, which are shuffled together. Without, parts
    have equal numbers of bytes; records are shuffled within chunks, and optionally the chunks too.

    Parameters
    ----------
    user : str
        Name of the iterator, for messages.
    path : str
        The file.
    path_idx : str
        Its index; '' for none.
    part : tuple of int
        (index of the part, number of parts)
    shuffle : bool
    seed : int
    chunk_size : int
        Size of a chunk in MB if chunks are to be shuffled, else 0.
    chunk_seed : int
    """

    def __init__(self, user, path, path_idx, part, shuffle, seed, chunk_size=0, chunk_seed=0):
        self._path, self._user = local_path(path), user
        self._shuffle, self._seed = shuffle, seed
        self._chunk_seed, self._chunks_shuffled = chunk_seed, chunk_size > 0
        index, count = part
        if not 0 <= index < count:
            raise MXNetError(
                f"{user}: part_index must be from 0 to num_parts - 1 = {count - 1}, got {index}"
            )
        try:
            size = os.path.getsize(self._path)
            offsets = _offsets(path_idx) if path_idx else None
        except OSError as error:
            raise MXNetError(f"{user}: cannot read {error.filename}: {error.strerror}") from None
        if offsets is not None:
            step = -(-len(offsets) // count)
            self._offsets, self._chunks = offsets[step * index : step * (index + 1)], None
            return
        step = -(-size // count)
        step += -step % 4
        begin, end = min(step * index, size), min(step * (index + 1), size)
        chunk = chunk_size * _MEGABYTE or _CHUNK
        self._offsets = None
        self._chunks = [(at, min(at + chunk, end)) for at in range(begin, end, chunk)]
        if size and next_record(MappedFile(self._path), 0) == size:
            raise MXNetError(
                f"{user}: {path} has no records: it is not a RecordIO file, or is damaged"
            )

    def epoch(self, number):
        """Iterate over the records of an epoch.

        Parameters
        ----------
        number : int
            Number of the epoch, which determines the order if shuffled.

        Yields
        ------
        bytes-like
        """
        order = random.Random(f"{self._seed} {number}")
        file = MappedFile(self._path)
        if self._chunks is None:
            yield from self._indexed(file, order)
            return
        chunks = list(self._chunks)
        if self._chunks_shuffled:
            random.Random(f"{self._chunk_seed} {number}").shuffle(chunks)
        for begin, end in chunks:
            records = records_between(file, self._path, begin, end)
            if self._shuffle:
                records = list(records)
                order.shuffle(records)
            yield from records

    def _indexed(self, file, order):
        offsets = list(self._offsets)
        if self._shuffle:
            order.shuffle(offsets)
        for offset in offsets:
            file.seek(offset)
            record = read_record(file, self._path)
            if record is None:
                raise MXNetError(f"{self._user}: {self._path} ends before the offset {offset}")
            yield record


def _offsets(path):
    """Read the offsets of an index, in order."""
    offsets = []
    for number, line in enumerate(text_lines(path), 1):
        try:
            offsets.append(file_offset(line.split("\t")[1]))
        except (IndexError, ValueError):
            raise MXNetError(
                f"line {number} of the index {path} is not key and offset: {line!r}"
            ) from None
    return offsets
