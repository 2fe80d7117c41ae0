from libc.stdint cimport int32_t, int64_t

from mxcy._cy.engine cimport mx_var
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


# What invoke.pyx plugs in: arithmetic between arrays and numbers.
ctypedef object (*Arithmetic)(int operation, object lhs, object rhs)
cdef void plug_arithmetic(Arithmetic run)
# What slices.pyx plugs in: a[key], a[key] = value.
ctypedef object (*Reader)(NDArrayBase array, object key)
ctypedef int (*Writer)(NDArrayBase array, object key, object value) except -1
cdef void plug_slices(Reader read, Writer write)
cdef void wrote(Storage storage) noexcept
cdef int deferred() noexcept nogil
cdef int switch_deferred(bint flag) noexcept nogil
cdef bint is_quiet(Storage storage) noexcept
cdef bint is_readable(Storage storage) noexcept
cdef mx_var *var_of(Storage storage) except NULL
cdef NDArrayBase make_array(Shape layout, int dtype, object context, object cls)
cdef NDArrayBase make_view(NDArrayBase base, Shape layout, int64_t offset, object cls)
cdef object numpy_class  # mx.np.ndarray, once it is imported
cdef object numpy_store  # stores a result of mx.np in an array of another element type
cdef int plug_numpy(object cls, object store) except -1
cdef object class_of(NDArrayBase array)
cdef int32_t itemsize[15]
