"""Operators' functions that find their arguments without running Python code."""
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM

cimport cython

from mxcy._cy.invoke cimport call_operator
from mxcy._cy.variants cimport OpHandle, Variant

import functools
import sys
import types

from mxcy.base import _Null

cdef extern from "Python.h":
    ctypedef object (*vectorcallfunc)(object, PyObject **, size_t, PyObject *)
    Py_ssize_t PyVectorcall_NARGS(size_t flagged)
    object PyObject_Vectorcall(object callee, PyObject **args, size_t flagged, PyObject *keywords)
    PyObject *PyTuple_GET_ITEM(PyObject *items, Py_ssize_t i)
    Py_ssize_t PyTuple_GET_SIZE(PyObject *items)

cdef extern from *:
    """
    /* What a type of functions has, and Cython offers no words for. */
    static void mx_calls_by_vector(PyObject *type, Py_ssize_t offset) {
      ((PyTypeObject *)type)->tp_vectorcall_offset = offset;
      ((PyTypeObject *)type)->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
      PyType_Modified((PyTypeObject *)type);
    }
    """
    void mx_calls_by_vector(object type, Py_ssize_t offset)

cdef enum:
    MOST_PLACES = 64

cdef object null = _Null  # what attributes are that are not given


@cython.final
cdef class Function:
    """A function made of another, `__wrapped__`, which is asked when arguments are unusual."""

    cdef vectorcallfunc vectorcall
    cdef object plain  # the function in Python
    cdef OpHandle handle
    cdef tuple names  # of the arguments by place: inputs, attributes, out
    cdef tuple absent  # the attributes of a call that gives none
    cdef Py_ssize_t ninputs
    cdef dict __dict__
    cdef object __weakref__

    def __call__(self, *args, **kwargs):
        return self.plain(*args, **kwargs)

    def __get__(self, instance, owner):
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self):
        return f"<function {self.__qualname__} at {id(self):#x}>"

    def __reduce__(self):
        return self.__qualname__


cdef tuple filled(PyObject **places, Py_ssize_t n, object absent):
    """The arguments of some places."""
    cdef tuple made = PyTuple_New(n)
    cdef Py_ssize_t i
    for i in range(n):
        item = absent if places[i] == NULL else <object>places[i]
        Py_INCREF(item)
        PyTuple_SET_ITEM(made, i, item)
    return made


cdef tuple attributes(Function self, PyObject **places):
    """The attributes of a call: often all the same as in the call before."""
    cdef Variant last = self.handle.last
    cdef Py_ssize_t i
    if last is not None:
        for i in range(len(self.absent)):
            given = null if places[i] == NULL else <object>places[i]
            if PyTuple_GET_ITEM(<PyObject *>last.raw, i) != <PyObject *>given:
                break
        else:
            return last.raw
    return filled(places, len(self.absent), null)


cdef object serve(object function, PyObject **args, size_t flagged, PyObject *keywords):
    """Call a Function; `keywords` are the names of the last arguments."""
    cdef PyObject *places[MOST_PLACES]
    cdef Function self = <Function>function
    cdef Py_ssize_t n = PyVectorcall_NARGS(flagged), size = len(self.names), i, place
    cdef PyObject *name
    if keywords == NULL and n == self.ninputs:
        return call_operator(self.handle, filled(args, n, None), self.absent, None, None)
    if n > size:
        return PyObject_Vectorcall(self.plain, args, flagged, keywords)
    for place in range(size):
        places[place] = args[place] if place < n else NULL
    for i in range(0 if keywords == NULL else PyTuple_GET_SIZE(keywords)):
        name = PyTuple_GET_ITEM(keywords, i)
        for place in range(size):
            if PyTuple_GET_ITEM(<PyObject *>self.names, place) == name and places[place] == NULL:
                places[place] = args[n + i]
                break
        else:
            return PyObject_Vectorcall(self.plain, args, flagged, keywords)
    return call_operator(
        self.handle, filled(places, self.ninputs, None), attributes(self, &places[self.ninputs]),
        None if places[size - 1] == NULL else <object>places[size - 1], None
    )


def function(plain, OpHandle handle not None, inputs, fields):
    """What calls an operator as a function in Python does, but faster.

    Parameters
    ----------
    plain : function
        It takes inputs, attributes and ``out`` in this order.
    handle : OpHandle
    inputs, fields : sequence of str
        Names of the inputs and of the attributes.
    """
    cdef Function made = Function.__new__(Function)
    if len(inputs) + len(fields) >= MOST_PLACES:
        return plain
    made.vectorcall, made.plain, made.handle = serve, plain, handle
    made.names = tuple([sys.intern(name) for name in (*inputs, *fields, "out")])
    made.ninputs, made.absent = len(inputs), (_Null,) * len(fields)
    return functools.update_wrapper(made, plain)


cdef Function first = Function.__new__(Function)
mx_calls_by_vector(Function, <char *>&first.vectorcall - <char *><void *>first)
