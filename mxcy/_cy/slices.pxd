from libc.stdint cimport int64_t

from mxcy._cy.ndarray cimport NDArrayBase


cdef enum:
    MOST_AXES = 8  # maximum number of axes of an array
    MOST_ENTRIES = 16  # maximum number of entries of a key, and axes of its result


cdef struct Region:  # the elements of an array selected by a key
    int64_t first
    int ndim
    int64_t extents[MOST_ENTRIES]
    int64_t strides[MOST_ENTRIES]  # in elements


cdef bint is_usual(NDArrayBase array) noexcept
