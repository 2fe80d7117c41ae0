from libc.stdint cimport int64_t


cdef class Shape:
    cdef readonly tuple dims
    cdef int64_t *extents
    cdef readonly int64_t size
    cdef readonly int ndim
    # Cache of this shape with another first dimension, as needed for a[i:j].
    cdef int64_t sliced_rows
    cdef Shape sliced


cdef Shape shape_of(tuple dims)
cdef Shape shape_with(int ndim, const int64_t *extents)
cdef Shape with_rows(Shape shape, int64_t rows)
cdef Shape SPARSE
cdef Shape BLANK
