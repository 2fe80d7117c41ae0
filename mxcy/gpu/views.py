"""CuPy's arrays over the memory of arrays on devices."""

import contextlib
import functools
import math
import sys

from mxcy.base import MXNetError
from mxcy.gpu import driver
from mxcy.gpu.copies import memory_type

__all__ = ["cupy", "finish", "interface", "view", "working_on"]


@functools.cache
def cupy():
    """CuPy, imported when it is first needed: that takes a second or two."""
    try:
        import cupy as module
    except ImportError as error:
        raise MXNetError(
            f"operators on GPUs need CuPy, which cannot be imported ({error}); "
            "pip install 'mxcy[cuda13]'"
        ) from error
    return module


class _Stream:
    """The stream of this thread on a device, as CUDA's stream protocol tells it."""

    def __init__(self, device):
        self._address = driver.stream(device)

    def __cuda_stream__(self):
        return 0, self._address


@contextlib.contextmanager
def working_on(device):
    """Have CuPy work on this thread's stream on a device, and wait for it at the end.

    Parameters
    ----------
    device : int

    Yields
    ------
    module
        CuPy.
    """
    module = cupy()
    with module.cuda.Device(device), module.cuda.Stream.from_external(_Stream(device)):
        yield module
        driver.wait(device)


def view(array):
    """An array on a device as CuPy's, over the same memory; bfloat16 as uint16 bits.

    This thread's stream has its turn to use it; `working_on` waits for what it does.

    Parameters
    ----------
    array : NDArrayBase

    Returns
    -------
    cupy.ndarray
    """
    module, kind = cupy(), memory_type(array.dtype_code)
    if not array.size:
        return module.empty(array.shape, kind)
    driver.turn(array.context.device_id, array.address, True)
    memory = module.cuda.UnownedMemory(
        array.address, math.prod(array.shape) * kind.itemsize, array, array.context.device_id
    )
    return module.ndarray(array.shape, kind, module.cuda.MemoryPointer(memory, 0))


def interface(array):
    """What ``__cuda_array_interface__`` tells of an array on a device, which has been computed.

    Parameters
    ----------
    array : NDArrayBase

    Raises
    ------
    AttributeError
        For an array in the memory of the host.
    """
    if not array.on_device:
        raise AttributeError("__cuda_array_interface__: the array is not on a GPU")
    array.wait_to_write()
    kind = memory_type(array.dtype_code)
    return {
        "version": 3,
        "shape": tuple(array.shape),
        "typestr": kind.str,
        "data": (array.address if array.size else 0, not array.writable),
        "strides": None,
        "stream": None,
    }


def finish():
    """Wait for what a user's code has CuPy do on this thread, if there is CuPy at all."""
    module = sys.modules.get("cupy")
    if module is not None:
        module.cuda.get_current_stream().synchronize()
