"""Interned shapes: arrays of one shape share one Shape, so that signatures compare by pointer."""
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp

cimport cython

from mxcy._base.errors import MXNetError

cdef enum:
    NEAR = 1024  # shapes that are found by their extents

cdef dict interned = {}
cdef list near = [None] * NEAR


@cython.final
cdef class Shape:
    """An interned shape."""

    def __dealloc__(self):
        free(self.extents)

    def __repr__(self):
        return f"Shape{self.dims}"


cdef Shape shape_of(tuple dims):
    """The Shape of a tuple of non-negative integers."""
    found = interned.get(dims)
    if found is not None:
        return <Shape>found
    cdef Shape made = make_shape(dims)
    if len(interned) > 65536:  # programs with ever new shapes must not grow without bound
        interned.clear()
        near[:] = [None] * NEAR
    interned[made.dims] = made
    return made


cdef Shape shape_with(int ndim, const int64_t *extents):
    """The Shape with some extents, none of them negative."""
    cdef uint64_t mixed = ndim
    cdef int i
    for i in range(ndim):
        mixed = (mixed ^ <uint64_t>extents[i]) * <uint64_t>0x9E3779B97F4A7C15
    cdef Py_ssize_t place = mixed >> 54
    cdef Shape found = near[place]
    if (found is not None and found.ndim == ndim
            and memcmp(found.extents, extents, ndim * sizeof(int64_t)) == 0):
        return found
    found = shape_of(tuple([extents[i] for i in range(ndim)]))
    near[place] = found
    return found


cdef Shape make_shape(tuple dims):
    """A Shape that is not interned."""
    cdef Shape made = Shape.__new__(Shape)
    cdef int i
    made.dims = tuple([int(d) for d in dims])
    made.ndim = len(dims)
    made.extents = <int64_t *>malloc(8 * max(made.ndim, 1))
    if made.extents == NULL:
        raise MemoryError()
    made.size = 1
    for i in range(made.ndim):
        if dims[i] < 0:
            raise MXNetError(f"shape {dims}: extents must not be negative")
        made.extents[i] = dims[i]
        if made.extents[i] and made.size > (<int64_t>1 << 60) // made.extents[i]:
            raise MXNetError(f"shape {dims}: too many elements")
        made.size *= made.extents[i]
    made.sliced_rows = -1
    return made


cdef Shape with_rows(Shape shape, int64_t rows):
    """`shape` with another first extent."""
    if shape.sliced_rows != rows:
        shape.sliced = shape_of((rows,) + shape.dims[1:])
        shape.sliced_rows = rows
    return shape.sliced


#: the Shape of all sparse arrays: they have no elements of their own, so no prepared call fits
SPARSE = make_shape((0,))
#: the Shape of blank arrays, whose memory is still to come; not interned either
BLANK = make_shape((0,))
