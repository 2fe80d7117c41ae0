from cpython.object cimport PyObject

from mxcy._cy.direct_calls cimport Shortcut

cdef dict codes  # dtype specifier -> code


cdef object make_empty(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords)
cdef object make_zeros(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords)
cdef object make_filled(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords)
cdef object make_range(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords)
cdef object make_of_list(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords)
