"""Interned shapes: equal shapes share one Shape, so that signatures compare by pointer."""
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp

cimport cython

from mxcy._base.errors import MXNetError

cdef enum:
    NEAR = 1024  # number of shapes indexed by dimensions

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
    """Return the Shape of a tuple of non-negative integers."""
    cdef Shape shape = interned.get(dims)
    if shape is not None:
        return shape
    shape = make_shape(dims)
    if len(interned) > 65536:  # bound memory for programs with ever new shapes
        interned.clear()
        near[:] = [None] * NEAR
    interned[shape.dims] = shape
    return shape


cdef Shape shape_with(int ndim, const int64_t *extents):
    """Return the Shape with some non-negative dimensions."""
    cdef uint64_t mixed = ndim
    cdef int i
    for i in range(ndim):
        mixed = (mixed ^ <uint64_t>extents[i]) * <uint64_t>0x9E3779B97F4A7C15
    cdef Py_ssize_t place = mixed >> 54
    cdef Shape shape = near[place]
    if (shape is not None and shape.ndim == ndim
            and memcmp(shape.extents, extents, ndim * sizeof(int64_t)) == 0):
        return shape
    shape = shape_of(tuple([extents[i] for i in range(ndim)]))
    near[place] = shape
    return shape


cdef Shape make_shape(tuple dims):
    """Make a Shape without interning it."""
    cdef Shape shape = Shape.__new__(Shape)
    cdef int i
    shape.dims = tuple([int(d) for d in dims])
    shape.ndim = len(dims)
    shape.extents = <int64_t *>malloc(8 * max(shape.ndim, 1))
    if shape.extents == NULL:
        raise MemoryError()
    shape.size = 1
    for i in range(shape.ndim):
        if dims[i] < 0:
            raise MXNetError(f"shape {dims}: dimensions must not be negative")
        shape.extents[i] = dims[i]
        if shape.extents[i] and shape.size > (<int64_t>1 << 60) // shape.extents[i]:
            raise MXNetError(f"shape {dims}: too many elements")
        shape.size *= shape.extents[i]
    shape.sliced_rows = -1
    return shape


cdef Shape with_rows(Shape shape, int64_t rows):
    """Return `shape` with another first dimension."""
    if shape.sliced_rows != rows:
        shape.sliced = shape_of((rows,) + shape.dims[1:])
        shape.sliced_rows = rows
    return shape.sliced


#: the Shape of all sparse arrays: it matches no prepared call
SPARSE = make_shape((0,))
#: the Shape of blank arrays, without memory; not interned either
BLANK = make_shape((0,))
