"""The safetensors format: a JSON header followed by the data of all tensors."""

import json
import math
import os

import numpy as np

from mxcy._base import dtypes
from mxcy._base.files import replacing
from mxcy.base import MXNetError
from mxcy.interop.arrays import array_of

__all__ = ["load_safetensors", "save_safetensors"]

#: dtype name in the format -> our name
_WORDS = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "U16": "uint16",
    "I16": "int16",
    "U32": "uint32",
    "I32": "int32",
    "U64": "uint64",
    "I64": "int64",
    "F16": "float16",
    "BF16": "bfloat16",
    "F32": "float32",
    "F64": "float64",
    "C64": "complex64",
}
_OURS = {name: word for word, name in _WORDS.items()}
#: maximum size of a header, in bytes
_MOST_HEADER = 100_000_000


def _header(file, path, size):
    """Read the header and the offset of the data."""
    head = file.read(8)
    length = int.from_bytes(head, "little")
    if len(head) < 8 or length > min(_MOST_HEADER, size - 8):
        raise MXNetError(f"{path}: not a safetensors file: the header exceeds the file")
    try:
        header = json.loads(file.read(length).decode())
    except (ValueError, RecursionError) as error:
        raise MXNetError(
            f"{path}: not a safetensors file: its header is not JSON ({error})"
        ) from error
    if not isinstance(header, dict):
        raise MXNetError(f"{path}: not a safetensors file: the header is not an object")
    return header, 8 + length


def _place(path, name, entry, available):
    """(dtype code, shape, first byte, end byte) of a tensor."""
    what = f"{path}: tensor {name!r}"
    try:
        word, shape, (begin, end) = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"]
    except (KeyError, TypeError, ValueError) as error:
        raise MXNetError(f"{what}: expected dtype, shape and data_offsets") from error
    numbers = (*shape, begin, end)
    if any(type(n) is not int or n < 0 for n in numbers):
        raise MXNetError(f"{what}: shape and offsets must be non-negative integers, got {numbers}")
    if word not in _WORDS:
        raise MXNetError(f"{what}: dtype {word} is not supported")
    code = dtypes.CODES[_WORDS[word]]
    size = math.prod(shape) * dtypes.DTYPES[code].itemsize
    if end - begin != size or end > available:
        raise MXNetError(
            f"{what}: bytes {begin} to {end} of {available} are not the {size} of {shape}"
        )
    return code, shape, begin, end


def load_safetensors(path, ctx=None):
    """Read a safetensors file.

    Parameters
    ----------
    path : str or path
    ctx : Context, optional
        Context of the arrays; the current one by default.

    Returns
    -------
    dict of str to NDArray
        Arrays in the order of the file's header; complex ones are `mx.np` arrays.

    Raises
    ------
    MXNetError
        If the file is damaged or a dtype is not supported; the message names the tensor.
    """
    path, arrays = os.fspath(path), {}
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        header, start = _header(file, path, size)
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            code, shape, begin, end = _place(path, name, entry, size - start)
            file.seek(start + begin)
            data = file.read(end - begin)
            stored = np.dtype("<u2") if code == dtypes.CODES["bfloat16"] else dtypes.DTYPES[code]
            values = np.frombuffer(data, stored.newbyteorder("<")).reshape(shape)
            arrays[name] = array_of(values, code, ctx)
    return arrays


def save_safetensors(path, arrays, metadata=None):
    """Write arrays to a safetensors file atomically.

    Parameters
    ----------
    path : str or path
    arrays : dict of str to NDArray
        Arrays of `mx.nd`, `mx.np` or NumPy.
    metadata : dict of str to str, optional

    Raises
    ------
    TypeError
        If names or metadata are not strings.
    MXNetError
        If the format lacks an array's dtype.
    """
    header, parts, end = {}, [], 0
    if metadata:
        if any(type(text) is not str for pair in metadata.items() for text in pair):
            raise TypeError("metadata: expected a dict of str to str")
        header["__metadata__"] = dict(metadata)
    for name, array in arrays.items():
        if type(name) is not str or name == "__metadata__":
            raise TypeError(f"invalid array name {name!r}")
        values = array if isinstance(array, np.ndarray) else array.asnumpy()
        word = _OURS.get(dtypes.name_of(dtypes.code_of(values.dtype)))
        if word is None:
            raise MXNetError(f"array {name!r}: safetensors does not support dtype {values.dtype}")
        data = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"), copy=False))
        offsets = [end, end := end + data.nbytes]
        header[name] = {"dtype": word, "shape": list(values.shape), "data_offsets": offsets}
        parts.append(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with replacing(path) as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for data in parts:
            file.write(data.tobytes())
