"""Operations that the engine has not finished, and waiting for them; see `_cy/pending.pyx`."""

import ctypes
from threading import get_ident

from mxcy._base.errors import kernel_error
from mxcy._ctypes import engine
from mxcy._ctypes.engine import held as locked
from mxcy._ctypes.native import lib

__all__ = [
    "counts",
    "drain",
    "forget",
    "keep",
    "run_ahead",
    "set_soon",
    "settle",
    "settle_all",
    "unfinished",
    "wait",
    "wait_all",
]

_AT_ONCE = 64
_MOST_OPERATIONS = 512
_MOST_BYTES = 256 << 20  # new memory in use by pending operations

_ahead: set = set()  # threads exempt from the limit
_kept: dict = {}  # token -> (references, address of a var that the operation writes)


class _Counts:
    newest = 0  # token
    bytes = 0  # of memory first written by an operation, while operations use it


counts = _Counts()


def keep(references, written, allocates):
    """Keep the references of an operation; return its token; see `_cy/pending.pyx`."""
    drain()
    while _kept and (len(_kept) >= _MOST_OPERATIONS or (allocates and counts.bytes > _MOST_BYTES)):
        if get_ident() in _ahead:
            break
        oldest = list(_kept.values())[:1]  # their vars live on when another thread drains
        for _, var in oldest:
            settle(var, engine.READS)
        drain()  # settle does not drain if the operation has just ended
    counts.newest += 1
    _kept[counts.newest] = references, written
    return counts.newest


def set_soon(microseconds):
    """Set how soon threads must wait for plans that they will run themselves; 0: never."""
    lib.mx_set_soon(ctypes.c_int64(microseconds))


def run_ahead():
    """Exempt this thread from the limit: others may wait for its operations."""
    _ahead.add(get_ident())


def forget(token):
    """Drop the references of an operation."""
    _kept.pop(token, None)


def drain():
    """Drop the references of completed operations."""
    n = _AT_ONCE
    while n == _AT_ONCE and _kept:
        tokens = (ctypes.c_int64 * _AT_ONCE)()
        n = locked.mx_engine_done(tokens, _AT_ONCE)
        for token in tokens[:n]:
            forget(token)


def wait(var, access):
    """Wait for the writers or all users of a var, given by its address; raises its error."""
    if var and not locked.mx_var_idle(var):
        engine.wait_var(var, access)
        drain()


def settle(var, access):
    """Likewise, without raising the error."""
    if var and not locked.mx_var_idle(var):
        engine.settle_var(var, access)
        drain()


def wait_all():
    """Wait for all operations, and raise the first error not raised yet."""
    try:
        engine.wait_all()
        if lib.mx_gpu_wait_all():
            raise kernel_error("", lib.mx_last_error().decode())
    finally:
        drain()


def settle_all():
    """Wait for all operations pushed so far, without raising their errors.

    Returns
    -------
    int
        Number of operations whose references were dropped.
    """
    before = len(_kept)
    for _, var in list(_kept.values()):
        settle(var, engine.READS)
    drain()
    return before - len(_kept)


def unfinished():
    """The number of operations that keep references."""
    drain()
    return len(_kept)
