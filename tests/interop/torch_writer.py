"""Write PyTorch checkpoints in both formats, without PyTorch."""

import io
import pickle
import struct
import sys
import types
import zipfile
from collections import OrderedDict
from typing import NamedTuple

import numpy as np

__all__ = ["Claimed", "write", "write_old"]


class Claimed(NamedTuple):
    """A tensor as a file claims it to be."""

    storage: np.ndarray
    shape: tuple
    strides: tuple


_STORAGES = {"float32": "FloatStorage", "float64": "DoubleStorage", "int64": "LongStorage"}
_STORAGES.update(float16="HalfStorage", bool="BoolStorage", uint8="ByteStorage")


def _modules():
    """Modules that look like PyTorch's to a pickler."""
    torch, utils = types.ModuleType("torch"), types.ModuleType("torch._utils")
    torch._utils = utils
    for name in _STORAGES.values():
        setattr(torch, name, type(name, (), {"__module__": "torch"}))

    def rebuild(*args):
        raise AssertionError("never called while writing")

    rebuild.__module__, rebuild.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
    rebuild.__name__ = "_rebuild_tensor_v2"
    utils._rebuild_tensor_v2 = rebuild
    return {"torch": torch, "torch._utils": utils}


class _Storage:
    def __init__(self, values):
        self.values = values


class _Tensor:
    def __init__(self, claimed, modules):
        self.claimed, self.modules = claimed, modules

    def __reduce__(self):
        storage, shape, strides = self.claimed
        args = (_Storage(storage), 0, shape, strides, False, OrderedDict())
        return self.modules["torch._utils"]._rebuild_tensor_v2, args


class _Pickler(pickle.Pickler):
    def __init__(self, file, modules):
        super().__init__(file, protocol=2)
        self.modules, self.storages = modules, []

    def persistent_id(self, value):
        if not isinstance(value, _Storage):
            return None
        known = [i for i, storage in enumerate(self.storages) if storage is value.values]
        if not known:
            self.storages.append(value.values)
        key = str(known[0] if known else len(self.storages) - 1)
        kind = getattr(self.modules["torch"], _STORAGES[value.values.dtype.name])
        return "storage", kind, key, "cpu", value.values.size


def _pickled(value):
    modules = _modules()

    def with_tensors(part):
        if isinstance(part, np.ndarray):
            base = part if part.base is None else part.base
            steps = tuple(stride // part.itemsize for stride in part.strides)
            part = Claimed(base, part.shape, steps)
        if isinstance(part, Claimed):
            return _Tensor(part, modules)
        if isinstance(part, dict):
            return OrderedDict((key, with_tensors(own)) for key, own in part.items())
        return [with_tensors(own) for own in part] if isinstance(part, list) else part

    file, before = io.BytesIO(), {name: sys.modules.get(name) for name in modules}
    pickler = _Pickler(file, modules)
    sys.modules.update(modules)
    try:
        pickler.dump(with_tensors(value))
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
    return file.getvalue(), pickler.storages


def write(path, value, changes=()):
    """Write the zip format; `changes` replaces members, None removes one."""
    data, storages = _pickled(value)
    members = {"data.pkl": data, "byteorder": b"little", "version": b"3\n"}
    members.update((f"data/{i}", storage.tobytes()) for i, storage in enumerate(storages))
    members.update(changes)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            if content is not None:
                archive.writestr(f"archive/{name}", content)


def write_old(path, value):
    """Write the format of PyTorch before 1.6."""
    data, storages = _pickled(value)
    with open(path, "wb") as file:
        pickle.dump(0x1950A86A20F9469CFC6C, file, protocol=2)
        pickle.dump(1001, file, protocol=2)
        pickle.dump({"little_endian": True}, file, protocol=2)
        file.write(data)
        pickle.dump([str(i) for i in range(len(storages))], file, protocol=2)
        for storage in storages:
            file.write(struct.pack("<q", storage.size) + storage.tobytes())
