"""The array type of the ctypes front: a wrapper of C-contiguous NumPy memory."""

import ctypes
import functools
import math

import numpy as np

from mxcy._base import dtypes
from mxcy._base.errors import MXNetError, TracedValueError, kernel_error
from mxcy._ctypes.engine import READS, WRITES
from mxcy._ctypes.engine import held as locked
from mxcy._ctypes.modes import state
from mxcy._ctypes.native import lib
from mxcy._ctypes.pending import wait
from mxcy._ctypes.services import services
from mxcy._ctypes.storage import Storage, address_of, memory_type

__all__ = ["NDArrayBase", "Operations", "home_of", "in_numpy", "mixes"]

_BF16 = dtypes.BFLOAT16
_CPU = 1


class _Numpy:
    """What `mx.np` has the front know once it is imported."""

    cls, store = None, None


in_numpy = _Numpy()


class Operations:
    """What modules above this one do for the operators of arrays; each enters its own."""

    calculate = None  # ``calculate(operation, lhs, rhs)`` of arithmetic.py


def home_of(context):
    """The context of results of operators on a context's arrays."""
    return context if context.device_typeid == _CPU else context.home


def mixes(context, other):
    """Whether an operator accepts arrays of both contexts, as all CPU contexts share memory."""
    return context == other or context.home.device_typeid == other.home.device_typeid == _CPU


def class_of(*arrays):
    """The class of what is made of arrays: that of `mx.np` as soon as one has it."""
    if in_numpy.cls is not None and any(isinstance(array, in_numpy.cls) for array in arrays):
        return in_numpy.cls
    return services.array_class


def wrap(memory, dtype, context, storage=None, address=None, cls=None):
    """An array over NumPy memory; `storage` is what views of it share."""
    cls = cls or services.array_class
    array = object.__new__(cls)
    array._memory, array.dtype_code, array.context = memory, dtype, context
    array.shape, array.kind = memory.shape, (memory.shape, dtype)
    array.address = address_of(memory) if address is None else address
    array._storage = Storage(memory, context) if storage is None else storage
    array.writable, array.node, array.node_index = True, None, 0
    return array


@functools.cache
def _nothing():
    """The memory of all blank arrays."""
    return Storage(np.empty(0, np.float32), services.default_context)


class NDArrayBase:
    """Memory, shape, dtype and tape node; the base of `mx.nd.NDArray`."""

    __slots__ = (
        "_memory",
        "_storage",
        "dtype_code",
        "context",
        "shape",
        "kind",
        "address",
        "writable",
        "node",
        "node_index",
    )

    def __new__(cls, handle=None, writable=True):
        array = object.__new__(cls)
        array._storage, array.context = _nothing(), services.default_context
        array._memory, array.dtype_code, array.kind = array._storage.memory, 0, ((0,), 0)
        NDArrayBase.shape.__set__(array, (0,))  # sparse arrays have a property of that name
        array.address, array.writable, array.node, array.node_index = 0, True, None, 0
        return array

    def __init__(self, handle=None, writable=True):
        raise TypeError("create arrays with mx.nd.array, mx.nd.zeros and so on, not by the class")

    @property
    def blank(self):
        """Whether the array, created by ``cls.__new__(cls)``, has no memory yet."""
        return self._storage is _nothing()

    def become(self, other):
        """Share memory, shape and dtype of another array; for blank arrays in unpickling."""
        if (not self.blank and self.size) or other.blank:
            raise MXNetError("only a blank array, or one without elements, can become another")
        for name in NDArrayBase.__slots__:
            setattr(self, name, getattr(other, name))
        self.node, self.node_index = None, 0

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._memory.size

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def dtype(self):
        """type: NumPy's scalar type of the elements, such as ``numpy.float32``."""
        return dtypes.type_of(self.dtype_code)

    @property
    def owner(self):
        """What keeps the memory alive, None when NumPy does."""
        return self._storage.owner

    @property
    def on_device(self):
        """Whether the host cannot access the memory."""
        return self._storage.device

    def numpy_view(self):
        """Make a NumPy array that shares the memory; bfloat16 as uint16 bits.

        It waits until nothing uses them. Whoever keeps the NumPy array beyond the next call of an
        operator, and reads or writes it, calls `export`.
        """
        self._check_look()
        if self._storage.device:
            raise MXNetError(f"the host cannot access the memory of {self.context}: use asnumpy()")
        wait(self._storage.var, WRITES)
        return self.held_view()

    def _check_look(self):
        """Refuse to show values of which deferred computation has recorded how they are made."""
        if state.deferred and self.node is not None:
            raise TracedValueError("deferred computation: the program reads the values of an array")

    def read_view(self):
        """Likewise for reading only; a copy for device memory."""
        self._check_look()
        wait(self._storage.var, READS)
        if self._storage.device:
            return services.download(self)
        view = self._memory.view()
        view.flags.writeable = False
        return view

    def held_view(self):
        """Like `numpy_view`, for callers that hold the array; see `held`.

        For device memory it is only valid for index computations.
        """
        self._storage.wrote()
        if self.writable:
            return self._memory
        view = self._memory.view()
        view.flags.writeable = False
        return view

    def held_read_view(self):
        """Like `read_view`, for callers that hold the array; see `held`."""
        if self._storage.device:
            return services.download(self)
        view = self._memory.view()
        view.flags.writeable = False
        return view

    def wait_to_read(self) -> None:
        """Wait until the elements are computed.

        Raises
        ------
        MXNetError
            Or another exception of the operation that should have computed them.
        """
        wait(self._storage.var, READS)
        self._settle_on_device(False)

    def wait_to_write(self) -> None:
        """Wait until no operation reads or writes the elements; raises like `wait_to_read`."""
        wait(self._storage.var, WRITES)
        self._settle_on_device(True)

    def _settle_on_device(self, writes):
        """Wait until what was launched on its device has come to an end there."""
        if self._storage.device:
            address, device = ctypes.c_void_p(self.address), self.context.device_id
            if lib.mx_gpu_settle(device, address, int(writes)):
                raise kernel_error("", lib.mx_last_error().decode())

    @property
    def var(self):
        """Address of the memory's engine variable, an mx_var."""
        return self._storage.var_of()

    @property
    def failed(self):
        """Whether the operation that should have computed the elements failed."""
        return self._storage.var is not None and bool(locked.mx_var_failed(self._storage.var))

    @property
    def version(self) -> int:
        """A number that changes with each write to the memory."""
        if self._storage.exported or self._storage.version == 0:
            self._storage.wrote()
        return self._storage.version

    def touch(self):
        """Mark the memory as written."""
        self._storage.wrote()

    def export(self):
        """Mark the memory as accessible to others from now on."""
        self._storage.exported = True

    def __array__(self, dtype=None, copy=None):
        if not self._storage.device:
            self.export()
        view = self.read_view() if self._storage.device else self.numpy_view()
        if dtype is not None and view.dtype != dtype:
            return view.astype(dtype)
        return view.copy() if copy else view

    def shares_memory(self, other) -> bool:
        """Whether both arrays are views of one storage."""
        return self._storage is other._storage

    def _derive(self, memory, cls=None):
        cls = cls or class_of(self)
        array = wrap(memory, self.dtype_code, self.context, self._storage, cls=cls)
        array.writable = self.writable
        return array

    def detached(self, cls=None):
        """Make a detached view of the whole array, optionally of another class."""
        return self._derive(self._memory, cls)

    def view_as(self, shape):
        """Make a detached view with another shape of equal size."""
        try:
            return self._derive(self._memory.reshape(shape))
        except ValueError:
            raise MXNetError(f"cannot view shape {self.shape} as {shape}") from None

    def view_rows(self, begin, end):
        """Make a detached view of the rows begin <= row < end of the first axis."""
        if not self.shape or not 0 <= begin <= end <= self.shape[0]:
            raise IndexError(f"rows {begin}:{end} are out of bounds for shape {self.shape}")
        return self._derive(self._memory[begin:end])

    def view_bytes(self, offset, shape, dtype):
        """Make a detached view with `shape` and `dtype` of the memory from byte `offset` on."""
        kind, size = memory_type(dtype), math.prod(shape)
        octets = self._memory.reshape(-1).view(np.uint8)
        if offset < 0 or offset + size * kind.itemsize > octets.size:
            raise MXNetError(f"a view of shape {shape} at byte {offset} is out of bounds")
        array = self._derive(np.frombuffer(octets.data, kind, size, offset).reshape(shape))
        array.dtype_code, array.kind = dtype, (shape, dtype)
        return array

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __float__(self):
        return float(self._number("a float"))

    def __int__(self):
        return int(self._number("an integer"))

    def __getitem__(self, key):
        return self._get_index(key)

    def __setitem__(self, key, value):
        self._set_index(key, value)

    def __add__(self, other):
        return Operations.calculate(0, self, other)

    def __radd__(self, other):
        return Operations.calculate(0, other, self)

    def __sub__(self, other):
        return Operations.calculate(1, self, other)

    def __rsub__(self, other):
        return Operations.calculate(1, other, self)

    def __mul__(self, other):
        return Operations.calculate(2, self, other)

    def __rmul__(self, other):
        return Operations.calculate(2, other, self)

    def __truediv__(self, other):
        return Operations.calculate(3, self, other)

    def __rtruediv__(self, other):
        return Operations.calculate(3, other, self)

    def __mod__(self, other):
        return Operations.calculate(4, self, other)

    def __rmod__(self, other):
        return Operations.calculate(4, other, self)

    def __pow__(self, other):
        return Operations.calculate(5, self, other)

    def __rpow__(self, other):
        return Operations.calculate(5, other, self)

    def __eq__(self, other):
        return Operations.calculate(6, self, other)

    def __ne__(self, other):
        return Operations.calculate(7, self, other)

    def __gt__(self, other):
        return Operations.calculate(8, self, other)

    def __ge__(self, other):
        return Operations.calculate(9, self, other)

    def __lt__(self, other):
        return Operations.calculate(10, self, other)

    def __le__(self, other):
        return Operations.calculate(11, self, other)

    def __hash__(self):
        return id(self) >> 4
