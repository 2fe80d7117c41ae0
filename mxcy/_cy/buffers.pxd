from mxcy._cy.shapes cimport Shape


cdef class Export:
    cdef Py_buffer view


cdef object window(object array, char *data, Shape layout, int dtype, bint writable)
cdef int describe(Py_buffer *view, char *data, Shape layout, int dtype, int flags) except -1
