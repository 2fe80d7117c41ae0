from cpython.object cimport PyObject

from mxcy._cy.direct_calls cimport Shortcut


cdef object nonzero(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords)
cdef object flatnonzero(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords)
cdef object argwhere(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords)
cdef object count_nonzero(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords)
cdef object bincount(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords)
