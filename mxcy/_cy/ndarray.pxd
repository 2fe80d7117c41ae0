from libc.stdint cimport int32_t, int64_t

from mxcy._cy.engine cimport mx_var, mx_var_idle, mx_var_readable
from mxcy._cy.pool cimport mx_pool
from mxcy._cy.shapes cimport Shape


cdef class Storage:
    cdef void *data
    cdef size_t bytes
    cdef mx_pool *pool  # where the memory is from, unless it has an owner
    cdef object owner  # keeps foreign memory alive; None when the memory is the pool's
    cdef readonly object context
    cdef int64_t version  # changes with each write; no two storages ever have the same
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


cdef class NDArrayBase:
    cdef Storage storage
    cdef char *data
    cdef Shape layout
    cdef readonly int dtype_code
    cdef public bint writable
    cdef public object node  # the tape node that made the array, or None
    cdef public int node_index

    cdef int wait_for(self, int32_t access) except -1
    cdef size_t used_bytes(self) noexcept
    cdef object number(self)


# What modules above this one do for the operators of arrays; each enters its own.
ctypedef object (*Calculate)(int operation, object lhs, object rhs)
ctypedef object (*Read)(NDArrayBase array, object key)
ctypedef int (*Write)(NDArrayBase array, object key, object value) except -1


cdef struct Operations:
    Calculate calculate  # arithmetic.pyx: between arrays and numbers
    Read read  # slices.pyx: a[key]
    Write write  # slices.pyx: a[key] = value


cdef Operations operations
cdef NDArrayBase bare(object cls)
cdef NDArrayBase make_array(Shape layout, int dtype, object context, object cls)
cdef NDArrayBase make_view(NDArrayBase base, Shape layout, int64_t offset, object cls)
cdef object class_of(NDArrayBase array)


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
