"""Calls served in C for common arguments, before falling back to Python functions."""
from cpython.object cimport PyObject

cimport cython

from mxcy._cy.modes cimport deferred
from mxcy._cy.slots cimport mx_calls_by_vector

import types

cdef extern from "Python.h":
    Py_ssize_t PyVectorcall_NARGS(size_t flagged)
    object PyObject_Vectorcall(object callee, PyObject **args, size_t flagged, PyObject *keywords)

REFUSED = object()


@cython.final
cdef class Shortcut:
    """A C fast path for a function, `__wrapped__`, which handles all other calls."""

    def __call__(self, *args, **kwargs):
        return self.plain(*args, **kwargs)

    def __get__(self, instance, owner):
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self):
        return f"<function {self.__qualname__} at {id(self):#x}>"

    def __reduce__(self):
        return self.__qualname__


cdef object serve(object function, PyObject **args, size_t flagged, PyObject *keywords):
    """Call a Shortcut."""
    cdef Shortcut self = <Shortcut>function
    if deferred():  # every operation must be recorded
        return PyObject_Vectorcall(self.plain, args, flagged, keywords)
    result = self.attempt(self, args, PyVectorcall_NARGS(flagged), keywords)
    if result is REFUSED:
        return PyObject_Vectorcall(self.plain, args, flagged, keywords)
    return result


cdef Shortcut first = Shortcut.__new__(Shortcut)
mx_calls_by_vector(Shortcut, <char *>&first.vectorcall - <char *><void *>first)
