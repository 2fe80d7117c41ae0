from libc.stdint cimport int32_t, int64_t

from mxcy._cy.engine cimport mx_operation, mx_var
from mxcy._cy.ndarray cimport NDArrayBase
from mxcy._cy.storage cimport Storage

cdef enum:
    FEW = 12


cdef struct Limits:
    int64_t heavy_work  # calls from here on are worth a worker's attention, in elementwise steps


cdef Limits limits


cdef class Uses:
    cdef mx_var *few_vars[FEW]
    cdef int32_t few_access[FEW]
    cdef mx_var **vars
    cdef int32_t *access
    cdef int count, room
    cdef list kept  # the storages, and what else must live until the operation is done
    cdef size_t written  # bytes
    cdef bint quiet  # all of them: the operation may run here and now
    cdef bint exported  # one of them: it must run here
    cdef bint strict  # errors are raised here
    cdef bint device  # one of them lies in a device's memory
    cdef bint nested  # in an operation that holds them itself
    cdef object context, target  # the device, and that of the outputs
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
