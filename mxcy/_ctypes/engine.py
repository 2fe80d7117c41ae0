"""The dependency engine: see `_cy/engine.pyx`.

`pending` waits without the Python lock; `held` makes requests with it, so that what is idle stays
idle until the lock is given up.
"""

import ctypes
import itertools
import sys

from mxcy._base.errors import MXNetError, kernel_error
from mxcy._ctypes.native import lib

__all__ = [
    "READS",
    "WRITES",
    "Completion",
    "Operation",
    "Var",
    "allow_bulk",
    "configure_engine",
    "engine_stats",
    "held",
    "is_naive",
    "push",
    "raise_stored",
    "set_bulk_size",
    "settle_var",
    "start_engine",
    "stop_engine",
    "wait_all",
    "wait_for",
    "wait_var",
]

READS, WRITES = 1, 2
TYPES = ("NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice")
PROPERTIES = {"normal": 0, "copy_from": 1, "copy_to": 2, "prioritized": 3, "async": 4, "noskip": 5}
_SLICE = 50  # milliseconds between checks for signals

_RUN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_DROP = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Operation(ctypes.Structure):
    """mx_operation."""

    _fields_ = [
        ("run", ctypes.c_void_p),
        ("skipped", ctypes.c_void_p),
        ("payload", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("token", ctypes.c_int64),
        ("name", ctypes.c_char_p),
        ("place", ctypes.c_char_p),
        ("vars", ctypes.c_void_p),
        ("access", ctypes.c_void_p),
        ("nvars", ctypes.c_int32),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("property", ctypes.c_int32),
        ("priority", ctypes.c_int32),
    ]


class _Settings(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_int32)
        for name in ("type", "workers", "cpu_priority", "gpu_workers", "gpu_copy", "info")
    ]


class _Counts(ctypes.Structure):
    _fields_ = [("settings", _Settings), ("threads", ctypes.c_int32)] + [
        (name, ctypes.c_int64)
        for name in (
            "pushed",
            "run",
            "skipped",
            "failed",
            "pending",
            "inline",
            "bulks",
            "bulked",
            "errors",
        )
    ]


def _declare(library):
    library.mx_var_create.restype = library.mx_engine_ticket.restype = ctypes.c_void_p
    library.mx_var_version.restype = ctypes.c_int64
    for name in ("destroy", "idle", "failed", "version"):
        getattr(library, f"mx_var_{name}").argtypes = [ctypes.c_void_p]
    uses = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32]
    library.mx_engine_enter.argtypes = [*uses, ctypes.c_int32]
    library.mx_engine_leave.argtypes = [*uses, ctypes.c_char_p]
    library.mx_engine_complete.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    library.mx_engine_done.argtypes = [ctypes.c_void_p, ctypes.c_int32]
    for function in (library.mx_engine_wait, library.mx_engine_settle):
        function.argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32]
    return library


pending = _declare(lib)
held = _declare(ctypes.PyDLL(lib._name, handle=lib._handle))


# --- waiting


def raise_stored():
    """Raise mx_last_error as the exception that it tells of."""
    raise kernel_error("", lib.mx_last_error().decode(errors="replace"))


def _repeat(function, *arguments):
    status = 1
    while status == 1:  # signals are looked at in between
        status = function(*arguments, _SLICE)
    if status < 0:
        raise_stored()


def wait_var(var, access):
    """Wait for the writers (READS) or all users (WRITES) of a variable; raises its error."""
    if var and not held.mx_var_idle(var):
        _repeat(pending.mx_engine_wait, var, access)


wait_for = wait_var


def settle_var(var, access):
    """Likewise, without raising the error."""
    if var and not held.mx_var_idle(var):
        _repeat(pending.mx_engine_settle, var, access)


def wait_all():
    """Wait for all operations; raise the first error not raised yet."""
    _repeat(pending.mx_engine_wait_all)


# --- variables


class Var:
    """An engine variable other than an array.

    Attributes
    ----------
    var : int
        Address of the variable in the engine.
    """

    def __init__(self):
        self.var = held.mx_var_create()
        if not self.var:
            raise_stored()

    _destroy = held.mx_var_destroy  # there to the end, unlike names of the module

    def __del__(self):
        self._destroy(self.var)

    @property
    def idle(self):
        """Whether no operation uses it, waits for it or left an error on it."""
        return bool(held.mx_var_idle(self.var))

    @property
    def failed(self):
        """Whether it carries an error."""
        return bool(held.mx_var_failed(self.var))

    @property
    def version(self):
        """The number of writes."""
        return held.mx_var_version(self.var)

    def wait_to_read(self):
        """Wait for its writers; raise its error."""
        wait_var(self.var, READS)

    def wait_to_write(self):
        """Wait for all its users; raise its error."""
        wait_var(self.var, WRITES)


# --- Python functions as operations


class Completion:
    """Callback passed to an asynchronous function, to be called upon completion."""

    def __init__(self):
        self.ticket = held.mx_engine_ticket()

    def __call__(self, error=None):
        """Complete the operation, with an error text if it failed."""
        ticket, self.ticket = self.ticket, None
        if ticket is None:
            raise MXNetError("the operation is already complete")
        held.mx_engine_complete(ticket, None if error is None else str(error).encode())

    _complete = held.mx_engine_complete

    def __del__(self):
        if self.ticket is not None:
            self._complete(self.ticket, b"its completion callback was discarded")


_jobs = {}  # payload -> function, arguments, what it uses
_numbers = itertools.count(1)


@_RUN
def _run(payload):
    function, asynchronous, _ = _jobs.pop(payload)
    completion = Completion() if asynchronous else None
    try:
        function(completion) if asynchronous else function()
    except BaseException as error:
        if asynchronous:
            if completion.ticket is None:  # already completed
                return 0
            completion.ticket = None
        kind = "" if type(error) is MXNetError else f"{type(error).__name__}: "
        return held.mx_fail(b"%s", f"{kind}{error}".encode())
    return 0


@_DROP
def _drop(payload):
    _jobs.pop(payload)


_RUN_ADDRESS, _DROP_ADDRESS = (ctypes.cast(f, ctypes.c_void_p).value for f in (_run, _drop))


class _Chosen:
    naive = False  # operations run synchronously


def is_naive():
    """Whether operations run where they are pushed."""
    return _Chosen.naive


def push(function, reads, writes, name, place, priority, property, device_type, device_id):
    """Have a function called in its turn; see `_cy/engine.pyx`."""
    if sys.is_finalizing():  # the callbacks may be gone already
        return function()
    used = [*reads, *writes]
    variables = (ctypes.c_void_p * max(len(used), 1))(*(item.var for item in used))
    access = (ctypes.c_int32 * max(len(used), 1))(*[READS] * len(reads), *[WRITES] * len(writes))
    operation = Operation(
        _RUN_ADDRESS,
        _DROP_ADDRESS,
        next(_numbers),
        None,
        0,
        name.encode(),
        place.encode(),
        ctypes.addressof(variables),
        ctypes.addressof(access),
        len(used),
        device_type,
        device_id,
        PROPERTIES[property],
        priority,
    )
    _jobs[operation.payload] = function, property == "async", used
    library = pending if _Chosen.naive or property == "async" else held  # it may run here
    if library.mx_engine_push(ctypes.byref(operation)) != 0:
        raise_stored()


# --- settings


def configure_engine(kind, *settings):
    """Choose the type of engine and the threads of its queues; see `_cy/engine.pyx`."""
    values = _Settings(TYPES.index(kind), *settings)
    if pending.mx_engine_configure(ctypes.byref(values)) != 0:
        raise_stored()
    _Chosen.naive = kind == "NaiveEngine"


def engine_stats():
    """Return settings and statistics of the engine as a dict."""
    counts = _Counts()
    held.mx_engine_stats(ctypes.byref(counts))
    figures = {name: getattr(counts, name) for name, _ in _Counts._fields_[1:]}
    settings = {name: getattr(counts.settings, name) for name, _ in _Settings._fields_}
    queues = {}
    name, threads, run = ctypes.create_string_buffer(32), ctypes.c_int32(), ctypes.c_int64()
    while held.mx_engine_queue(len(queues), name, ctypes.byref(threads), ctypes.byref(run)):
        queues[name.value.decode()] = {"threads": threads.value, "run": run.value}
    settings.update(type=TYPES[settings["type"]], info=bool(settings["info"]))
    return {**settings, **figures, "queues": queues}


def set_bulk_size(size):
    """Set the bulk size of this thread; return the previous one."""
    return held.mx_engine_set_bulk(size)


def allow_bulk(allow):
    """Enable or disable bulking."""
    held.mx_engine_allow_bulk(allow)


def stop_engine():
    """Finish pushed operations, stop all workers and block new operations; for fork and exit."""
    status = 1
    while status == 1:
        status = pending.mx_engine_stop(_SLICE)
        if status == 0:  # no operation may have been pushed while waiting for the GIL
            status = held.mx_engine_stop(0)


def start_engine(child):
    """Restart after `stop_engine`; `child`: in the forked process."""
    held.mx_engine_start(child)
