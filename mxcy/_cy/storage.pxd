from libc.stdint cimport int32_t, int64_t

from mxcy._cy.engine cimport mx_var, mx_var_idle, mx_var_readable
from mxcy._cy.pool cimport mx_pool


cdef class Storage:
    cdef void *data
    cdef size_t bytes
    cdef mx_pool *pool  # the pool of the memory, unless it has an owner
    cdef object owner  # keeps foreign memory alive; None for pool memory
    cdef readonly object context
    cdef int64_t version  # changes with each write, unique among storages
    cdef bint replaceable  # the memory has no other users, although it has an owner
    cdef int32_t uses  # references by operations, not arrays: see `Uses`
    cdef bint begun  # an operation has written it
    cdef bint counted  # towards the limit of `pending`
    cdef bint exported  # others may access the memory unnoticed
    cdef bint watched  # by a `Watch`
    cdef mx_var *var  # the memory's engine variable; NULL before the first asynchronous use
    cdef bint remote  # on a device whose operations always go through the engine
    cdef bint device  # the host cannot access the memory


cdef struct Clock:
    int64_t writes  # number of writes to all storages
    int64_t watched  # changes that a `Watch` might have to notice


cdef Clock clock
cdef mx_var *var_of(Storage storage) except NULL
cdef Storage allocate(size_t bytes, object context)
cdef int place_storage(Storage storage, object context) except -1


cdef inline bint is_quiet(Storage storage) noexcept:
    """Whether an operation may use a storage without waiting; always if var is NULL."""
    return storage.var == NULL or (not storage.remote and mx_var_idle(storage.var) != 0)


cdef inline bint is_readable(Storage storage) noexcept:
    """Whether a storage may be read without waiting, possibly with other readers."""
    return storage.var == NULL or (not storage.remote and mx_var_readable(storage.var) != 0)


cdef inline void wrote(Storage storage) noexcept:
    """Mark memory as written or new."""
    clock.writes += 1
    clock.watched += storage.watched
    storage.version = clock.writes


cdef inline void export(Storage storage) noexcept:
    """Mark memory as accessible to others from now on."""
    storage.exported = True
    clock.watched += storage.watched
