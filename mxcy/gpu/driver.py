"""Python bindings of the CUDA driver functions in `kernels/include/mxcy_gpu.h`."""

import ctypes

from mxcy._base.errors import kernel_error
from mxcy._library.open import open_library

__all__ = [
    "HOST",
    "alarm",
    "allow_peers",
    "attribute",
    "close_graphs",
    "conv_plan",
    "conv_seconds",
    "copy",
    "count",
    "forget_conv_plan",
    "function",
    "graph_counts",
    "graphs",
    "lines",
    "memory",
    "module",
    "open_blas",
    "open_cudnn",
    "open_driver",
    "pinned_source",
    "settle",
    "source",
    "start",
    "stream",
    "streams",
    "turn",
    "version",
    "wait",
]

HOST = -1  # the device number of host memory

_address, _number, _bytes = ctypes.c_void_p, ctypes.c_int32, ctypes.c_size_t
_word = ctypes.c_uint32


def _declared():
    """Return the native library with the signatures of the functions used here."""
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
        ("mx_gpu_turn", ctypes.c_int, (_number, _address, _number)),
        ("mx_gpu_settle", ctypes.c_int, (_number, _address, _number)),
        ("mx_gpu_streams", ctypes.c_int64, (_number,)),
        ("mx_gpu_attribute", ctypes.c_int, (_number, _number)),
        ("mx_gpu_module", _address, (_number, ctypes.c_char_p)),
        ("mx_gpu_function", _address, (_number, _address, ctypes.c_char_p)),
        ("mx_gpu_start", ctypes.c_int, (_number, _address) + (_address,) * 2 + (_word, _address)),
        ("mx_gpu_alarm", _number, (_number, ctypes.c_char_p)),
        ("mx_gpu_lines", ctypes.c_char_p, ()),
        ("mx_gpu_allow_peers", None, (_number,)),
        ("mx_gpu_driver_version", _number, ()),
        ("mx_gpu_blas_open", ctypes.c_int, (ctypes.c_char_p, _number)),
        ("mx_gpu_cudnn_open", ctypes.c_int, (ctypes.c_char_p,)),
        ("mx_gpu_conv_plan", _address, (_number, ctypes.c_char_p, ctypes.c_char_p, _address)),
        ("mx_gpu_conv_forget", None, (_address,)),
        ("mx_gpu_conv_seconds", ctypes.c_double, (_number, _address, _address, ctypes.c_int64)),
        (
            "mx_gpu_graphs_create",
            _address,
            (_number, _number, _number, ctypes.c_int64, ctypes.c_char_p, _word, _number, _address),
        ),
        ("mx_gpu_graphs_destroy", None, (_address,)),
        ("mx_gpu_graphs_counts", None, (_address, _address)),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _declared()


def _check(status):
    """Raise the error of a function that returned a negative number."""
    if status < 0:
        raise kernel_error("", _library.mx_last_error().decode())
    return status


def open_driver(path):
    """Open a driver library without starting it.

    Returns
    -------
    str
        Why it cannot be opened; empty on success.
    """
    return "" if _library.mx_gpu_open(path.encode()) == 0 else _library.mx_last_error().decode()


def open_blas(path, loaded_only):
    """Open cuBLAS, perhaps only if it is loaded already; return whether that succeeded."""
    return _library.mx_gpu_blas_open(path.encode(), loaded_only) == 0


def open_cudnn(path):
    """Open cuDNN; return whether that succeeded."""
    return _library.mx_gpu_cudnn_open(path.encode()) == 0


def conv_plan(device, properties, text):
    """Return (handle, bytes of workspace) of a cuDNN plan from its text and the device's."""
    size = ctypes.c_int64()
    plan = _library.mx_gpu_conv_plan(device, properties.encode(), text.encode(), ctypes.byref(size))
    return (_check(-1) if plan is None else plan), size.value


def forget_conv_plan(plan):
    """Destroy a plan."""
    _library.mx_gpu_conv_forget(plan)


def conv_seconds(device, plan, sizes, workspace):
    """Time a plan in seconds, on operands and a result of the given sizes in bytes."""
    bytes_ = (ctypes.c_int64 * 3)(*sizes)
    return _check(_library.mx_gpu_conv_seconds(device, plan, bytes_, workspace))


def allow_peers(allowed):
    """Allow direct copies between devices, where possible; else they go through the host."""
    _library.mx_gpu_allow_peers(allowed)


def version():
    """Return the CUDA version of the driver, such as 13000."""
    return _check(_library.mx_gpu_driver_version())


def count():
    """Return the number of devices; starts the driver."""
    return _check(_library.mx_gpu_count())


def memory(device):
    """Return (free, total) bytes of a device."""
    free, total = _bytes(), _bytes()
    _check(_library.mx_gpu_memory(device, ctypes.byref(free), ctypes.byref(total)))
    return free.value, total.value


def source(device):
    """Return the address of the ``mx_pool_source`` of a device."""
    return _library.mx_gpu_source(device)


def pinned_source():
    """Return the address of the ``mx_pool_source`` of pinned memory."""
    return _library.mx_gpu_pinned_source()


def copy(target, target_device, origin, origin_device, size):
    """Copy `size` bytes between devices or the `HOST`, synchronously."""
    _check(_library.mx_gpu_copy(target, target_device, origin, origin_device, size))


def stream(device):
    """Return the CUstream of this thread on a device."""
    address = _library.mx_gpu_stream(device)
    return _check(-1) if address is None else address


def wait(device):
    """Wait for this thread's stream on a device, and raise its error."""
    _check(_library.mx_gpu_wait(device))


def turn(device, address, writes):
    """Make this thread's stream wait until it may read or write memory of a device."""
    _check(_library.mx_gpu_turn(device, address, writes))


def settle(device, address, writes=True):
    """Wait until nothing writes (or uses) memory of a device, and raise its error."""
    _check(_library.mx_gpu_settle(device, address, writes))


def streams(device):
    """Return the number of streams of a device."""
    return _library.mx_gpu_streams(device)


def attribute(device, number):
    """Return a device attribute by its number in the driver."""
    return _check(_library.mx_gpu_attribute(device, number))


def module(device, image):
    """Load machine code on a device; return the handle of the module."""
    handle = _library.mx_gpu_module(device, image)
    return _check(-1) if handle is None else handle


def function(device, module, name):
    """Return the handle of a kernel."""
    handle = _library.mx_gpu_function(device, module, name.encode())
    return _check(-1) if handle is None else handle


def start(device, function, grid, block, shared, arguments):
    """Launch a kernel on this thread's stream.

    Parameters
    ----------
    device, function : int
    grid, block : tuple of int
        Three extents each.
    shared : int
        Bytes of dynamic shared memory.
    arguments : list of ctypes objects
        Each of exactly the parameter's type.
    """
    places = (_address * max(len(arguments), 1))(*map(ctypes.addressof, arguments))
    extents = (_word * 3)(*grid), (_word * 3)(*block)
    _check(_library.mx_gpu_start(device, function, *extents, shared, places))


def alarm(device, text):
    """Return the number of the alarm with a text, in which kernels fill in ``{}``."""
    return _check(_library.mx_gpu_alarm(device, text.encode()))


def graphs(device, is_training, is_verbose, messages, file, file_flags, labels):
    """Create the CUDA graphs of a plan; see ``mx_gpu_graphs_create``."""
    texts = (ctypes.c_char_p * max(len(labels), 1))(*(label.encode() for label in labels))
    return _library.mx_gpu_graphs_create(
        device, is_training, is_verbose, messages, file.encode(), file_flags, len(labels), texts
    )


def close_graphs(address):
    """Destroy the graphs at an address."""
    _library.mx_gpu_graphs_destroy(address)


def graph_counts():
    """Return the numbers of captures and replays in this process."""
    captured, replayed = ctypes.c_int64(), ctypes.c_int64()
    _library.mx_gpu_graphs_counts(ctypes.byref(captured), ctypes.byref(replayed))
    return captured.value, replayed.value


def lines():
    """Return the lines of elemwise.def."""
    return _library.mx_gpu_lines().decode()
