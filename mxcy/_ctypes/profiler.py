"""The profiler of the native library: see `_cy/profiler.pyx`."""

import ctypes
import sys

from mxcy._ctypes.native import check, lib

__all__ = ["recorder"]

recorder = sys.modules[__name__]

SYMBOLIC, IMPERATIVE, API, MEMORY, RUNNING = 1, 2, 4, 8, 16
CALLS = API | MEMORY  # when one of these is on, a call tells that it is one
OPERATOR, _API_CALL = 0, 2

profiled = ctypes.c_int32.in_dll(lib, "mx_profile_bits")  # .value: what is recorded now
_named = {}


class _Row(ctypes.Structure):
    """mx_profile_row."""

    _fields_ = [
        ("category", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        *((name, ctypes.c_int64) for name in ("count", "total", "least", "most", "last")),
        ("kind", ctypes.c_int32),
    ]


class _Allocation(ctypes.Structure):
    """mx_allocation."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("bytes", "actual")),
        *((name, ctypes.c_int32) for name in ("device_type", "device_id", "reused")),
        ("scope", ctypes.c_char_p),
        ("owner", ctypes.c_char_p),
    ]


for _name in ("now", "waiting", "dropped", "epoch", "live"):
    getattr(lib, f"mx_profile_{_name}").restype = ctypes.c_int64
lib.mx_profile_live.argtypes = [ctypes.c_void_p, ctypes.c_int64]
lib.mx_profile_limit.argtypes = [ctypes.c_int64]
lib.mx_profile_source.argtypes = [ctypes.c_int32, *[ctypes.c_char_p] * 3]
lib.mx_profile_add.argtypes = [ctypes.c_int32, ctypes.c_int64, ctypes.c_int64]
lib.mx_profile_scope.argtypes = [ctypes.c_char_p]
lib.mx_profile_alloc.argtypes = [
    ctypes.c_int32,
    ctypes.c_int32,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.c_int64,
]
lib.mx_profile_free.argtypes = [ctypes.c_void_p]
lib.mx_profile_kernel.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32]
lib.mx_plan_sources.argtypes = [ctypes.c_void_p, ctypes.c_void_p]

set_bits = lib.mx_profile_set
set_limit = lib.mx_profile_limit
now = lib.mx_profile_now
count = lib.mx_profile_count
reset = lib.mx_profile_reset
set_device = lib.mx_profile_device  # of this thread's events
inside = lib.mx_profile_inside  # this thread's operators are parts of a source's; the one before
set_owner = lib.mx_profile_owner  # the source under which allocations are listed
waiting, dropped, epoch = lib.mx_profile_waiting, lib.mx_profile_dropped, lib.mx_profile_epoch


def source(kind, category, name, args=""):
    """The number of a source of events."""
    return lib.mx_profile_source(kind, category.encode(), name.encode(), args.encode())


def operator_source(call, node=""):
    """The event source of a prepared call, or of `node` in a graph."""
    return source(OPERATOR, "operator", call.op.name, call.traced(node))


def bits():
    """The bits of what is currently recorded."""
    return profiled.value


def add(number, begin, end):
    """Record an event of a source if the profiler runs; `end` is the value of a counter."""
    if profiled.value & RUNNING:
        lib.mx_profile_add(number, begin, end)


def api_begin():
    """The current time if API calls or waits are recorded, else 0."""
    return lib.mx_profile_now() if profiled.value & (API | IMPERATIVE) else 0


def api_end(name, begin):
    """Record an API call that began at `begin`, the result of `api_begin`."""
    if profiled.value & API:
        lib.mx_profile_add(
            _named_source(_API_CALL, "MXNET_C_API", name), begin, lib.mx_profile_now()
        )


def wait_end(name, begin):
    """Record the wait `name`, shown among the operators, which began at `begin`."""
    if profiled.value & IMPERATIVE:
        lib.mx_profile_add(_named_source(OPERATOR, "operator", name), begin, lib.mx_profile_now())


def run_kernel(kernel, address, number):
    """Run a kernel (a `native.KERNEL`) on the call at an address, and record it."""
    return lib.mx_profile_kernel(ctypes.cast(kernel, ctypes.c_void_p), address, number)


def _named_source(kind, category, name):
    if name not in _named:
        _named[name] = source(kind, category, name)
    return _named[name]


def set_scope(name):
    """Set the name prefix of this thread's allocations."""
    lib.mx_profile_scope(name.encode())


def write(fd, fresh):
    """Append the events that were not written yet to a trace."""
    check(lib.mx_profile_write(fd, fresh), "")


def stats():
    """The statistics: tuples (kind, category, name, count, total, least, most, last)."""
    row, rows, index = _Row(), [], 0
    while lib.mx_profile_stats(index, ctypes.byref(row)):
        index += 1
        if row.count:
            texts = (row.category.decode(), row.name.decode())
            rows.append((row.kind, *texts, row.count, row.total, row.least, row.most, row.last))
    return rows


def allocations():
    """List live allocations: (name, bytes, device type, device id, bytes taken, reused)."""
    most = lib.mx_profile_live(None, 0)
    rows = (_Allocation * max(most, 1))()
    count = min(most, lib.mx_profile_live(rows, most))
    return [
        ((x.scope + x.owner).decode(), x.bytes, x.device_type, x.device_id, x.actual, x.reused)
        for x in rows[:count]
    ]
