from libc.stdint cimport int64_t

from mxcy._cy.ndarray cimport NDArrayBase


cdef enum:
    MOST_AXES = 8  # of an array
    MOST_ENTRIES = 16  # of a key, and axes of what it picks


cdef struct Region:  # elements of an array, those that a key picks
    int64_t first
    int ndim
    int64_t extents[MOST_ENTRIES]
    int64_t strides[MOST_ENTRIES]  # in elements


cdef bint is_usual(NDArrayBase array) noexcept
