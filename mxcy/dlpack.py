"""`mx.dlpack`: DLPack's C structures, and factories for functions that exchange arrays."""

import ctypes
import enum

from mxcy._base.listing import listing
from mxcy.ndarray._exchange import dlpack as exchange
from mxcy.ndarray._functions import creation

__all__ = [
    "DLContext",
    "DLDataType",
    "DLDeviceType",
    "DLManagedTensor",
    "DLTensor",
    "DeleterFunc",
    "dl_managed_tensor_deleter",
    "from_dlpack_doc",
    "from_numpy_doc",
    "ndarray_from_dlpack",
    "ndarray_from_numpy",
    "ndarray_to_dlpack_for_read",
    "ndarray_to_dlpack_for_write",
    "to_dlpack_for_read_doc",
    "to_dlpack_for_write_doc",
]

__dir__ = listing(__name__)


from_dlpack_doc, from_numpy_doc = exchange.from_dlpack.__doc__, creation.from_numpy.__doc__
to_dlpack_for_read_doc = exchange.to_dlpack_for_read.__doc__
to_dlpack_for_write_doc = exchange.to_dlpack_for_write.__doc__


class DLDeviceType(enum.IntEnum):
    """DLPack's device types."""

    DLCPU = 1
    DLGPU = 2
    DLCPUPINNED = 3
    DLOPENCL = 4
    DLVULKAN = 7
    DLMETAL = 8
    DLVPI = 9
    DLROCM = 10
    DLEXTDEV = 12


class DLContext(ctypes.Structure):
    """A device."""

    _fields_ = [("device_type", ctypes.c_int), ("device_id", ctypes.c_int)]


class DLDataType(ctypes.Structure):
    """An element type; `TYPE_MAP` has the fields of NumPy's types by name."""

    _fields_ = [("type_code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]
    TYPE_MAP = {
        "int32": (0, 32, 1),
        "int64": (0, 64, 1),
        "bool": (1, 1, 1),
        "uint8": (1, 8, 1),
        "uint32": (1, 32, 1),
        "uint64": (1, 64, 1),
        "float16": (2, 16, 1),
        "float32": (2, 32, 1),
        "float64": (2, 64, 1),
    }


class DLTensor(ctypes.Structure):
    """An array; strides count elements and are NULL for a contiguous one."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("ctx", DLContext),
        ("ndim", ctypes.c_int),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class DLManagedTensor(ctypes.Structure):
    """An array, its owner, and the function that releases the owner."""


DeleterFunc = ctypes.CFUNCTYPE(None, ctypes.POINTER(DLManagedTensor))
DLManagedTensor._fields_ = [
    ("dl_tensor", DLTensor),
    ("manager_ctx", ctypes.c_void_p),
    ("deleter", DeleterFunc),
]


@DeleterFunc
def dl_managed_tensor_deleter(dl_managed_tensor_handle):
    """Release the reference to the Python object that owns the array."""
    owner = ctypes.cast(dl_managed_tensor_handle.contents.manager_ctx, ctypes.py_object)
    ctypes.pythonapi.Py_DecRef(owner)


def _as(array_cls, array):
    return array if isinstance(array, array_cls) else array_cls(array)


def ndarray_from_dlpack(array_cls):
    """Make a function that imports arrays of other libraries.

    Parameters
    ----------
    array_cls : type
        Class of the returned arrays: NDArray or a subclass.

    Returns
    -------
    callable
        ``from_dlpack(dlpack)``, like `mxcy.nd.from_dlpack`.
    """

    def from_dlpack(dlpack):
        kind = type(dlpack)
        capsule = (kind.__module__, kind.__name__) == ("builtins", "PyCapsule")
        if not capsule and not hasattr(dlpack, "__dlpack__"):
            raise AttributeError("Required PyCapsule or object with __dlpack__")
        return _as(array_cls, exchange.from_dlpack(dlpack))

    return from_dlpack


def ndarray_to_dlpack_for_read():
    """Return `mxcy.nd.to_dlpack_for_read`."""
    return exchange.to_dlpack_for_read


def ndarray_to_dlpack_for_write():
    """Return `mxcy.nd.to_dlpack_for_write`."""
    return exchange.to_dlpack_for_write


def ndarray_from_numpy(array_cls, array_create_fn):
    """Make a function that converts NumPy arrays.

    Parameters
    ----------
    array_cls : type
        Class of the returned arrays: NDArray or a subclass.
    array_create_fn : callable
        ``array_create_fn(values, dtype=...)``, used for copies.

    Returns
    -------
    callable
        ``from_numpy(ndarray, zero_copy=True)``, like `mxcy.nd.from_numpy`.
    """

    def from_numpy(ndarray, zero_copy=True):
        if not zero_copy:
            return array_create_fn(ndarray, dtype=ndarray.dtype)
        return _as(array_cls, creation.from_numpy(ndarray))

    return from_numpy
