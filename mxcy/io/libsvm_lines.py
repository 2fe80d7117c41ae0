"""Lines of LibSVM's format, ``label column:value column:value ...``, as compressed rows.

Files are read piece by piece, and a piece is parsed as a whole: NumPy tells where tokens and colons
are and reads all numbers at once. Only what turns out to be wrong is looked at line by line, to say
where it is.
"""

import os
import re
import warnings

import numpy as np

from mxcy._base.files import local_path
from mxcy.base import MXNetError

__all__ = ["Rows", "read_lines"]

_PIECE = 8 << 20  # bytes
# Digits are never given back (++), so that a line is read in time linear in its length.
_NUMBER = rb"[+-]?(?:(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?|inf|nan)"
_LINE = re.compile(rb"[ \t\r\f\v]*%b(?:[ \t\r\f\v]+%b:%b)*[ \t\r\f\v]*" % ((_NUMBER,) * 3))
_COMMENT = re.compile(rb"#[^\n]*")
_SPACES = bytes.maketrans(b":", b" ")


class Rows:
    """Rows of a csr array and their labels.

    Attributes
    ----------
    labels : numpy.ndarray
        The first numbers of the lines.
    values, columns, starts : numpy.ndarray
        Row i has the entries from ``starts[i]`` to ``starts[i + 1]``, sorted by column.
    width : int
        The number of columns.
    """

    def __init__(self, labels, values, columns, starts, width):
        self.labels, self.values, self.columns = labels, values, columns
        self.starts, self.width = starts, width

    def __len__(self):
        return len(self.labels)

    @property
    def shape(self):
        """The shape of all rows together."""
        return (len(self), self.width)

    @property
    def dtype(self):
        """The element type of values and labels."""
        return self.values.dtype

    def part(self, begin, end):
        """The rows from `begin` to before `end`."""
        entries = slice(self.starts[begin], self.starts[end])
        return Rows(
            self.labels[begin:end],
            self.values[entries],
            self.columns[entries],
            self.starts[begin : end + 1] - self.starts[begin],
            self.width,
        )

    def take(self, rows):
        """Data, indices and indptr of the csr array of some rows."""
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
        How many columns there are.
    dtype : numpy.dtype
        The element type of values and labels.
    part, parts : int
        The part of the bytes of all files whose lines to read: those that begin in there.

    Returns
    -------
    rows : Rows
    before : int
        How many lines the parts before have.

    Raises
    ------
    MXNetError
        When a file cannot be read, a line is in another format, or a column is out of bounds.
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
    """Number of the first line, place in the file, and bytes of pieces that end with a line."""
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
    """The lines that begin before byte `first`, and those that begin before `last`."""
    ends = [_line_from(text, place) for place in (first, last)]
    return text[: ends[0]], text[ends[0] : ends[1]]


def _line_from(text, place):
    """Where the first line that begins at `place` or later does so."""
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
    """Some lines of a file, the first of which has the number `number`."""

    def __init__(self, name, number, text):
        self._name, self._number = name, number
        self._text = _COMMENT.sub(b"", text) if b"#" in text else text

    def rows(self, width, dtype):
        """Labels, values, columns and numbers of entries of the lines that are not blank."""
        letters = np.frombuffer(self._text, np.uint8)
        space = np.isin(letters, np.frombuffer(b" \t\n\r\f\v", np.uint8))
        starts = np.flatnonzero(~space & np.concatenate([[True], space[:-1]]))
        colons = np.flatnonzero(letters == ord(":"))
        line_of = np.searchsorted(np.flatnonzero(letters == ord("\n")), starts)
        is_label = np.concatenate([[True], np.diff(line_of) > 0])[: len(starts)]
        # Each token has one colon, but the first of a line has none.
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
            warnings.simplefilter("ignore", DeprecationWarning)  # of text that is no number
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
        """Say which line is in another format."""
        lines = enumerate(self._text.split(b"\n"), self._number)
        wrong = (each for each in lines if each[1].strip() and not _LINE.fullmatch(each[1]))
        number, line = next(wrong, (self._number, self._text))
        raise MXNetError(
            f"LibSVMIter: line {number} of {self._name} is no label and column:value pairs: "
            f"{line[:80].decode(errors='replace')!r}"
        ) from None
