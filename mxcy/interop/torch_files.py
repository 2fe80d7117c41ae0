"""PyTorch's checkpoints (.pt, .pth), read without PyTorch and without running what they name.

Such a file is a pickle whose tensors refer to storages beside it: members of a zip archive, or,
before PyTorch 1.6, the rest of the file. Of all that a pickle may ask for only tensors, their
storages and plain containers are made.
"""

import errno
import math
import mmap
import os
import struct
import zipfile
from collections import OrderedDict

import numpy as np

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.interop.arrays import array_of
from mxcy.ndarray._files.pickle_machine import Machine, Name, refuse

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
        return array_of(
            np.ascontiguousarray(values).reshape(self.shape), self.storage.kind.code, ctx
        )


class _OrderedDicts(Name):
    """`collections.OrderedDict`; the state that PyTorch gives one tells of versions only."""

    def __init__(self, machine):
        super().__init__("collections.OrderedDict")
        self._machine = machine

    def call(self, items=()):
        return self._machine.made_by(
            self, OrderedDict((self._machine.key(key), value) for key, value in items)
        )

    def build(self, instance, state):
        if not isinstance(state, dict):
            raise refuse("the state of an OrderedDict is no dict")


class _Tensors(Name):
    """`torch._utils._rebuild_tensor_v2` and its elder."""

    def call(self, storage, offset, shape, strides, requires_grad=False, hooks=None, metadata=None):
        if not isinstance(storage, _Storage):
            raise refuse("a tensor whose data is not a storage")
        if not isinstance(shape, tuple) or not isinstance(strides, tuple):
            raise refuse("a tensor whose shape or strides are not tuples")
        return _Tensor(storage, offset, shape, strides)


class _Parameters(Name):
    """`torch._utils._rebuild_parameter`."""

    def call(self, data, requires_grad=True, hooks=None):
        return data


class _Sizes(Name):
    """`torch.Size`."""

    def call(self, extents=()):
        if not isinstance(extents, tuple):
            raise refuse("a torch.Size of something other than a tuple")
        return extents


class _StorageClass(Name):
    """A class like `torch.FloatStorage`, which references to storages name."""

    def __init__(self, name):
        super().__init__(f"torch.{name}")
        self.kind = _Kind(_STORAGES[name])


class _Checkpoint(Machine):
    """Makes tensors, ordered dictionaries and what pickles have without classes."""

    def __init__(self, data, storages, start=0):
        super().__init__(data, start)
        self.storages = storages

    def find(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return _OrderedDicts(self)
        if module == "torch" and name in _STORAGES:
            return _StorageClass(name)
        if f"{module}.{name}" in _NAMES:
            return _NAMES[f"{module}.{name}"](f"{module}.{name}")
        raise refuse(f"it refers to {module}.{name}, which is never loaded from a file")

    def persistent(self, reference):
        if not isinstance(reference, (tuple, list)) or len(reference) < 5:
            raise refuse("a reference that is no storage")
        word, of_class, key, _, count = reference[:5]
        if word != "storage":
            raise refuse("a reference that is no storage")
        if (
            not isinstance(of_class, _StorageClass)
            or type(key) is not str
            or type(count) is not int
        ):
            raise refuse("a storage of an unknown kind")
        if len(reference) > 5 and reference[5] is not None:
            raise refuse("views of storages are not supported")
        return self.storages.setdefault(key, _Storage(of_class.kind, key, count))


_NAMES = {
    "torch._utils._rebuild_tensor": _Tensors,
    "torch._utils._rebuild_tensor_v2": _Tensors,
    "torch._utils._rebuild_parameter": _Parameters,
    "torch.Size": _Sizes,
}


def _unpickled(data, storages, path, start=0):
    """What a pickle holds that begins at `start`, and where it ends."""
    machine = _Checkpoint(data, storages, start)
    try:
        return machine.run(), machine.end
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
            content, _ = _unpickled(archive.read(names[0]), storages, path)
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
    with open(path, "rb") as file:
        if not os.fstat(file.fileno()).st_size:
            raise MXNetError(f"{path}: no checkpoint of PyTorch: the file is empty")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _of_pickles(data, path)


def _of_pickles(data, path):
    """The object of five pickles: a mark, a version, the writer's machine, the object, its keys."""
    storages, position = {}, 0
    parts = []
    for _ in range(5):
        part, position = _unpickled(data, storages, path, position)
        parts.append(part)
        if parts[0] != _MAGIC:
            raise MXNetError(f"{path}: no checkpoint of PyTorch")
    content, keys = parts[3:]
    if not isinstance(keys, list) or {*map(type, keys)} - {str} or sorted(keys) != sorted(storages):
        raise MXNetError(f"{path}: the storages {keys!r} are not those of its tensors")
    for key in keys:
        storage, head = storages[key], data[position : position + 8]
        size = storage.count * storage.kind.stored.itemsize
        if len(head) < 8 or struct.unpack("<q", head)[0] != storage.count:
            raise MXNetError(f"{path}: storage {key} has not {storage.count} elements")
        position += 8
        if size > len(data) - position:
            raise MXNetError(f"{path}: storage {key} of {size} bytes is cut off")
        storage.data = data[position : position + size]
        position += size
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
