"""Shared-memory arrays: the context ``cpu_shared``.

Such an array can be sent to another process by `multiprocessing`, in a queue, a pipe or the
arguments of a process. Only a file descriptor is sent, and both processes access the same elements;
the sender must live until it is received. Other arrays are first copied to shared memory in
programs that use Gluon's data sets or have created an array on ``cpu_shared``; otherwise
`multiprocessing` pickles them.
"""

import functools
import math

import numpy as np

from mxcy._base import dtypes
from mxcy._library import front
from mxcy._library.shared_memory import Segment
from mxcy.base import MXNetError
from mxcy.context import cpu_shared
from mxcy.ndarray.ndarray import NDArray

__all__ = ["over", "rebuild", "reduce_array", "register", "segment_of", "shared_array"]


def shared_array(shape, dtype, context):
    """Allocate a shared-memory array for a front; see `mxcy._library.services.Services`."""
    register()
    try:
        segment = Segment(math.prod(shape) * dtypes.dtype_of(dtype).itemsize)
    except MXNetError as error:
        raise MXNetError(f"{context}: {error}") from None
    return front.from_memory(segment.address, segment, shape, dtype, context)


def segment_of(array):
    """The `Segment` that holds an array, if it can be sent to other processes; else None."""
    owner = array.owner
    return owner if isinstance(owner, Segment) and owner.fd >= 0 else None


def over(cls, memory, shape, dtype):
    """Make an array on ``cpu_shared(0)`` over a writable buffer, which it keeps alive."""
    if not math.prod(shape):
        return _as(cls, front.empty(shape, dtype, cpu_shared()))
    address = np.frombuffer(memory, np.uint8).ctypes.data
    array = front.from_memory(address, memory, shape, dtype, cpu_shared())
    array.export()
    return _as(cls, array)


def _as(cls, array):
    if type(array) is cls:
        return array
    view = cls.__new__(cls)
    view.become(array)
    return view


def reduce_array(array):
    """Reduce an array for `multiprocessing`; see `rebuild`.

    Parameters
    ----------
    array : NDArray
        The array, copied unless it is in shared memory.
    """
    from multiprocessing.context import get_spawning_popen
    from multiprocessing.reduction import DupFd

    array.wait_to_read()
    if not array.size:
        return array.__reduce__()
    shared, segment = array, segment_of(array)
    if segment is None:
        shared = front.empty(array.shape, array.dtype_code, cpu_shared())
        shared.numpy_view()[...] = array.numpy_view()
        segment = segment_of(shared)
    starting = get_spawning_popen()
    if starting is not None:  # descriptors are passed once the process is set up
        vars(starting).setdefault("segments", []).append(segment)
    shared.export()
    place = shared.address - segment.address
    handle = DupFd(segment.fd)
    return rebuild, (type(array), handle, segment.size, place, array.shape, array.dtype_code)


def rebuild(cls, handle, size, place, shape, dtype):
    """Rebuild an array sent by another process.

    Parameters
    ----------
    cls : type
        Its class.
    handle : object
        `multiprocessing`'s wrapper of a file descriptor; ``handle.detach()`` returns it.
    size, place : int
        Size of the segment and offset of the array, in bytes.
    shape : tuple of int
    dtype : int
        The element type's code.
    """
    segment = Segment.attached(handle.detach(), size)
    array = front.from_memory(segment.address + place, segment, shape, dtype, cpu_shared())
    array.export()
    return _as(cls, array)


@functools.cache
def register(cls=NDArray):
    """Make `multiprocessing` send arrays of exactly this class by shared memory."""
    from multiprocessing.reduction import ForkingPickler

    ForkingPickler.register(cls, reduce_array)
