from libc.stdint cimport int32_t, int64_t

from mxcy._cy.engine cimport mx_operation, mx_var
from mxcy._cy.ndarray cimport NDArrayBase
from mxcy._cy.storage cimport Storage

cdef enum:
    FEW = 12


cdef struct Limits:
    int64_t heavy_work  # work, in elementwise steps, from which calls are pushed to a worker


cdef Limits limits


cdef class Uses:
    cdef mx_var *few_vars[FEW]
    cdef int32_t few_access[FEW]
    cdef mx_var **vars
    cdef int32_t *access
    cdef int count, room
    cdef list kept  # storages and other objects to keep until the operation is done
    cdef bint allocates  # any written for the first time
    cdef bint quiet  # all idle: the operation may run here without waiting
    cdef bint exported  # any exported: it must run here
    cdef bint strict  # raise errors here
    cdef bint device  # any in device memory
    cdef bint nested  # within an operation that holds them
    cdef object context, target  # the context, and the outputs'
    cdef bytes name, place  # in the description of the operation

    cdef int add(self, Storage storage, int32_t access) except -1
    cdef int add_var(self, mx_var *var, int32_t access) except -1
    cdef int add_output(self, NDArrayBase array) except -1
    cdef bint hold(self) except -1
    cdef int raise_error(self) except -1
    cdef void release(self) noexcept nogil
    cdef int fail(self, error) except -1
    cdef int describe(self, mx_operation *about, str name) except -1
    cdef int hand_on(self) except -1
    cdef int pushed(self, const mx_operation *about, int status) except -1


cdef Uses uses_on(object context)
