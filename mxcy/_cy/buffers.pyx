"""Python's buffer protocol: memory of arrays, and buffers of other objects."""
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBUF_WRITABLE
from cpython.buffer cimport PyBuffer_Release, PyObject_GetBuffer
from libc.stdlib cimport free, malloc

from mxcy._cy.elements cimport itemsize
from mxcy._cy.shapes cimport Shape

import numpy as np

cdef list FORMATS = [
    b"f", b"d", b"e", b"B", b"i", b"b", b"q", b"?", b"h", b"H", b"I", b"Q", b"H", b"Zf", b"Zd",
]


cdef class Export:
    """A buffer of another object, held as long as arrays use it."""

    def __cinit__(self, source):
        PyObject_GetBuffer(source, &self.view, PyBUF_ND | PyBUF_WRITABLE)

    def __dealloc__(self):
        PyBuffer_Release(&self.view)


cdef class _Window:
    """An array's memory as a buffer, without waiting or marking it as exported."""

    cdef object array  # keeps the memory alive
    cdef char *data
    cdef Shape layout
    cdef int dtype
    cdef bint writable

    def __getbuffer__(self, Py_buffer *view, int flags):
        describe(view, self.data, self.layout, self.dtype, flags)
        view.obj, view.readonly = self, not self.writable

    def __releasebuffer__(self, Py_buffer *view):
        free(view.internal)


cdef object window(object array, char *data, Shape layout, int dtype, bint writable):
    """Make a NumPy array over an array's current elements."""
    cdef _Window exporter = _Window.__new__(_Window)
    exporter.array, exporter.data, exporter.layout = array, data, layout
    exporter.dtype, exporter.writable = dtype, writable
    return np.asarray(memoryview(exporter))


cdef int describe(Py_buffer *view, char *data, Shape layout, int dtype, int flags) except -1:
    """Describe the memory of an array, except for `view.obj` and `view.readonly`."""
    cdef int i, ndim = layout.ndim
    cdef Py_ssize_t stride = itemsize[dtype]
    cdef Py_ssize_t *extents = <Py_ssize_t *>malloc(16 * max(ndim, 1))
    if extents == NULL:
        raise MemoryError()
    for i in range(ndim - 1, -1, -1):
        extents[i] = layout.extents[i]
        extents[ndim + i] = stride
        stride *= max(extents[i], 1)
    view.buf = data if data != NULL else <void *>extents
    view.len = layout.size * itemsize[dtype]
    view.itemsize = itemsize[dtype]
    view.format = <char *>(<bytes>FORMATS[dtype]) if flags & PyBUF_FORMAT else NULL
    view.ndim = ndim
    view.shape = extents
    view.strides = extents + ndim
    view.suboffsets = NULL
    view.internal = extents
    return 0
