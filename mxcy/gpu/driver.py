"""The CUDA driver, as `kernels/include/mxcy_gpu.h` offers it to Python."""

import ctypes

from mxcy._library.open import open_library
from mxcy.base import MXNetError

__all__ = ["HOST", "copy", "count", "memory", "open_driver", "pinned_source", "source", "wait"]

HOST = -1  # the device number of this machine's memory

_address, _number, _bytes = ctypes.c_void_p, ctypes.c_int32, ctypes.c_size_t


def _declared():
    """The native library, with the types of the functions that are called here."""
    library = open_library()
    for name, result, arguments in (
        ("mx_last_error", ctypes.c_char_p, ()),
        ("mx_gpu_open", ctypes.c_int, (ctypes.c_char_p,)),
        ("mx_gpu_count", _number, ()),
        ("mx_gpu_memory", ctypes.c_int, (_number, _address, _address)),
        ("mx_gpu_source", _address, (_number,)),
        ("mx_gpu_pinned_source", _address, ()),
        ("mx_gpu_copy", ctypes.c_int, (_address, _number, _address, _number, _bytes)),
        ("mx_gpu_stream", _address, (_number,)),
        ("mx_gpu_wait", ctypes.c_int, (_number,)),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _declared()


def _check(status):
    """Raise the error of a function that returned a negative number."""
    if status < 0:
        raise MXNetError(_library.mx_last_error().decode())
    return status


def open_driver(path):
    """Open a driver library, but do not start it.

    Returns
    -------
    str
        Why it cannot be opened, empty when it is open.
    """
    return "" if _library.mx_gpu_open(path.encode()) == 0 else _library.mx_last_error().decode()


def count():
    """The number of devices; starts the driver."""
    return _check(_library.mx_gpu_count())


def memory(device):
    """(free, total) bytes of a device."""
    free, total = _bytes(), _bytes()
    _check(_library.mx_gpu_memory(device, ctypes.byref(free), ctypes.byref(total)))
    return free.value, total.value


def source(device):
    """The address of the ``mx_pool_source`` of a device's memory."""
    return _library.mx_gpu_source(device)


def pinned_source():
    """The address of the ``mx_pool_source`` of pinned memory."""
    return _library.mx_gpu_pinned_source()


def copy(target, target_device, origin, origin_device, size):
    """Copy `size` bytes between addresses on devices, or the `HOST`; it is done on return."""
    _check(_library.mx_gpu_copy(target, target_device, origin, origin_device, size))


def stream(device):
    """The address of this thread's stream on a device."""
    address = _library.mx_gpu_stream(device)
    return _check(-1) if address is None else address


def wait(device):
    """Wait for this thread's stream on a device; raises the error of what ran there."""
    _check(_library.mx_gpu_wait(device))
