from mxcy._cy.engine cimport mx_var
from mxcy._cy.native cimport mx_rng


cdef class Streams:
    cdef mx_rng *rng
    cdef mx_rng *own  # Dropout's streams; NULL if it uses the others
    cdef mx_var *var  # their engine variable
    cdef readonly size_t address, tag  # addresses of both

    cdef bint is_quiet(self) noexcept
