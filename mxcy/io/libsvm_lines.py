"""Parser of LibSVM's format, ``label column:value column:value ...``, to compressed rows.

Files are read and parsed in pieces: NumPy locates tokens and colons and converts all numbers at
once. Only a malformed piece is examined line by line, to report the position of the error.
"""

import os
import re
import warnings

import numpy as np

from mxcy._base.files import local_path
from mxcy.base import MXNetError

__all__ = ["Rows", "read_lines"]

_PIECE = 8 << 20  # bytes
# Possessive quantifiers (++) avoid backtracking: time is linear in the length of a line.
_NUMBER = rb"[+-]?(?:(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?|inf|nan)"
_LINE = re.compile(rb"[ \t\r\f\v]*%b(?:[ \t\r\f\v]+%b:%b)*[ \t\r\f\v]*" % ((_NUMBER,) * 3))
_COMMENT = re.compile(rb"#[^\n]*")
_SPACES = bytes.maketrans(b":", b" ")


class Rows:
    """Rows of a csr array and their labels.

    Attributes
    ----------
    labels : numpy.ndarray
        First number of each line.
    values, columns, starts : numpy.ndarray
        Row i consists of entries ``starts[i]`` to ``starts[i + 1]``, sorted by column.
    width : int
        Number of columns.
    """

    def __init__(self, labels, values, columns, starts, width):
        self.labels, self.values, self.columns = labels, values, columns
        self.starts, self.width = starts, width

    def __len__(self):
        return len(self.labels)

    @property
    def shape(self):
        """The shape of the matrix."""
        return (len(self), self.width)

    @property
    def dtype(self):
        """The dtype of values and labels."""
        return self.values.dtype

    def part(self, begin, end):
        """The rows from `begin` to `end` (exclusive)."""
        entries = slice(self.starts[begin], self.starts[end])
        return Rows(
            self.labels[begin:end],
            self.values[entries],
            self.columns[entries],
            self.starts[begin : end + 1] - self.starts[begin],
            self.width,
        )

    def take(self, rows):
        """Data, indices and indptr of the csr array of the given rows."""
        begins, ends = self.starts[rows], self.starts[rows + 1]
        indptr = np.concatenate([[0], np.cumsum(ends - begins)])
        places = np.repeat(begins - indptr[:-1], ends - begins) + np.arange(indptr[-1])
        return self.values[places], self.columns[places], indptr


def read_lines(paths, width, dtype, part=0, parts=1):
    """Read the lines of some files.

    Parameters
    ----------
    paths : str
        Names of files, separated by ``;``.
    width : int
        Number of columns.
    dtype : numpy.dtype
        The dtype of values and labels.
    part, parts : int
        Part of the bytes of all files: lines that start in it are read.

    Returns
    -------
    rows : Rows
    before : int
        Number of lines in the preceding parts.

    Raises
    ------
    MXNetError
        If a file cannot be read, a line is malformed, or a column is out of bounds.
    """
    names = paths.split(";")
    sizes = [_size(name) for name in names]
    total, begin, pieces, before = sum(sizes), 0, [], 0
    first, last = total * part // parts, total * (part + 1) // parts
    for name, size in zip(names, sizes, strict=True):
        for number, place, text in _pieces(name):
            earlier, own = _cut(text, first - begin - place, last - begin - place)
            before += _count(earlier)
            if own:
                piece = _Piece(name, number + earlier.count(b"\n"), own)
                pieces.append(piece.rows(width, dtype))
            if place + begin + len(text) >= last:
                break
        begin += size
    return _joined(pieces, width, dtype), before


def _size(name):
    try:
        return os.path.getsize(local_path(name))
    except OSError as error:
        raise MXNetError(f"LibSVMIter: cannot read {name}: {error.strerror}") from None


def _pieces(name):
    """Yield the first line's number, offset and bytes of pieces that consist of whole lines."""
    number, place, unfinished = 1, 0, b""
    try:
        with open(local_path(name), "rb") as file:
            while piece := file.read(_PIECE):
                piece = unfinished + piece
                end = piece.rfind(b"\n") + 1
                text, unfinished = piece[:end], piece[end:]
                if text:
                    yield number, place, text
                    number += text.count(b"\n")
                    place += len(text)
    except OSError as error:
        raise MXNetError(f"LibSVMIter: cannot read {name}: {error.strerror}") from None
    if unfinished:
        yield number, place, unfinished + b"\n"


def _cut(text, first, last):
    """Split at the lines that start at or after bytes `first` and `last`."""
    ends = [_line_from(text, place) for place in (first, last)]
    return text[: ends[0]], text[ends[0] : ends[1]]


def _line_from(text, place):
    """Offset of the first line that starts at `place` or later."""
    if place <= 0:
        return 0
    return len(text) if place > len(text) else text.find(b"\n", place - 1) + 1


def _count(text):
    return sum(1 for line in _COMMENT.sub(b"", text).split(b"\n") if line.strip())


def _joined(pieces, width, dtype):
    if not pieces:
        return Rows(
            np.empty(0, dtype),
            np.empty(0, dtype),
            np.empty(0, np.int64),
            np.zeros(1, np.int64),
            width,
        )
    labels, values, columns, lengths = map(np.concatenate, zip(*pieces, strict=True))
    return Rows(labels, values, columns, np.concatenate([[0], np.cumsum(lengths)]), width)


class _Piece:
    """Lines of a file, numbered from `number`."""

    def __init__(self, name, number, text):
        self._name, self._number = name, number
        self._text = _COMMENT.sub(b"", text) if b"#" in text else text

    def rows(self, width, dtype):
        """Labels, values, columns and entry counts of the non-blank lines."""
        letters = np.frombuffer(self._text, np.uint8)
        space = np.isin(letters, np.frombuffer(b" \t\n\r\f\v", np.uint8))
        starts = np.flatnonzero(~space & np.concatenate([[True], space[:-1]]))
        colons = np.flatnonzero(letters == ord(":"))
        line_of = np.searchsorted(np.flatnonzero(letters == ord("\n")), starts)
        is_label = np.concatenate([[True], np.diff(line_of) > 0])[: len(starts)]
        # Each token has one colon, except the first of a line.
        pairs = np.flatnonzero(~is_label)
        if not np.array_equal(np.searchsorted(starts, colons, side="right") - 1, pairs):
            self._refuse()
        numbers = self._numbers(len(starts) + len(colons))
        at = np.arange(len(starts)) + np.cumsum(~is_label) - ~is_label
        lengths = np.diff(np.concatenate([np.flatnonzero(is_label), [len(starts)]])) - 1
        places, values = numbers[at[pairs]], numbers[at[pairs] + 1]
        columns = self._columns(places, width, line_of[pairs])
        columns, values = self._sorted(columns, values, line_of[pairs])
        return numbers[at[is_label]].astype(dtype), values.astype(dtype), columns, lengths

    def _numbers(self, expected):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # for text that is not a number
            try:
                numbers = np.fromstring(self._text.translate(_SPACES), np.float64, sep=" ")
            except ValueError:
                self._refuse()
        if len(numbers) != expected:
            self._refuse()
        return numbers

    def _columns(self, places, width, line_of):
        fits = (places >= 0) & (places < width) & (places == np.floor(places))
        if not fits.all():
            wrong = int(np.argmin(fits))
            raise MXNetError(
                f"LibSVMIter: line {self._number + line_of[wrong]} of {self._name} has column "
                f"{places[wrong]:.17g}, expected an integer from 0 to {width - 1}"
            )
        return places.astype(np.int64)

    def _sorted(self, columns, values, line_of):
        step = np.diff(columns)
        same_line = np.diff(line_of) == 0
        if (step[same_line] > 0).all():
            return columns, values
        order = np.lexsort((columns, line_of))
        columns = columns[order]
        twice = (np.diff(columns) == 0) & same_line
        if twice.any():
            line = line_of[int(np.argmax(twice))] + self._number
            raise MXNetError(f"LibSVMIter: line {line} of {self._name} has a column twice")
        return columns, values[order]

    def _refuse(self):
        """Raise an error that names the malformed line."""
        lines = enumerate(self._text.split(b"\n"), self._number)
        wrong = (each for each in lines if each[1].strip() and not _LINE.fullmatch(each[1]))
        number, line = next(wrong, (self._number, self._text))
        raise MXNetError(
            f"LibSVMIter: line {number} of {self._name} is not a label and column:value pairs: "
            f"{line[:80].decode(errors='replace')!r}"
        ) from None
