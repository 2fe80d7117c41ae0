"""Reader of PyTorch checkpoints (.pt, .pth) that needs no PyTorch and executes no pickled code.

A checkpoint is a pickle whose tensors refer to separate storages: members of a zip archive, or,
before PyTorch 1.6, the remainder of the file. Only tensors, their storages and plain containers are
unpickled.
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
#: magic number in the first pickle of an old file
_MAGIC = 0x1950A86A20F9469CFC6C
#: maximum size of the pickle, in bytes
_MOST_PICKLE = 1 << 28


class _Kind:
    """Element type of a storage class."""

    def __init__(self, word):
        self.code = dtypes.CODES[word]
        bits = word == "bfloat16"
        self.stored = np.dtype("<u2") if bits else dtypes.DTYPES[self.code].newbyteorder("<")


class _Storage:
    """A storage: memory that tensors are views of."""

    def __init__(self, kind, key, count):
        self.kind, self.key, self.count, self.data = kind, key, count, None


class _Tensor:
    """A strided view of a storage."""

    def __init__(self, storage, offset, shape, strides):
        self.storage, self.offset = storage, offset
        self.shape, self.strides = tuple(shape), tuple(strides)

    def array(self, ctx, what):
        """Convert the elements to an NDArray."""
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
    """`collections.OrderedDict`; its state in PyTorch's files has only version numbers."""

    def __init__(self, machine):
        super().__init__("collections.OrderedDict")
        self._machine = machine

    def call(self, items=()):
        return self._machine.made_by(
            self, OrderedDict((self._machine.key(key), value) for key, value in items)
        )

    def build(self, instance, state):
        if not isinstance(state, dict):
            raise refuse("the state of an OrderedDict is not a dict")


class _Tensors(Name):
    """`torch._utils._rebuild_tensor_v2` and its predecessor."""

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
    """A storage class such as `torch.FloatStorage`, named by references to storages."""

    def __init__(self, name):
        super().__init__(f"torch.{name}")
        self.kind = _Kind(_STORAGES[name])


class _Checkpoint(Machine):
    """Unpickling rules: tensors, ordered dictionaries, and built-in types."""

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
            raise refuse("a reference to something other than a storage")
        word, of_class, key, _, count = reference[:5]
        if word != "storage":
            raise refuse("a reference to something other than a storage")
        if (
            not isinstance(of_class, _StorageClass)
            or type(key) is not str
            or type(count) is not int
        ):
            raise refuse("a storage of an unknown type")
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
    """Unpickle the object at `start`; return it and the end of the pickle."""
    machine = _Checkpoint(data, storages, start)
    try:
        return machine.run(), machine.end
    except MXNetError:
        raise
    except Exception as error:  # damaged pickles raise nearly anything
        raise MXNetError(f"{path}: its pickle is rejected: {error}") from error


def _of_archive(path):
    """Load the object of a zip archive and the data of its storages."""
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
                raise MXNetError(f"{path}: its pickle is too large")
            content, _ = _unpickled(archive.read(names[0]), storages, path)
            for storage in storages.values():
                name = f"{folder}data/{storage.key}"
                wanted = storage.count * storage.kind.stored.itemsize
                if name not in members or archive.getinfo(name).file_size != wanted:
                    raise MXNetError(f"{path}: storage {name} of {wanted} bytes is missing")
                storage.data = archive.read(name)
    except MXNetError:
        raise
    except Exception as error:  # zipfile raises arbitrary errors for wrong offsets and sizes
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
        raise MXNetError(f"{path}: a damaged archive: {error}") from error
    return content


def _of_stream(path):
    """Load the object of a file written by PyTorch before 1.6."""
    with open(path, "rb") as file:
        if not os.fstat(file.fileno()).st_size:
            raise MXNetError(f"{path}: not a PyTorch checkpoint: the file is empty")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _of_pickles(data, path)


def _of_pickles(data, path):
    """Load the five pickles: magic number, version, system information, object, storage keys."""
    storages, position = {}, 0
    parts = []
    for _ in range(5):
        part, position = _unpickled(data, storages, path, position)
        parts.append(part)
        if parts[0] != _MAGIC:
            raise MXNetError(f"{path}: not a PyTorch checkpoint")
    content, keys = parts[3:]
    if not isinstance(keys, list) or {*map(type, keys)} - {str} or sorted(keys) != sorted(storages):
        raise MXNetError(f"{path}: the storages {keys!r} are not those of its tensors")
    for key in keys:
        storage, head = storages[key], data[position : position + 8]
        size = storage.count * storage.kind.stored.itemsize
        if len(head) < 8 or struct.unpack("<q", head)[0] != storage.count:
            raise MXNetError(f"{path}: storage {key} does not have {storage.count} elements")
        position += 8
        if size > len(data) - position:
            raise MXNetError(f"{path}: storage {key} of {size} bytes is cut off")
        storage.data = data[position : position + size]
        position += size
    return content


def _converted(value, ctx, what):
    """Convert the tensors in an object to arrays."""
    if isinstance(value, _Tensor):
        return value.array(ctx, what)
    if isinstance(value, dict):
        return {key: _converted(part, ctx, f"{what}, {key!r}") for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_converted(part, ctx, what) for part in value)
    return value


def load_torch(path, ctx=None):
    """Read a checkpoint written by `torch.save`; PyTorch is not needed.

    Parameters
    ----------
    path : str or path
        File with a state dict, or nested dictionaries and lists.
    ctx : Context, optional
        Context of the arrays; the current one by default.

    Returns
    -------
    object
        The saved object with NDArrays instead of tensors, usually a dict of str to NDArray. Complex
        ones are `mx.np` arrays.

    Raises
    ------
    MXNetError
        If the file is damaged, or contains anything but tensors, containers and numbers: nothing
        named by a file is imported or called.
    """
    path = os.fspath(path)
    with open(path, "rb") as file:
        head = file.read(4)
    content = _of_archive(path) if head == b"PK\x03\x04" else _of_stream(path)
    return _converted(content, ctx, path)
