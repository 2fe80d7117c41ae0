"""CuPy arrays over the memory of device arrays."""

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
    """Return CuPy, imported on first use: that takes a second or two."""
    try:
        import cupy as module
    except ImportError as error:
        raise MXNetError(
            f"operators on GPUs need CuPy, which cannot be imported ({error}); "
            "pip install 'mxcy[cuda13]'"
        ) from error
    return module


class _Stream:
    """The calling thread's stream on a device, for the CUDA stream protocol."""

    def __init__(self, device):
        self._address = driver.stream(device)

    def __cuda_stream__(self):
        return 0, self._address


@contextlib.contextmanager
def working_on(device):
    """Run CuPy on this thread's stream on a device, and wait for it at the end.

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
    """Return a CuPy array over the memory of a device array; bfloat16 as uint16.

    This thread's stream waits for earlier uses; `working_on` waits for this one.

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
    """Return ``__cuda_array_interface__`` of a device array, once it is computed.

    Parameters
    ----------
    array : NDArrayBase

    Raises
    ------
    AttributeError
        For an array in host memory.
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
    """Wait for CuPy's work on this thread, if CuPy is imported."""
    module = sys.modules.get("cupy")
    if module is not None:
        module.cuda.get_current_stream().synchronize()
