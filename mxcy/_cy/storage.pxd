from libc.stdint cimport int64_t

from mxcy._cy.engine cimport mx_var, mx_var_idle, mx_var_readable
from mxcy._cy.pool cimport mx_pool


cdef class Storage:
    cdef void *data
    cdef size_t bytes
    cdef mx_pool *pool  # where the memory is from, unless it has an owner
    cdef object owner  # keeps foreign memory alive; None when the memory is the pool's
    cdef readonly object context
    cdef int64_t version  # changes with each write; no two storages ever have the same
    cdef bint replaceable  # nobody else knows the memory, although it has an owner
    cdef bint exported  # others may read or write the memory without our knowing
    cdef mx_var *var  # the engine's tag of the memory; NULL before the first asynchronous use
    cdef bint remote  # on a device whose operations always go through the engine
    cdef bint device  # the host cannot touch the memory


cdef struct Clock:
    int64_t writes  # to all storages together


cdef Clock clock
cdef mx_var *var_of(Storage storage) except NULL
cdef Storage allocate(size_t bytes, object context)
cdef int place_storage(Storage storage, object context) except -1


cdef inline bint is_quiet(Storage storage) noexcept:
    """Whether an operation may run on a storage here and now; one with var NULL is always quiet."""
    return storage.var == NULL or (not storage.remote and mx_var_idle(storage.var) != 0)


cdef inline bint is_readable(Storage storage) noexcept:
    """Whether a storage may be read here and now: others may be reading it."""
    return storage.var == NULL or (not storage.remote and mx_var_readable(storage.var) != 0)


cdef inline void wrote(Storage storage) noexcept:
    """Tell that memory was written, or is new."""
    clock.writes += 1
    storage.version = clock.writes
