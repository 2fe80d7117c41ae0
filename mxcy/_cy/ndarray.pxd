from libc.stdint cimport int32_t, int64_t

from mxcy._cy.shapes cimport Shape
from mxcy._cy.storage cimport Storage


cdef class NDArrayBase:
    cdef Storage storage
    cdef char *data
    cdef Shape layout
    cdef readonly int dtype_code
    cdef public bint writable
    cdef public object node  # the tape node of the array, or None
    cdef public int node_index

    cdef int wait_for(self, int32_t access) except -1
    cdef size_t used_bytes(self) noexcept
    cdef object number(self)


# Implementations of arrays' operators, registered by the modules above this one.
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
