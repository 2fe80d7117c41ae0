"""PyTorch's checkpoints (.pt, .pth), read without PyTorch and without running what they name.

Such a file is a pickle whose tensors refer to storages beside it: members of a zip archive, or,
before PyTorch 1.6, the rest of the file. Of all that a pickle may ask for only tensors, their
storages and plain containers are made.
"""

import errno
import io
import math
import os
import pickle
import struct
import zipfile
from collections import OrderedDict

import numpy as np

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.interop.arrays import made

__all__ = ["load_torch"]

_STORAGES = {
    "FloatStorage": "float32",
    "DoubleStorage": "float64",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "ShortStorage": "int16",
    "IntStorage": "int32",
    "LongStorage": "int64",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
}
#: what the first pickle of an old file holds
_MAGIC = 0x1950A86A20F9469CFC6C
#: the largest description of tensors that is read
_MOST_PICKLE = 1 << 28


class _Kind:
    """The element type that a storage's class stands for."""

    def __init__(self, word):
        self.code = dtypes.CODES[word]
        bits = word == "bfloat16"
        self.stored = np.dtype("<u2") if bits else dtypes.DTYPES[self.code].newbyteorder("<")


class _Storage:
    """One storage: bytes that tensors see parts of."""

    def __init__(self, kind, key, count):
        self.kind, self.key, self.count, self.data = kind, key, count, None


class _Tensor:
    """A part of a storage."""

    def __init__(self, storage, offset, shape, strides):
        self.storage, self.offset = storage, offset
        self.shape, self.strides = tuple(shape), tuple(strides)

    def array(self, ctx, what):
        """Its elements as an NDArray."""
        numbers = (self.offset, *self.shape, *self.strides)
        if len(self.shape) != len(self.strides) or any(
            type(n) is not int or n < 0 for n in numbers
        ):
            raise MXNetError(f"{what}: shape {self.shape} with strides {self.strides}")
        values = np.frombuffer(self.storage.data, self.storage.kind.stored)
        far = sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        if math.prod(self.shape) and self.offset + far >= len(values):
            raise MXNetError(
                f"{what}: shape {self.shape} from {self.offset} on is more than the "
                f"{len(values)} elements of its storage"
            )
        if math.prod(self.shape) > max(len(values), 1):
            raise MXNetError(f"{what}: shape {self.shape} repeats elements of its storage")
        if not math.prod(self.shape):
            values = np.empty(self.shape, values.dtype)
        else:
            steps = [s * values.itemsize for s in self.strides]
            values = np.lib.stride_tricks.as_strided(values[self.offset :], self.shape, steps)
        return made(np.ascontiguousarray(values).reshape(self.shape), self.storage.kind.code, ctx)


def _rebuilt(storage, offset, shape, strides, requires_grad=False, hooks=None, metadata=None):
    if not isinstance(storage, _Storage):
        raise pickle.UnpicklingError("a tensor of something that is no storage")
    return _Tensor(storage, offset, shape, strides)


def _parameter(data, requires_grad=True, hooks=None):
    return data


class _Unpickler(pickle.Unpickler):
    """Makes tensors, ordered dictionaries and what pickles have without classes."""

    def __init__(self, file, storages):
        super().__init__(file, encoding="utf-8")
        self.storages = storages

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module == "torch._utils" and name in ("_rebuild_tensor_v2", "_rebuild_tensor"):
            return _rebuilt
        if (module, name) == ("torch._utils", "_rebuild_parameter"):
            return _parameter
        if module == "torch" and name in _STORAGES:
            return _Kind(_STORAGES[name])
        if (module, name) == ("torch", "Size"):
            return tuple
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is never made of a file")

    def persistent_load(self, pid):
        if not isinstance(pid, tuple) or len(pid) < 5 or pid[0] != "storage":
            raise pickle.UnpicklingError(f"a reference that is no storage: {pid!r}")
        _, kind, key, _, count = pid[:5]
        if not isinstance(kind, _Kind) or type(key) is not str or type(count) is not int:
            raise pickle.UnpicklingError(f"a storage of an unknown kind: {pid!r}")
        if len(pid) > 5 and pid[5] is not None:
            raise pickle.UnpicklingError("views of storages are not supported")
        return self.storages.setdefault(key, _Storage(kind, key, count))


def _unpickled(file, storages, path):
    try:
        return _Unpickler(file, storages).load()
    except MXNetError:
        raise
    except Exception as error:  # damaged pickles raise nearly anything
        raise MXNetError(f"{path}: its description of tensors is refused: {error}") from error


def _of_archive(path):
    """The object of a zip archive, its storages filled."""
    storages = {}
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.endswith("data.pkl")]
            if len(names) != 1:
                raise MXNetError(f"{path}: expected one data.pkl in the archive, got {names}")
            folder = names[0].removesuffix("data.pkl")
            members = set(archive.namelist())
            order = f"{folder}byteorder"
            if order in members and archive.open(order).read(9) != b"little":
                raise MXNetError(f"{path}: tensors in big-endian order are not supported")
            if archive.getinfo(names[0]).file_size > _MOST_PICKLE:
                raise MXNetError(f"{path}: its description of tensors is too long")
            content = _unpickled(io.BytesIO(archive.read(names[0])), storages, path)
            for storage in storages.values():
                name = f"{folder}data/{storage.key}"
                wanted = storage.count * storage.kind.stored.itemsize
                if name not in members or archive.getinfo(name).file_size != wanted:
                    raise MXNetError(f"{path}: there is no storage {name} of {wanted} bytes")
                storage.data = archive.read(name)
    except MXNetError:
        raise
    except Exception as error:  # zipfile raises anything when offsets and sizes are wrong
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
        raise MXNetError(f"{path}: a damaged archive: {error}") from error
    return content


def _of_stream(path):
    """The object of a file of PyTorch before 1.6."""
    storages, size = {}, os.path.getsize(path)
    with open(path, "rb") as file:
        if _unpickled(file, storages, path) != _MAGIC:
            raise MXNetError(f"{path}: no checkpoint of PyTorch")
        _unpickled(file, storages, path)  # the version of the protocol
        _unpickled(file, storages, path)  # the machine that wrote it
        content = _unpickled(file, storages, path)
        keys = _unpickled(file, storages, path)
        if not isinstance(keys, list) or set(keys) != set(storages):
            raise MXNetError(f"{path}: the storages {keys!r} are not those of its tensors")
        for key in keys:
            storage, head = storages[key], file.read(8)
            wanted = storage.count * storage.kind.stored.itemsize
            if len(head) < 8 or struct.unpack("<q", head)[0] != storage.count:
                raise MXNetError(f"{path}: storage {key} has not {storage.count} elements")
            if wanted > size - file.tell():
                raise MXNetError(f"{path}: storage {key} of {wanted} bytes is cut off")
            storage.data = file.read(wanted)
    return content


def _converted(value, ctx, what):
    """An object of the file with arrays in the place of tensors."""
    if isinstance(value, _Tensor):
        return value.array(ctx, what)
    if isinstance(value, dict):
        return {key: _converted(part, ctx, f"{what}, {key!r}") for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_converted(part, ctx, what) for part in value)
    return value


def load_torch(path, ctx=None):
    """Read a checkpoint that `torch.save` wrote; PyTorch is not needed.

    Parameters
    ----------
    path : str or path
        A state dict, or dictionaries and lists that hold some.
    ctx : Context, optional
        Where the arrays go; the current one by default.

    Returns
    -------
    object
        What was saved, with NDArrays in the place of tensors: mostly a dict of str to NDArray.
        Complex tensors are of `mx.np`.

    Raises
    ------
    MXNetError
        When the file is damaged, or holds anything but tensors, containers and numbers: nothing
        that a file names is imported or called.
    """
    path = os.fspath(path)
    with open(path, "rb") as file:
        head = file.read(4)
    content = _of_archive(path) if head == b"PK\x03\x04" else _of_stream(path)
    return _converted(content, ctx, path)
