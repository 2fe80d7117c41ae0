"""The memory of arrays: who owns it, who has written it, whether the engine is using it."""

import ctypes
import itertools

import numpy as np

from mxcy._base import dtypes
from mxcy._ctypes.engine import held as unlocked
from mxcy._ctypes.services import services

__all__ = ["Storage", "address_of", "memory_type"]

_BF16 = dtypes.BFLOAT16


def memory_type(dtype):
    """NumPy's type of the elements in memory; of bfloat16 its bits."""
    return np.dtype(np.uint16) if dtype == _BF16 else dtypes.DTYPES[dtype]


_writes = itertools.count(1)


class Storage:
    """What views of one memory share.

    Attributes
    ----------
    memory : numpy.ndarray
        Also keeps it alive while operations wait for it.
    size : int
        Its bytes.
    version : int
        Changes with each write; no two storages have the same; 0 before somebody asked.
    exported : bool
        Whether others may read and write as well.
    uses : int
        References by operations, not arrays.
    begun, counted : bool
        Whether an operation has written the memory, and whether it counts towards the limit of
        `pending`.
    var : int or None
        Address of the engine's tag of the memory; None before the first asynchronous use.
    remote : bool
        Whether all operations on the memory go through the engine.
    device : bool
        Whether the host cannot access the memory.
    """

    __slots__ = (
        "memory",
        "size",
        "version",
        "exported",
        "uses",
        "begun",
        "counted",
        "owner",
        "var",
        "remote",
        "device",
        "_destroy",
    )

    def __init__(self, memory, context):
        self.memory, self.size = memory, memory.nbytes
        self.version, self.exported, self.owner, self.var = 0, False, None, None
        self.uses, self.begun, self.counted = 0, False, False
        self.remote = services.serves_devices and context.device_type == "gpu"
        self.device = self.remote and services.device_memory

    def __del__(self):
        if self.var is not None:
            self._destroy(self.var)

    def wrote(self):
        """Mark the memory as written."""
        self.version = next(_writes)

    def var_of(self):
        """The engine's tag, made when it is first asked for."""
        if self.var is None:
            self.var, self._destroy = unlocked.mx_var_create(), unlocked.mx_var_destroy
            if self.var is None:
                raise MemoryError
        return self.var

    def is_quiet(self):
        """Whether an operation may run on the memory here and now."""
        return not self.remote and (self.var is None or bool(unlocked.mx_var_idle(self.var)))


def address_of(memory):
    """Where the elements lie; the array interface says it for all arrays, but slowly."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(memory))
    except (TypeError, ValueError):  # read-only, or without elements
        return memory.__array_interface__["data"][0]
