"""libmxcy.so through ctypes: the structures and functions of kernels/include/mxcy.h."""

import ctypes

from mxcy._base.errors import kernel_error
from mxcy._library.open import open_library
from mxcy._library.tensor import Tensor

__all__ = [
    "Call",
    "KERNEL",
    "LOCKED_KERNEL",
    "lib",
    "check",
    "initialise",
    "set_threads",
    "flush_denormals",
    "block",
    "has_kernel",
    "find_kernel",
    "query",
    "measure",
    "threads",
    "region_time",
    "race",
    "second_cache",
]

WRITE, ADD, TAKES_ADD = 1, 3, 1


class Call(ctypes.Structure):
    """mx_call."""

    _fields_ = [
        ("nin", ctypes.c_int32),
        ("nout", ctypes.c_int32),
        ("ins", ctypes.c_void_p),
        ("outs", ctypes.c_void_p),
        ("req", ctypes.c_void_p),
        ("params", ctypes.c_void_p),
        ("workspace", ctypes.c_void_p),
        ("workspace_size", ctypes.c_size_t),
        ("rng", ctypes.c_void_p),
        ("threads", ctypes.c_int32),
        ("state", ctypes.c_void_p),
    ]


KERNEL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)  # the address of a Call
LOCKED_KERNEL = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)  # keeps the Python lock


def _open():
    library = open_library()
    library.mx_last_error.restype = ctypes.c_char_p
    library.mx_kernel_find.restype = ctypes.c_void_p
    library.mx_kernel_find.argtypes = [ctypes.c_char_p, ctypes.c_int32, ctypes.c_void_p]
    library.mx_threads_for.argtypes = [ctypes.c_int64]
    library.mx_rng_create.restype = ctypes.c_void_p
    library.mx_rng_destroy.argtypes = [ctypes.c_void_p]
    library.mx_rng_seed.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32]
    library.mx_rng_save.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64]
    library.mx_rng_save.restype = ctypes.c_int64
    library.mx_rng_restore.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64]
    library.mx_kernel_query.restype = library.mx_kernel_time.restype = ctypes.c_int64
    library.mx_kernel_query.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int32]
    library.mx_kernel_time.argtypes = [
        ctypes.c_char_p,
        ctypes.c_int32,
        ctypes.c_void_p,
        ctypes.c_int64,
    ]
    library.mx_region_time.restype = ctypes.c_double
    library.mx_region_time.argtypes = [ctypes.c_int32, ctypes.c_int64]
    library.mx_kernel_race.argtypes = [
        ctypes.c_char_p,
        ctypes.c_int32,
        ctypes.c_void_p,
        ctypes.c_int32,
        ctypes.c_int64,
        ctypes.c_void_p,
    ]
    library.mx_second_cache.restype = ctypes.c_int64
    library.mx_init.argtypes = [ctypes.c_int32, ctypes.c_int32, ctypes.c_int64]
    return library


lib = _open()


def check(status, what):
    """Raise the library's error text (an MXNetError as a rule) unless `status` is 0."""
    if status != 0:
        raise kernel_error(what, lib.mx_last_error().decode())


def initialise(isa, threads, parallel_size):
    """Initialise the native library; see mx_init in mxcy.h."""
    check(lib.mx_init(isa, threads, parallel_size), "")


def set_threads(threads):
    """Set the size of the parallel team; return the previous size."""
    if threads < 1:
        raise ValueError(f"the number of threads must be positive, got {threads}")
    before = lib.mx_threads()
    lib.mx_set_threads(threads)
    return before


def flush_denormals(flush):
    """Flush denormal numbers to zero or not; return the previous state."""
    return bool(lib.mx_flush_denormals(bool(flush)))


def threads():
    """The size of the parallel team."""
    return lib.mx_threads()


def block():
    """The number of channels per block: the number of floats in a vector register."""
    return 16 if lib.mx_isa() >= 4 else 8


def find_kernel(name, dtype):
    """(address or None, flags) of a kernel for an element type."""
    flags = ctypes.c_uint32()
    address = lib.mx_kernel_find(name.encode(), dtype, ctypes.byref(flags))
    return address, flags.value


def has_kernel(name, dtype):
    """Whether the kernel table contains `name` for a dtype."""
    return bool(lib.mx_kernel_find(name.encode(), dtype, None))


_QUERIES = {"accepts": 0, "workspace": 1, "packed": 2, "format": 3}


def _question(params, ins, outs):
    """An mx_call that describes a signature without data, and what it refers to."""
    specs = [*ins, *outs]
    tensors = (Tensor * max(len(specs), 1))()
    extents = [(ctypes.c_int64 * max(len(spec.shape), 1))(*spec.shape) for spec in specs]
    for tensor, shape, spec in zip(tensors, extents, specs, strict=False):
        tensor.shape, tensor.ndim = ctypes.addressof(shape), len(spec.shape)
        tensor.dtype = spec.dtype
    call = Call(nin=len(ins), nout=len(outs), ins=ctypes.addressof(tensors))
    call.outs = call.ins + len(ins) * ctypes.sizeof(Tensor)
    if params is not None:
        params = ctypes.create_string_buffer(params, len(params))
        call.params = ctypes.addressof(params)
    return call, (tensors, extents, params)


def query(name, params, ins, outs, what):
    """Ask a kernel about a signature; see `_cy/native.pyx`."""
    call, _kept = _question(params, ins, outs)
    answer = lib.mx_kernel_query(name.encode(), ctypes.byref(call), _QUERIES[what])
    if what == "accepts":
        return None if answer == 1 else lib.mx_last_error().decode()
    check(0 if answer >= 0 else -1, "")
    return answer


def measure(name, dtype, params, ins, outs, workspace, work, budget):
    """The least time of some runs of a kernel, in nanoseconds; see `_cy/native.pyx`."""
    call, _kept = _question(params, ins, outs)
    call.workspace_size, call.threads = workspace, lib.mx_threads_for(work)
    best = lib.mx_kernel_time(name.encode(), dtype, ctypes.byref(call), budget)
    check(0 if best >= 0 else -1, f"kernel {name}: ")
    return best


def region_time(threads, budget):
    """Measure the time of a parallel region in nanoseconds."""
    return lib.mx_region_time(threads, budget)


def race(name, dtype, params, ins, outs, workspace, team, budget):
    """Nanoseconds of a kernel with one thread and with a team; see `_cy/native.pyx`."""
    call, _kept = _question(params, ins, outs)
    call.workspace_size, call.threads = workspace, team
    times = (ctypes.c_double * 2)()
    address = ctypes.byref(call)
    check(
        lib.mx_kernel_race(name.encode(), dtype, address, team, budget, times), f"kernel {name}: "
    )
    return times[0], times[1]


def second_cache():
    """The size of a core's second-level cache in bytes."""
    return lib.mx_second_cache()
