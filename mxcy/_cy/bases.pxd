from libc.stdint cimport int32_t, int64_t

from mxcy._cy.ndarray cimport NDArrayBase


cdef class Kept:
    cdef readonly list arrays
    cdef void **addresses
    cdef readonly bint settled

    cdef int count(self) noexcept


cdef class Bases:
    cdef readonly NDArrayBase arena
    cdef readonly Kept kept
    cdef readonly list arrays

    cdef int count(self) noexcept
    cdef NDArrayBase at(self, int base)
    cdef int locate(self, list used, void **addresses) except -1


cdef class Watch:
    cdef list arrays  # at the slots
    cdef int32_t *slots  # first those of `written`
    cdef int count, nwritten
    cdef bytes snapshot
    cdef int64_t clock
    cdef bint exported

    cdef bytes look(self, list arrays)
