"""`mx.recordio`: RecordIO files, and packing of images with labels into records."""

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
    """Sequential reader or writer of a RecordIO file.

    In a forked process, a reader restarts at the first record and a writer raises on writes.
    Unpickled readers start at the first record.

    Parameters
    ----------
    uri : str
        The file.
    flag : {'r', 'w'}
        Read, or write a new file.

    Raises
    ------
    ValueError
        If `flag` is something else.
    MXNetError
        If the file cannot be opened.
    """

    def __init__(self, uri, flag):
        self.uri = uri
        self.flag = flag
        self.pid = None
        self.is_open = False
        self.open()

    def open(self):
        """Open the file at its beginning."""
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
        """Restart: a reader at the first record, a writer with an empty file."""
        self.close()
        self.open()

    def __getstate__(self):
        if self.is_open and self.writable:
            raise RuntimeError(f"{self.uri} is open for writing and cannot be pickled")
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
        if isinstance(buf, (int, float)):
            raise TypeError(f"a record of {self.uri} must be bytes, got {type(buf).__name__}")
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
            If the file is damaged or truncated.
        """
        self._check(writing=False)
        return read_record(self._file, self.uri)


def _opened(path, mode):
    try:
        return open(local_path(path), mode)
    except OSError as error:
        raise MXNetError(f"RecordIO: cannot open {path}: {error.strerror}") from None


class MXIndexedRecordIO(MXRecordIO):
    """RecordIO file with an index file, which has a line with key and offset per record.

    Parameters
    ----------
    idx_path : str
        Index file.
    uri : str
        RecordIO file.
    flag : {'r', 'w'}
        Read, or write new files.
    key_type : type
        Type of the keys.

    Attributes
    ----------
    idx : dict of key to int
        Offsets by key.
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
                    f"RecordIO: line {number} of {self.idx_path} is not key and offset: {line!r}"
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
        """Move to the record with a key.

        Parameters
        ----------
        idx : key
        """
        self._check(writing=False)
        self._file.seek(self.idx[idx])

    def tell(self):
        """Return the offset of the next record to be written.

        Returns
        -------
        int
        """
        self._check(writing=True)
        return self._file.tell()

    def read_idx(self, idx):
        """Read the record with a key; thread-safe.

        Parameters
        ----------
        idx : key

        Returns
        -------
        bytes

        Raises
        ------
        KeyError
            If there is no such key.
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


# --- image records -------------------------------------------------------------------------------

#: Header of an image record: `flag` is the number of labels, or 0 if `label` is a single number;
#: `id` and `id2` are free for use.
IRHeader = namedtuple("HEADER", ["flag", "label", "id", "id2"])

_HEADER = struct.Struct("IfQQ")
_FORMATS = {".jpg": "jpeg", ".jpeg": "jpeg", ".png": "png"}


def pack(header, s):
    """Prepend a header to bytes.

    Parameters
    ----------
    header : IRHeader
        Header whose label is a number or an array.
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
    """Split a record into header and content.

    Parameters
    ----------
    s : bytes
        Record made by `pack`.

    Returns
    -------
    header : IRHeader
        Header whose label is a float or a float32 array.
    s : bytes

    Raises
    ------
    MXNetError
        If the record is shorter than its header requires.
    """
    if len(s) < _HEADER.size:
        raise MXNetError(f"unpack: expected at least {_HEADER.size} bytes of header, got {len(s)}")
    header = IRHeader(*_HEADER.unpack_from(s))
    start = _HEADER.size + 4 * header.flag
    if len(s) < start:
        raise MXNetError(
            f"unpack: the record is too short for the {header.flag} labels of its header"
        )
    if header.flag > 0:
        header = header._replace(label=np.frombuffer(s, np.float32, header.flag, _HEADER.size))
    return header, s[start:]


def pack_img(header, img, quality=95, img_fmt=".jpg"):
    """Encode an image and prepend a header.

    Parameters
    ----------
    header : IRHeader
    img : numpy.ndarray
        BGR image, as in OpenCV.
    quality : int
        JPEG quality, 1 to 100, or PNG compression level, 0 to 9.
    img_fmt : {'.jpg', '.jpeg', '.png'}

    Returns
    -------
    bytes

    Raises
    ------
    MXNetError
        If OpenCV is not installed.
    """
    cv2 = opencv("pack_img")
    kind = _FORMATS.get(img_fmt.lower())
    options = {
        "jpeg": [cv2.IMWRITE_JPEG_QUALITY, quality],
        "png": [cv2.IMWRITE_PNG_COMPRESSION, quality],
    }
    done, encoded = cv2.imencode(img_fmt, img, options.get(kind))
    assert done, f"pack_img: the image cannot be encoded as {img_fmt}"
    return pack(header, encoded.tobytes())


def unpack_img(s, iscolor=-1):
    """Split an image record into header and decoded image.

    Parameters
    ----------
    s : bytes
        Record made by `pack_img`.
    iscolor : {-1, 0, 1}
        -1: channels as in the file; 0: gray; 1: colour.

    Returns
    -------
    header : IRHeader
    img : numpy.ndarray
        In OpenCV's order, blue first; None when the bytes are no image.

    Raises
    ------
    MXNetError
        If OpenCV is not installed.
    """
    header, s = unpack(s)
    return header, decode("unpack_img", s, iscolor)
