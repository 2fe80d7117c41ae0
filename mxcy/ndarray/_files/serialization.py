"""Array files: MXNet's binary format in all versions, and entry points for the other formats.

Layout, all little-endian::

    list    u64 0x112 | u64 0 | u64 n | n arrays | u64 m (0 or n) | m names (u64 length, bytes)
    array   u32 magic | i32 stype | [stored shape] | shape | i32 device type, i32 device id
            | i32 dtype | per index array: i32 dtype, shape | data | index arrays
    shape   i32 ndim | ndim x i64

The parts in brackets belong to sparse arrays. The magic number is the version: V2 is the default of
MXNet 1.x; in it a shape without dimensions means "no array" and ends the array. V3, for NumPy
shape semantics, supports scalars but no sparse arrays; "no array" is -1 dimensions. V1 (0.11 and
0.12) lacks the storage type. In older files the magic number is the number of dimensions, and
dimensions are u32.
"""

import io
import os
import struct

from mxcy._base import files
from mxcy._base.dtypes import DTYPES, REALS
from mxcy.base import MXNetError
from mxcy.ndarray._files import npz
from mxcy.ndarray._files.blocks import AUX_NAMES, Block, bytes_of, check_sparse
from mxcy.ndarray._files.source import MAX_NDIM, Source

__all__ = ["FORMATS", "dump", "dumps", "load", "loads", "pack_array", "save", "unpack_array"]

#: the values of `format` in `save`
FORMATS = ("v1x", "np", "npz", "npy")

_LIST_MAGIC = 0x112
_V1, _V2, _V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA
_STYPES = {-1: None, 0: "default", 1: "row_sparse", 2: "csr"}
_STYPE_CODES = {name: code for code, name in _STYPES.items()}


# --- reading --------------------------------------------------------------------------------------


def load(file, np_shape=None):
    """Read all arrays of a file of any supported format.

    Parameters
    ----------
    file : str, path or binary file object
        A list of arrays as written by MXNet 0.x to 2.x, or a ``.npz`` or ``.npy`` file, with any
        name. A file object must be seekable and is read from its current position to its end.
    np_shape : bool, optional
        Refuse lists of dense arrays unless they were saved with NumPy shape semantics (True: V3) or
        without (False: older versions).

    Returns
    -------
    blocks : list of Block or None
        None means "no array".
    names : list of str or None
        One name per block; None if the file has no names.

    Raises
    ------
    MXNetError
        If the file cannot be opened, is truncated or invalid, or has the other shape semantics; the
        message has the file name, the position and what was expected there.
    """
    if hasattr(file, "readinto"):
        start = file.tell()
        size = file.seek(0, os.SEEK_END) - start
        file.seek(start)
        return _read(Source(file, size, str(getattr(file, "name", "<file>"))), np_shape)
    path = files.local_path(file)
    try:
        with open(path, "rb") as opened:
            return _read(Source(opened, os.fstat(opened.fileno()).st_size, path), np_shape)
    except OSError as error:
        raise MXNetError(f"{path}: cannot be read: {error.strerror or error}") from error


def loads(buffer, name="<buffer>", np_shape=None):
    """Read all arrays from the bytes of a file; like `load`."""
    return _read(Source.of_buffer(buffer, name), np_shape)


def unpack_array(buffer, name="<buffer>"):
    """Read a single array from the bytes written by `pack_array`.

    Returns
    -------
    Block or None
    """
    return _read_array(Source.of_buffer(buffer, name))


def _read(source, np_shape):
    start = source.file.tell()
    head = bytes(source.take(min(8, source.size), "the magic number"))
    if head.startswith((npz.MAGIC, npz.EMPTY_MAGIC, npz.NPY_MAGIC)):
        source.file.seek(start)
        source.offset = 0
        return _read_numpy(source, head)
    if head != struct.pack("<Q", _LIST_MAGIC):
        raise source.refuse(
            f"expected {struct.pack('<Q', _LIST_MAGIC).hex(' ')} (MXNet's list of arrays), "
            f"a .npz or a .npy file, found {head.hex(' ') or 'nothing'}",
            0,
        )
    return _read_list(source, np_shape)


def _read_numpy(source, head):
    if head.startswith(npz.NPY_MAGIC):
        return [Block(npz.read_npy(source))], None
    return npz.read_npz(source)


def _read_list(source, np_shape):
    source.take(8, "the reserved field")
    (count,) = source.numbers("Q", "the number of arrays")
    if count > source.left // 4:  # even "no array" takes four bytes
        raise source.refuse(f"{count} arrays do not fit in {source.left} bytes")
    blocks = [_read_array(source, np_shape) for _ in range(count)]
    if any(block is not None and block.data.dtype.kind == "c" for block in blocks):
        raise source.refuse("complex numbers are only supported in .npy and .npz files")
    offset = source.offset
    (named,) = source.numbers("Q", "the number of names")
    if named not in (0, count):
        raise source.refuse(f"expected 0 or {count} names, found {named}", offset)
    return blocks, [_read_name(source) for _ in range(named)] or None


def _read_name(source):
    (length,) = source.numbers("Q", "the length of a name")
    offset, text = source.offset, source.take(length, "a name")
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise source.refuse(f"a name that is not UTF-8: {error}", offset) from error


def _read_array(source, np_shape=None):
    offset = source.offset
    (magic,) = source.numbers("I", "an array's magic number")
    if magic in (_V2, _V3):
        return _read_recent(source, magic, np_shape)
    if magic == _V1:
        shape = _read_shape(source)
    elif magic <= MAX_NDIM:
        shape = source.numbers(f"{magic}I", "a shape")
    else:
        raise source.refuse(
            f"expected an array's magic number, such as {_V2:#x}, found {magic:#x}", offset
        )
    if not shape:
        return None
    _check_semantics(source, np_shape, magic)
    device = source.numbers("2i", "a device")
    return Block(source.array(_read_dtype(source), shape, "an array"), device=device)


def _read_recent(source, magic, np_shape):
    """Read the rest of an array after the magic number of V2 or V3."""
    offset = source.offset
    (code,) = source.numbers("i", "a storage type")
    if code not in _STYPES or (magic == _V3 and code > 0):
        raise source.refuse(f"storage type {code} in version {magic - _V1 + 1}", offset)
    stype = _STYPES[code]
    sparse = bool(AUX_NAMES.get(stype))
    stored = _read_shape(source) if sparse else None
    shape = _read_shape(source)
    if shape is None or (magic == _V2 and not shape):
        return None
    if stype is None:
        raise source.refuse(f"an array of shape {shape} without storage type", offset)
    if not sparse:
        _check_semantics(source, np_shape, magic)
    device = source.numbers("2i", "a device")
    dtype = _read_dtype(source)
    if not sparse:
        return Block(source.array(dtype, shape, "an array"), device=device)
    kinds = [(_read_dtype(source), _read_shape(source)) for _ in AUX_NAMES[stype]]
    for aux_dtype, aux_shape in kinds:
        if aux_dtype.kind not in "iu" or aux_shape is None or len(aux_shape) != 1:
            raise source.refuse(f"indices of type {aux_dtype} and shape {aux_shape}", offset)
    if stored is None:
        raise source.refuse("a sparse array without the shape of its data", offset)
    data = source.array(dtype, stored, "the data of a sparse array")
    aux = tuple(source.array(*kind, "the indices of a sparse array") for kind in kinds)
    block = Block(data, shape, stype, aux, device)
    check_sparse(block, lambda what: source.refuse(what, offset))
    return block


def _check_semantics(source, np_shape, magic):
    """Refuse a dense array saved with other shape semantics than demanded."""
    if np_shape not in (None, magic == _V3):
        saved, remedy = ("without", "outside of") if np_shape else ("with", "within")
        raise source.refuse(
            f"an array saved {saved} NumPy shape semantics; load it {remedy} np_shape(True)"
        )


def _read_shape(source):
    """Read a shape; None for -1 dimensions."""
    offset = source.offset
    (ndim,) = source.numbers("i", "the number of dimensions")
    if ndim == -1:
        return None
    if not 0 <= ndim <= MAX_NDIM:
        raise source.refuse(f"expected 0 to {MAX_NDIM} dimensions, found {ndim}", offset)
    return source.numbers(f"{ndim}q", "a shape")


def _read_dtype(source):
    offset = source.offset
    (code,) = source.numbers("i", "an element type")
    if code not in DTYPES:
        raise source.refuse(
            f"expected an element type from 0 to {len(REALS) - 1}, found {code}", offset
        )
    return DTYPES[code]


# --- writing --------------------------------------------------------------------------------------


def save(file, blocks, names=None, format=None, np_shape=False):
    """Write arrays to a file.

    An existing file is replaced atomically, after the new one is complete and on disk.

    Parameters
    ----------
    file : str, path or binary file object
        Destination; a file object is written from its current position.
    blocks : sequence of Block or None
        The arrays; None means "no array".
    names : sequence of str, optional
        One name per block.
    format : {None, 'v1x', 'np', 'npz', 'npy'}
        ``'v1x'`` writes version V2, for MXNet 1.x; ``'np'`` V3, for MXNet 2.x and for 1.x under
        NumPy shape semantics. None selects V2, but V3 for dense arrays if any of them has no
        dimensions. ``'npz'`` and ``'npy'`` (one array) are NumPy's formats.
    np_shape : bool
        None selects V3 for all dense arrays.

    Raises
    ------
    MXNetError
        If the file cannot be written, or the format cannot store the arrays.
    ValueError
        If the format is unknown, or the numbers of names and blocks differ.
    """
    if hasattr(file, "write"):
        dump(file, blocks, names, format, np_shape)
        return
    path = files.local_path(file)
    try:
        with files.replacing(path) as opened:
            dump(opened, blocks, names, format, np_shape)
    except OSError as error:
        raise MXNetError(f"{path}: cannot be written: {error.strerror or error}") from error


def dumps(blocks, names=None, format=None, np_shape=False):
    """The bytes that `save` writes."""
    file = io.BytesIO()
    dump(file, blocks, names, format, np_shape)
    return file.getvalue()


def dump(file, blocks, names=None, format=None, np_shape=False):
    """Write arrays to a binary file object; like `save`."""
    blocks = list(blocks)
    names = None if names is None else list(names)
    if format is not None and format not in FORMATS:
        raise ValueError(f"format must be None or one of {', '.join(FORMATS)}, got {format!r}")
    if names is not None and len(names) != len(blocks):
        raise ValueError(f"{len(blocks)} arrays need one name each, got {len(names)}")
    try:
        encoded = [name.encode() for name in names or ()]
    except UnicodeEncodeError as error:
        raise MXNetError(f"a name cannot be encoded: {error}") from error
    if format == "npz":
        npz.write_npz(file, blocks, names)
    elif format == "npy":
        if len(blocks) != 1 or blocks[0] is None or blocks[0].stype != "default":
            raise MXNetError("a .npy file holds exactly one dense array")
        npz.write_npy(file, blocks[0].data)
    else:
        _write_list(file, blocks, encoded, format, np_shape)


def pack_array(block):
    """The bytes of a single array without a list, as in MXNet's pickles."""
    file = io.BytesIO()
    _write_array(file, block, _V3 if _needs_v3(block) else _V2)
    return file.getvalue()


def _write_list(file, blocks, names, format, np_shape):
    # MXNet rejects files that mix V2 and V3, so one array decides for all.
    numpy_shapes = format == "np" or (format is None and (np_shape or any(map(_needs_v3, blocks))))
    file.write(struct.pack("<3Q", _LIST_MAGIC, 0, len(blocks)))
    for block in blocks:
        dense = block is not None and block.stype == "default"
        if format == "np" and not dense:
            kind = "no array" if block is None else f"a {block.stype} array"
            raise MXNetError(f"format 'np' cannot store {kind}; omit format or use 'v1x'")
        if dense and block.data.dtype.kind == "c":
            raise MXNetError(f"lists of arrays do not support {block.data.dtype}; use format 'npz'")
        _write_array(file, block, _V3 if numpy_shapes and dense else _V2)
    file.write(struct.pack("<Q", len(names)))
    for name in names:
        file.write(struct.pack("<Q", len(name)) + name)


def _needs_v3(block):
    return block is not None and block.stype == "default" and not block.data.ndim


def _write_array(file, block, magic):
    if block is None:
        file.write(struct.pack("<Iii", magic, 0, 0))
        return
    if magic == _V2 and not block.shape:
        raise MXNetError("format 'v1x' cannot store an array without dimensions; use 'np'")
    head = [struct.pack("<Ii", magic, _STYPE_CODES[block.stype])]
    if block.aux:
        head.append(_shape_bytes(block.data.shape))
    head.append(_shape_bytes(block.shape))
    head.append(struct.pack("<3i", *block.device, block.dtype_code))
    head += [
        struct.pack("<i", Block(aux).dtype_code) + _shape_bytes(aux.shape) for aux in block.aux
    ]
    file.write(b"".join(head))
    for array in (block.data, *block.aux):
        file.write(bytes_of(array))


def _shape_bytes(shape):
    return struct.pack(f"<i{len(shape)}q", len(shape), *shape)
