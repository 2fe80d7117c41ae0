"""Pending engine operations: the references they need, and waiting for them.

The engine knows nothing of Python: objects used by an operation are kept here until it is done. All
of this requires the GIL, except the waiting itself.
"""
from threading import get_ident

from libc.stdint cimport int32_t, int64_t

from mxcy._cy.engine cimport (
    MX_READS, mx_engine_done, mx_var, mx_var_idle, settle_var, wait_everything, wait_var,
)

from mxcy._cy.native cimport mx_gpu_wait_all, mx_last_error

from mxcy._base.errors import kernel_error

cdef enum:
    AT_ONCE = 64
    MOST_OPERATIONS = 512

# Limit on new memory in use by pending operations, for programs that run ahead of the engine.
cdef size_t MOST_BYTES = 256 << 20

cdef set ahead = set()  # threads exempt from the limit
cdef dict kept = {}  # token -> (references, address of a var that the operation writes)

cdef Counts counts
counts.newest, counts.bytes = 0, 0


cdef int64_t keep(object references, mx_var *written, bint allocates) except -1:
    """Keep the references of an operation; return its token.

    Before, waits until few are pending and, if it is the first to write some memory, until
    ``counts.bytes``, which include this memory, are within the limit.
    """
    drain()
    while kept and (len(kept) >= MOST_OPERATIONS or allocates and counts.bytes > MOST_BYTES):
        if ahead and get_ident() in ahead:
            break
        oldest = next(iter(kept.values()))  # keep its var alive if another thread drains
        settle(<mx_var *><size_t>oldest[1], MX_READS)
        drain()  # settle does not drain if the operation has just ended
    counts.newest += 1
    kept[counts.newest] = (references, <size_t>written)
    return counts.newest


cdef int forget(int64_t token) except -1:
    """Drop the references of an operation."""
    kept.pop(token, None)
    return 0


cdef int drain() except -1:
    """Drop the references of completed operations."""
    cdef int64_t tokens[AT_ONCE]
    cdef int32_t i, n = AT_ONCE
    while n == AT_ONCE and kept:
        n = mx_engine_done(tokens, AT_ONCE)
        for i in range(n):
            forget(tokens[i])
    return 0


cdef int wait(mx_var *var, int32_t access) except -1:
    """Wait for the writers (MX_READS) or all users (MX_WRITES) of a var; raise its error."""
    if mx_var_idle(var):
        return 0
    wait_var(var, access)
    return drain()


cdef int settle(mx_var *var, int32_t access) except -1:
    """Likewise, without raising the error."""
    if mx_var_idle(var):
        return 0
    settle_var(var, access)
    return drain()


def set_soon(int64_t microseconds):
    """Set how soon threads must wait for plans that they will run themselves; 0: never."""
    mx_set_soon(microseconds)


def run_ahead():
    """Exempt this thread from the limit: others may wait for its operations."""
    ahead.add(get_ident())


def wait_all():
    """Wait for all operations, and raise the first error not raised yet.

    Raises
    ------
    MXNetError
        Or another exception of the operation; its output arrays remain failed.
    """
    cdef int status
    try:
        wait_everything()
        with nogil:
            status = mx_gpu_wait_all()
        if status != 0:
            raise kernel_error("", mx_last_error().decode())
    finally:
        drain()


cdef int settle_everything() except -1:
    """Wait for all operations pushed so far, without raising their errors.

    Returns the number of operations whose references were dropped.
    """
    cdef int before = len(kept)
    for _, var in list(kept.values()):
        settle(<mx_var *><size_t>var, MX_READS)
    drain()
    return before - len(kept)


def settle_all():
    """Wait for all operations pushed so far, without raising their errors.

    Returns
    -------
    int
        Number of operations whose references were dropped.
    """
    return settle_everything()


def unfinished():
    """The number of operations that keep references."""
    drain()
    return len(kept)
