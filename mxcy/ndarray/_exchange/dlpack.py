"""DLPack: arrays handed to and taken from other libraries without a copy."""

import numpy as np

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.context import cpu

__all__ = ["device", "export", "from_dlpack", "taken", "to_dlpack_for_read", "to_dlpack_for_write"]

_CPU = 1  # DLPack's number for memory of the CPU
_TELLS_VERSION = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


def device(array):
    """DLPack's name for the device of an array: (type, number)."""
    return _CPU, 0


def export(array, stream=None, max_version=None, dl_device=None, copy=None):
    """A DLPack capsule over the memory of an array, as ``__dlpack__`` returns it.

    Parameters
    ----------
    array : NDArray
    stream : None
        Memory of the CPU has none.
    max_version : (int, int), optional
        The newest version of DLPack that the consumer knows.
    dl_device : (int, int), optional
        Where the consumer wants the memory, which is on the CPU.
    copy : bool, optional
        True hands over a copy.

    Raises
    ------
    ValueError
        When a stream is given.
    BufferError
        When the memory is wanted on another device.
    """
    if stream is not None:
        raise ValueError(f"DLPack: memory of the CPU has no streams, got stream={stream!r}")
    if dl_device is not None and tuple(map(int, dl_device)) != device(array):
        raise BufferError(f"DLPack: arrays are on device {device(array)}, not {dl_device}")
    values = _exportable(array)
    if not _TELLS_VERSION:
        return (values.copy() if copy else values).__dlpack__()
    return values.__dlpack__(max_version=max_version, copy=copy)


def _exportable(array):
    if array.dtype_code == dtypes.CODES["bfloat16"]:
        raise MXNetError("DLPack: arrays of dtype bfloat16 cannot be handed over")
    array.export()
    return array.numpy_view()


def to_dlpack_for_read(data):
    """A DLPack capsule over the memory of an array, for a consumer that only reads.

    Parameters
    ----------
    data : NDArray

    Returns
    -------
    PyCapsule
        Good for one consumer.
    """
    return export(data)


def to_dlpack_for_write(data):
    """A DLPack capsule over the memory of an array, for a consumer that also writes.

    Parameters
    ----------
    data : NDArray

    Returns
    -------
    PyCapsule
        Good for one consumer.
    """
    if not data.writable:
        raise ValueError("to_dlpack_for_write: the array is read-only")
    return export(data)


class _Capsule:
    """What `numpy.from_dlpack` wants, around a capsule."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **options):
        return self._capsule

    def __dlpack_device__(self):
        return _CPU, 0


class _Writable:
    """A NumPy array as one that may be written to.

    Capsules of the first kind do not say whether they may be, and NumPy takes them for read-only.
    """

    def __init__(self, values):
        self._values = values
        interface = values.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def from_dlpack(dlpack, copy=None):
    """An array over memory of another library.

    Parameters
    ----------
    dlpack : PyCapsule, or an object with ``__dlpack__``
        A capsule can be consumed once.
    copy : bool, optional
        True copies, False never does.

    Returns
    -------
    NDArray
        It shares the memory, unless that is read-only or not contiguous.

    Raises
    ------
    MXNetError
        When `mx.nd` has no such element type.
    BufferError
        When the memory cannot be shared and `copy` is False.
    """
    array = taken(dlpack, copy)
    dtypes.real_code_of(array.dtype)
    return array


def taken(dlpack, copy=None):
    """What `from_dlpack` returns, also of complex numbers, which arrays of `mx.np` may hold."""
    if hasattr(dlpack, "__dlpack__"):
        values = np.from_dlpack(dlpack)
    else:
        values = np.asarray(_Writable(np.from_dlpack(_Capsule(dlpack))))
    shareable = values.flags.c_contiguous and values.flags.writeable
    if copy is False and not shareable:
        raise BufferError("from_dlpack: memory that is read-only or not contiguous must be copied")
    values = np.ascontiguousarray(values).reshape(values.shape)
    copies = bool(copy) or not shareable
    return front.from_numpy(values, dtypes.code_of(values.dtype), cpu(), copy=copies)
