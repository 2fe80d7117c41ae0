"""`mx.recordio`: files of records, and records that hold an image with its label."""

import numbers
import os
import struct
from collections import namedtuple

import numpy as np

from mxcy._base.files import local_path, text_lines
from mxcy._base.listing import listing
from mxcy._files.record_stream import PlaceInFile, file_offset, framed, read_record
from mxcy._library.opencv import decode, opencv
from mxcy.base import MXNetError

__all__ = [
    "IRHeader",
    "MXIndexedRecordIO",
    "MXRecordIO",
    "pack",
    "pack_img",
    "unpack",
    "unpack_img",
]

__dir__ = listing(__name__)


class MXRecordIO:
    """Reads or writes a file of records, one after the other.

    A reader that a process has got by a fork starts over there; a writer refuses to write. Pickled
    readers are opened again, at the first record.

    Parameters
    ----------
    uri : str
        The file.
    flag : {'r', 'w'}
        To read, or to write anew.

    Raises
    ------
    ValueError
        When `flag` is something else.
    MXNetError
        When the file cannot be opened.
    """

    def __init__(self, uri, flag):
        self.uri = uri
        self.flag = flag
        self.pid = None
        self.is_open = False
        self.open()

    def open(self):
        """Open the file, at its beginning."""
        if self.flag not in ("r", "w"):
            raise ValueError(f"Invalid flag {self.flag}: expected 'r' or 'w'")
        self.writable = self.flag == "w"
        self._file = _opened(self.uri, self.flag + "b")
        self.pid = os.getpid()
        self.is_open = True

    def __del__(self):
        if getattr(self, "is_open", False):
            self.close()

    def close(self):
        """Close the file; `reset` opens it again."""
        if self.is_open:
            self._file.close()
            self.is_open = False
            self.pid = None

    def reset(self):
        """Start over: a reader at the first record, a writer with an empty file."""
        self.close()
        self.open()

    def __getstate__(self):
        if self.is_open and self.writable:
            raise RuntimeError(f"{self.uri} is open for writing: it cannot go to another process")
        return {name: value for name, value in self.__dict__.items() if name != "_file"}

    def __setstate__(self, d):
        self.__dict__ = d
        if d["is_open"]:
            self.is_open = False
            self.open()

    def _check(self, writing):
        if not self.is_open:
            raise MXNetError(f"RecordIO: {self.uri} is closed")
        assert self.writable == writing, (
            f"{self.uri} is open for {'writing' if self.writable else 'reading'} only"
        )
        if self.pid != os.getpid():
            if writing:
                raise RuntimeError("Forbidden operation in multiple processes")
            self.reset()

    def write(self, buf):
        """Append a record.

        Parameters
        ----------
        buf : bytes
        """
        self._check(writing=True)
        if isinstance(buf, str):
            raise TypeError(f"a record of {self.uri} must be bytes: encode the string")
        self._file.writelines(framed(buf))

    def read(self):
        """Read the next record.

        Returns
        -------
        bytes or None
            None after the last.

        Raises
        ------
        MXNetError
            When the file is damaged, or ends within a record.
        """
        self._check(writing=False)
        return read_record(self._file, self.uri)


def _opened(path, mode):
    try:
        return open(local_path(path), mode)
    except OSError as error:
        raise MXNetError(f"RecordIO: cannot open {path}: {error.strerror}") from None


class MXIndexedRecordIO(MXRecordIO):
    """A file of records with an index: a line with key and offset for each of them.

    Parameters
    ----------
    idx_path : str
        The file of the index.
    uri : str
        The file of the records.
    flag : {'r', 'w'}
        To read, or to write both anew.
    key_type : type
        What keys are.

    Attributes
    ----------
    idx : dict of key to int
        The offsets.
    keys : list
        The keys in the order of the index.
    """

    def __init__(self, idx_path, uri, flag, key_type=int):
        self.idx_path = idx_path
        self.idx = {}
        self.keys = []
        self.key_type = key_type
        self.fidx = None
        super().__init__(uri, flag)

    def open(self):
        """Open both files, and read the index."""
        super().open()
        self.idx = {}
        self.keys = []
        self.fidx = _opened(self.idx_path, self.flag)
        if self.writable:
            return
        for number, line in enumerate(text_lines(self.idx_path), 1):
            key, tab, offset = line.strip().partition("\t")
            try:
                key, offset = self.key_type(key), file_offset(offset)
            except ValueError:
                raise MXNetError(
                    f"RecordIO: line {number} of {self.idx_path} is no key and offset: {line!r}"
                ) from None
            self.idx[key] = offset
            self.keys.append(key)

    def close(self):
        """Close both files."""
        if self.is_open:
            super().close()
            self.fidx.close()

    def __getstate__(self):
        return {**super().__getstate__(), "fidx": None}

    def seek(self, idx):
        """Go to the record with a key.

        Parameters
        ----------
        idx : key
        """
        self._check(writing=False)
        self._file.seek(self.idx[idx])

    def tell(self):
        """The offset at which the next record will be written.

        Returns
        -------
        int
        """
        self._check(writing=True)
        return self._file.tell()

    def read_idx(self, idx):
        """Read the record with a key; several threads may do so at once.

        Parameters
        ----------
        idx : key

        Returns
        -------
        bytes

        Raises
        ------
        KeyError
            When there is no such key.
        """
        self._check(writing=False)
        if idx not in self.idx:
            raise KeyError(f"{self.idx_path} has no key {idx!r}")
        place = PlaceInFile(self._file, self.idx[idx])
        record = read_record(place, self.uri)
        if record is None:
            raise MXNetError(f"RecordIO: {self.uri} ends before the offset of {idx!r}")
        self._file.seek(place.tell())
        return record

    def write_idx(self, idx, buf):
        """Append a record with a key.

        Parameters
        ----------
        idx : key
        buf : bytes
        """
        key = self.key_type(idx)
        offset = self.tell()
        self.write(buf)
        self.fidx.write(f"{key}\t{offset}\n")
        self.idx[key] = offset
        self.keys.append(key)


# --- records of images ---------------------------------------------------------------------------

#: What is in front of an image: `flag` is the number of labels, or 0 where `label` is the only one;
#: `id` and `id2` are numbers that users give.
IRHeader = namedtuple("HEADER", ["flag", "label", "id", "id2"])

_HEADER = struct.Struct("IfQQ")
_FORMATS = {".jpg": "jpeg", ".jpeg": "jpeg", ".png": "png"}


def pack(header, s):
    """Put a header in front of bytes.

    Parameters
    ----------
    header : IRHeader
        Its label is a number, or an array of them.
    s : bytes

    Returns
    -------
    bytes
    """
    if len(header) != len(IRHeader._fields):
        raise ValueError(f"pack: header: expected IRHeader(flag, label, id, id2), got {header!r}")
    header = IRHeader(*header)
    if isinstance(header.label, numbers.Number):
        return _HEADER.pack(0, *header[1:]) + s
    label = np.asarray(header.label, dtype=np.float32)
    return _HEADER.pack(label.size, 0, header.id, header.id2) + label.tobytes() + s


def unpack(s):
    """Take a header off bytes.

    Parameters
    ----------
    s : bytes
        What `pack` made.

    Returns
    -------
    header : IRHeader
        Its label is a float, or an array of float32.
    s : bytes

    Raises
    ------
    MXNetError
        When there are fewer bytes than the header tells.
    """
    if len(s) < _HEADER.size:
        raise MXNetError(f"unpack: a header has {_HEADER.size} bytes, but there are {len(s)}")
    header = IRHeader(*_HEADER.unpack_from(s))
    start = _HEADER.size + 4 * header.flag
    if len(s) < start:
        raise MXNetError(f"unpack: the header promises {header.flag} labels, which are missing")
    if header.flag > 0:
        header = header._replace(label=np.frombuffer(s, np.float32, header.flag, _HEADER.size))
    return header, s[start:]


def pack_img(header, img, quality=95, img_fmt=".jpg"):
    """Compress an image and put a header in front of it.

    Parameters
    ----------
    header : IRHeader
    img : numpy.ndarray
        In OpenCV's order, blue first.
    quality : int
        Of JPEG, from 1 to 100; the level of compression of PNG, from 0 to 9.
    img_fmt : {'.jpg', '.jpeg', '.png'}

    Returns
    -------
    bytes

    Raises
    ------
    MXNetError
        When OpenCV is missing.
    """
    cv2 = opencv("pack_img")
    kind = _FORMATS.get(img_fmt.lower())
    options = {
        "jpeg": [cv2.IMWRITE_JPEG_QUALITY, quality],
        "png": [cv2.IMWRITE_PNG_COMPRESSION, quality],
    }
    done, encoded = cv2.imencode(img_fmt, img, options.get(kind))
    assert done, f"pack_img: the image cannot be written as {img_fmt}"
    return pack(header, encoded.tobytes())


def unpack_img(s, iscolor=-1):
    """Take a header off an image, and decode that.

    Parameters
    ----------
    s : bytes
        What `pack_img` made.
    iscolor : {-1, 0, 1}
        Channels: those of the file, one, or three.

    Returns
    -------
    header : IRHeader
    img : numpy.ndarray
        In OpenCV's order, blue first; None when the bytes are no image.

    Raises
    ------
    MXNetError
        When OpenCV is missing.
    """
    header, s = unpack(s)
    return header, decode("unpack_img", s, iscolor)
