"""DLPack: zero-copy exchange of arrays with other libraries."""

import numpy as np

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.context import cpu

__all__ = ["device", "export", "from_dlpack", "taken", "to_dlpack_for_read", "to_dlpack_for_write"]

_CPU = 1  # DLPack's device type of the CPU
_TELLS_VERSION = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


def device(array):
    """The DLPack device of an array: (type, id)."""
    return _CPU, 0


def export(array, stream=None, max_version=None, dl_device=None, copy=None):
    """Make a DLPack capsule of an array, as returned by ``__dlpack__``.

    Parameters
    ----------
    array : NDArray
    stream : None
        Must be None, as CPU memory has no streams.
    max_version : (int, int), optional
        Newest DLPack version that the consumer supports.
    dl_device : (int, int), optional
        Device requested by the consumer, which must be the CPU.
    copy : bool, optional
        Whether to export a copy.

    Raises
    ------
    ValueError
        When a stream is given.
    BufferError
        If another device is requested.
    """
    if stream is not None:
        raise ValueError(f"DLPack: CPU memory has no streams, got stream={stream!r}")
    if dl_device is not None and tuple(map(int, dl_device)) != device(array):
        raise BufferError(f"DLPack: arrays are on device {device(array)}, not {dl_device}")
    values = _exportable(array)
    if not _TELLS_VERSION:
        return (values.copy() if copy else values).__dlpack__()
    return values.__dlpack__(max_version=max_version, copy=copy)


def _exportable(array):
    if array.dtype_code == dtypes.CODES["bfloat16"]:
        raise MXNetError("DLPack: arrays of dtype bfloat16 cannot be exported")
    array.export()
    return array.numpy_view()


def to_dlpack_for_read(data):
    """Make a DLPack capsule of an array for a consumer that only reads.

    Parameters
    ----------
    data : NDArray

    Returns
    -------
    PyCapsule
        A capsule for a single consumer.
    """
    return export(data)


def to_dlpack_for_write(data):
    """Make a DLPack capsule of an array for a consumer that also writes.

    Parameters
    ----------
    data : NDArray

    Returns
    -------
    PyCapsule
        A capsule for a single consumer.
    """
    if not data.writable:
        raise ValueError("to_dlpack_for_write: the array is read-only")
    return export(data)


class _Capsule:
    """Wraps a capsule for `numpy.from_dlpack`."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **options):
        return self._capsule

    def __dlpack_device__(self):
        return _CPU, 0


class _Writable:
    """Wraps a NumPy array to be exported as writable.

    Unversioned capsules have no read-only flag, and NumPy considers them read-only.
    """

    def __init__(self, values):
        self._values = values
        interface = values.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def from_dlpack(dlpack, copy=None):
    """Make an array over another library's memory.

    Parameters
    ----------
    dlpack : PyCapsule, or an object with ``__dlpack__``
        A capsule can be consumed once.
    copy : bool, optional
        True always copies, False never does.

    Returns
    -------
    NDArray
        An array sharing the memory, unless it is read-only or not contiguous.

    Raises
    ------
    TypeError
        If `dlpack` is neither.
    MXNetError
        If `mx.nd` does not support the element type.
    BufferError
        If the memory cannot be shared and `copy` is False.
    """
    array = taken(dlpack, copy)
    dtypes.real_code_of(array.dtype)
    return array


def taken(dlpack, copy=None):
    """Like `from_dlpack`, but also for complex dtypes, which `mx.np` supports."""
    if hasattr(dlpack, "__dlpack__"):
        values = np.from_dlpack(dlpack)
    else:
        if type(dlpack).__name__ != "PyCapsule":
            raise TypeError(f"from_dlpack: expected a capsule, got {type(dlpack).__name__}")
        values = np.asarray(_Writable(np.from_dlpack(_Capsule(dlpack))))
    shareable = values.flags.c_contiguous and values.flags.writeable
    if copy is False and not shareable:
        raise BufferError("from_dlpack: memory that is read-only or not contiguous must be copied")
    values = np.ascontiguousarray(values).reshape(values.shape)
    copies = bool(copy) or not shareable
    return front.from_numpy(values, dtypes.code_of(values.dtype), cpu(), copy=copies)
