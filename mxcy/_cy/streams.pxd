from mxcy._cy.engine cimport mx_var
from mxcy._cy.native cimport mx_rng


cdef class Streams:
    cdef mx_rng *rng
    cdef mx_rng *own  # of Dropout; NULL when it takes the others
    cdef mx_var *var  # the engine's tag of them
    cdef readonly size_t address, tag  # of both

    cdef bint is_quiet(self) noexcept
