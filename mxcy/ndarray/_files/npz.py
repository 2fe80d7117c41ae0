"""NumPy's files: ``.npy``, and ``.npz`` with MXNet 2.0's layout of sparse arrays.

A sparse array ``w`` is stored as ``w/data.npy``, its index arrays, ``w/shape.npy`` and, with the
name of its storage type, ``w/format.npy``. Zip archives are written here rather than by `zipfile`,
to produce the same bytes as MXNet 2.0: no times, checksums after the data.
"""

import ast
import struct
import zlib

import numpy as np

from mxcy._base.dtypes import DTYPES, bfloat16
from mxcy.base import MXNetError
from mxcy.ndarray._files.blocks import AUX_NAMES, Block, bytes_of, check_sparse
from mxcy.ndarray._files.source import Source

__all__ = ["EMPTY_MAGIC", "MAGIC", "NPY_MAGIC", "read_npy", "read_npz", "write_npy", "write_npz"]

MAGIC = b"PK\x03\x04"
EMPTY_MAGIC = b"PK\x05\x06"
NPY_MAGIC = b"\x93NUMPY"

# Element types as in headers, in both byte orders; NumPy writes structured ones as a list.
_BFLOAT16 = [("bfloat16", "<u2")]
_DESCRS = {
    order + dtype.str[1:]: dtype.newbyteorder(order)
    for dtype in DTYPES.values()
    if dtype != bfloat16
    for order in "<>|"
}
_MAX_HEADER = 10_000
_DEFLATE_LIMIT = 1032  # the maximum compression ratio of deflate
# Exceptions other than its own that zipfile raises for damaged archives.
_DAMAGES = (
    zlib.error,
    struct.error,
    EOFError,
    IndexError,
    KeyError,
    NotImplementedError,
    OverflowError,
    ValueError,
)
_SCIPY = ("data", "format", "indices", "indptr", "shape")  # members of `scipy.sparse.save_npz`
_SPARSE = [stype for stype, parts in AUX_NAMES.items() if parts]


# --- .npy -----------------------------------------------------------------------------------------


def _read_header(source):
    """Read the header of a ``.npy`` file as text."""
    magic = bytes(source.take(8, "the magic number of a .npy file"))
    if not magic.startswith(NPY_MAGIC) or magic[6] not in (1, 2, 3):
        raise source.refuse(f"expected a .npy file of version 1 to 3, found {magic.hex(' ')}", 0)
    (length,) = source.numbers("H" if magic[6] == 1 else "I", "the length of the header")
    if length > _MAX_HEADER:
        raise source.refuse(f"a .npy header of {length} bytes, expected at most {_MAX_HEADER}", 8)
    return source.take(length, "the header of a .npy file").decode("latin1")


def read_npy(source):
    """Read the array of a ``.npy`` file.

    Parameters
    ----------
    source : Source

    Returns
    -------
    numpy.ndarray
        C-contiguous, in the byte order of this machine.

    Raises
    ------
    MXNetError
        If the file is damaged or has an unsupported element type, such as object.
    """
    text = _read_header(source)
    try:
        header = ast.literal_eval(text.strip())
        descr, shape, fortran = header["descr"], header["shape"], header["fortran_order"]
    except (SyntaxError, ValueError, KeyError, TypeError, RecursionError, MemoryError) as error:
        raise source.refuse(f"invalid .npy header {text.strip()!r}", 0) from error
    if not (isinstance(shape, tuple) and all(type(dim) is int for dim in shape)):
        raise source.refuse(f"invalid .npy shape {shape!r}", 0)
    dtype = bfloat16 if descr == _BFLOAT16 else _DESCRS.get(descr) if type(descr) is str else None
    if dtype is None:
        raise source.refuse(f"unsupported element type {descr!r}", 0)
    data = source.array(dtype, shape[::-1] if fortran else shape, "an array")
    data = data.T if fortran else data
    return np.ascontiguousarray(data, dtype.newbyteorder("=")).reshape(shape)


def _npy_header(descr, shape):
    """The header, byte for byte as written by NumPy and MXNet 2.0."""
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    pad = -(len(NPY_MAGIC) + 4 + len(text) + 1) % 64
    text += " " * pad + "\n"
    return NPY_MAGIC + struct.pack("<BBH", 1, 0, len(text)) + text.encode("ascii")


def _npy_parts(data):
    descr = _BFLOAT16 if data.dtype == bfloat16 else data.dtype.str
    return _npy_header(descr, data.shape), bytes_of(data)


def write_npy(file, data):
    """Write an array as a ``.npy`` file."""
    file.writelines(_npy_parts(data))


# --- .npz -----------------------------------------------------------------------------------------


def read_npz(source):
    """Read the arrays of a ``.npz`` archive, in its order.

    Parameters
    ----------
    source : Source

    Returns
    -------
    blocks : list of Block
    names : list of str or None
        None if the archive is empty.

    Raises
    ------
    MXNetError
        If the archive is damaged or holds anything but arrays.
    """
    import zipfile  # rarely needed, and slow to import

    try:
        with zipfile.ZipFile(source.file) as archive:
            return _read_members(archive, source)
    except (zipfile.BadZipFile, *_DAMAGES) as error:
        raise MXNetError(f"{source.name}: not a valid .npz file: {error}") from error


def _read_members(archive, source):
    members = [info for info in archive.infolist() if not info.filename.endswith("/")]
    entries = {info.filename.removesuffix(".npy"): info for info in members}
    if sum(info.compress_size for info in entries.values()) > source.size:
        raise MXNetError(f"{source.name}: the members overlap")
    arrays = {}
    for name in entries:
        owner, slash, _ = name.rpartition("/")
        if _is_part(name, owner, slash, entries):
            if owner not in arrays:
                arrays[owner] = _read_sparse(archive, entries, owner, source.name)
        else:
            arrays[name] = Block(read_npy(_open(archive, entries, name, source.name)))
    return list(arrays.values()), list(arrays) or None


def _open(archive, entries, name, file_name):
    where = f"{file_name}[{name}]"
    info = entries.get(name)
    if info is None:
        raise MXNetError(f"{where}: this part of a sparse array is missing")
    if info.flag_bits & 1:
        raise MXNetError(f"{where}: is encrypted")
    if info.file_size > info.compress_size * _DEFLATE_LIMIT:
        raise MXNetError(
            f"{where}: {info.compress_size} bytes cannot decompress to {info.file_size}"
        )
    return Source(archive.open(info), info.file_size, where)


def _is_part(name, owner, slash, entries):
    """Whether a member is part of a sparse array: its folder has a member `format`."""
    if slash:
        return f"{owner}/format" in entries
    return {"format", "indptr"} <= entries.keys() and name in _SCIPY


def _member(owner, part):
    """The member with a part of a sparse array; SciPy uses no folder."""
    return f"{owner}/{part}" if owner else part


def _read_sparse(archive, entries, name, file_name):
    def member(part):
        return _open(archive, entries, _member(name, part), file_name)

    source = member("format")
    # MXNet 2.0 writes an invalid header for this member, so read only its data.
    _read_header(source)
    stype = bytes(source.take(min(source.left, 64), "the storage type")).decode("latin1")
    if stype not in _SPARSE:
        raise source.refuse(f"storage type {stype!r} is not supported, only {', '.join(_SPARSE)}")
    shape = read_npy(member("shape"))
    aux = tuple(read_npy(member(part)) for part in AUX_NAMES[stype])
    if any(array.ndim != 1 or array.dtype.kind not in "iu" for array in (shape, *aux)):
        raise source.refuse("the shape and the indices must be 1-dimensional integer arrays")
    aux = tuple(array.astype("int64", copy=False) for array in aux)  # SciPy's may be int32
    block = Block(read_npy(member("data")), tuple(shape.tolist()), stype, aux)
    check_sparse(block, source.refuse)
    return block


def write_npz(file, blocks, names=None):
    """Write arrays as a ``.npz`` archive without compression.

    Parameters
    ----------
    file : binary file object
    blocks : list of Block
    names : list of str, optional
        By default ``arr_0``, ``arr_1`` and so on.

    Raises
    ------
    MXNetError
        If a block is None.
    """
    if names is None:
        names = [f"arr_{i}" for i in range(len(blocks))]
    archive = _ZipWriter(file)
    for name, block in zip(names, blocks, strict=True):
        if block is None:
            raise MXNetError(f"format 'npz' cannot store {name!r}, which is not an array")
        if block.stype == "default":
            archive.add(f"{name}.npy", *_npy_parts(block.data))
            continue
        archive.add(f"{name}/data.npy", *_npy_parts(block.data))
        for part, array in zip(AUX_NAMES[block.stype], block.aux, strict=True):
            archive.add(f"{name}/{part}.npy", *_npy_parts(array))
        archive.add(f"{name}/shape.npy", *_npy_parts(np.array(block.shape, np.int64)))
        text = block.stype.encode("ascii")
        archive.add(f"{name}/format.npy", _npy_header(f"|S{len(text)}", ()), text)
    archive.close()


class _ZipWriter:
    """Writer of uncompressed zip archives: per member header, data and size; then the index."""

    _LIMIT = 0xFFFFFFFF  # from here on, sizes and offsets are in 64-bit extra fields
    _FLAGS = 0x0808  # sizes and checksum follow the data; names are UTF-8

    def __init__(self, file):
        self.file, self.offset, self.index, self.count = file, 0, [], 0

    def _write(self, *parts):
        for part in parts:
            self.file.write(part)
            self.offset += len(part)

    def add(self, name, *parts):
        """Write a member consisting of the concatenated `parts`."""
        name, start = name.encode(), self.offset
        if len(name) > 0xFFFF:
            raise MXNetError(f"format 'npz' cannot store a name of {len(name)} bytes")
        size = sum(len(part) for part in parts)
        crc = 0
        for part in parts:
            crc = zlib.crc32(part, crc)
        zip64 = size >= self._LIMIT
        extra = struct.pack("<HHQQ", 1, 16, size, size) if zip64 else b""
        placeholder = 0xFFFFFFFF if zip64 else 0
        head = (MAGIC, 45 if zip64 else 0, self._FLAGS, 0, 0, 0, 0)
        tail = (placeholder, placeholder, len(name), len(extra))
        self._write(struct.pack("<4sHHHHHIIIHH", *head, *tail))
        self._write(name, extra, *parts)
        self._write(struct.pack("<4sIQQ" if zip64 else "<4sIII", b"PK\x07\x08", crc, size, size))
        self._index(name, crc, size, start)

    def _index(self, name, crc, size, start):
        wide = [value for value in (size, size, start) if value >= self._LIMIT]
        extra = struct.pack(f"<HH{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
        size, start = (0xFFFFFFFF if v >= self._LIMIT else v for v in (size, start))
        head = (b"PK\x01\x02", 0, 45 if wide else 0, self._FLAGS, 0, 0, 0, crc, size, size)
        tail = (len(name), len(extra), 0, 0, 0, 0, start)
        self.index.append(struct.pack("<4sHHHHHHIIIHHHHHII", *head, *tail) + name + extra)
        self.count += 1

    def close(self):
        """Write the index."""
        start, index = self.offset, b"".join(self.index)
        self._write(index)
        count, place, size = self.count, start, len(index)
        if count >= 0xFFFF or place >= self._LIMIT or size >= self._LIMIT:
            end = self.offset
            numbers = (44, 45, 45, 0, 0, count, count, size, start)
            self._write(struct.pack("<4sQHHIIQQQQ", b"PK\x06\x06", *numbers))
            self._write(struct.pack("<4sIQI", b"PK\x06\x07", 0, end, 1))
            count, place, size = min(count, 0xFFFF), 0xFFFFFFFF, 0xFFFFFFFF
        numbers = (0, 0, count, count, size, place, 0)
        self._write(struct.pack("<4sHHHHIIH", EMPTY_MAGIC, *numbers))
