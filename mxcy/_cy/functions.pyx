"""Operator functions that bind their arguments without running Python code."""
from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM

cimport cython

from mxcy._cy.arithmetic cimport is_number, with_number
from mxcy._cy.invoke cimport call_operator
from mxcy._cy.modes cimport deferred
from mxcy._cy.ndarray cimport NDArrayBase
from mxcy._cy.services cimport services
from mxcy._cy.slots cimport mx_calls_by_vector, vectorcallfunc
from mxcy._cy.variants cimport OpHandle, Variant

import functools
import sys
import types

from mxcy.base import _Null

cdef extern from "Python.h":
    Py_ssize_t PyVectorcall_NARGS(size_t flagged)
    object PyObject_Vectorcall(object callee, PyObject **args, size_t flagged, PyObject *keywords)
    PyObject *PyTuple_GET_ITEM(PyObject *items, Py_ssize_t i)
    Py_ssize_t PyTuple_GET_SIZE(PyObject *items)

cdef enum:
    MOST_PLACES = 64


@cython.final
cdef class Function:
    """A fast function that falls back to `__wrapped__` for unusual arguments."""

    cdef vectorcallfunc vectorcall
    cdef object plain  # the function in Python
    cdef OpHandle handle
    cdef tuple names  # argument names by position: inputs, attributes, out
    cdef tuple absent  # attributes if none is given
    cdef Py_ssize_t ninputs
    cdef tuple places  # for functions of mx.np: position of each argument, -1 for none
    cdef tuple defaults  # defaults of arguments
    cdef bint optional  # whether some inputs are optional
    cdef bint direct  # whether its first arguments are the inputs in order
    cdef int joins  # 1: the first argument is a sequence of inputs of one dtype, 2: and shape
    cdef bint simple  # whether only non-empty arrays and plain values are handled here
    cdef OpHandle number, number_first  # its operators for an array and a scalar
    cdef dict __dict__
    cdef object __weakref__

    def __call__(self, *args, **kwargs):
        return self.plain(*args, **kwargs)

    def __get__(self, instance, owner):
        return self if instance is None else types.MethodType(self, instance)

    def __getattr__(self, name):
        if name in ("accumulate", "at", "outer", "reduce", "reduceat"):
            raise AttributeError(
                f"{self.__name__} is not a ufunc and has no method {name!r}: use functions such as "
                "np.sum and np.cumsum, and np.outer"
            )
        raise AttributeError(f"'function' object has no attribute {name!r}")

    def __repr__(self):
        return f"<function {self.__qualname__} at {id(self):#x}>"

    def __reduce__(self):
        return self.__qualname__


cdef tuple packed(PyObject **arguments, Py_ssize_t n):
    """Pack arguments into a tuple."""
    cdef tuple items = PyTuple_New(n)
    cdef Py_ssize_t i
    for i in range(n):
        Py_INCREF(<object>arguments[i])
        PyTuple_SET_ITEM(items, i, <object>arguments[i])
    return items


cdef tuple filled(PyObject **places, Py_ssize_t n, tuple absent):
    """Pack arguments, with defaults for absent ones."""
    cdef tuple arguments = PyTuple_New(n)
    cdef Py_ssize_t i
    for i in range(n):
        if places[i] != NULL:
            item = <object>places[i]
        else:
            item = None if absent is None else absent[i]
        Py_INCREF(item)
        PyTuple_SET_ITEM(arguments, i, item)
    return arguments


cdef tuple attributes(Function self, PyObject **places):
    """Pack the attributes of a call, reusing those of the previous call if equal."""
    cdef Variant last = self.handle.last
    cdef PyObject *argument
    cdef Py_ssize_t i
    if last is not None:
        for i in range(len(self.absent)):
            argument = places[i]
            if argument == NULL:
                argument = PyTuple_GET_ITEM(<PyObject *>self.absent, i)
            if PyTuple_GET_ITEM(<PyObject *>last.raw, i) != argument:
                break
        else:
            return last.raw
    return filled(places, len(self.absent), self.absent)


cdef bint lay(Function self, PyObject **slots, Py_ssize_t which, PyObject *argument):
    """Store an argument at its position; False to fall back to Python."""
    cdef Py_ssize_t place = <Py_ssize_t>self.places[which]
    if argument == PyTuple_GET_ITEM(<PyObject *>self.defaults, which):
        return True  # treated as absent
    if place < 0:
        return False
    slots[place] = argument
    return True


cdef bint are_arrays(PyObject **arguments, Py_ssize_t n):
    """Whether all arguments are arrays."""
    cdef Py_ssize_t i
    for i in range(n):
        if not isinstance(<object>arguments[i], NDArrayBase):
            return False
    return True


cdef bint has_elements(NDArrayBase array):
    """Whether an array has dimensions and elements."""
    return array.layout.ndim > 0 and array.layout.size > 0


cdef bint is_plain(PyObject *value):
    """Whether an attribute's value is a number, str, or tuple of integers."""
    cdef Py_ssize_t i
    if value == NULL:
        return True
    if PyLong_CheckExact(<object>value) or PyFloat_CheckExact(<object>value):
        return True
    if type(<object>value) is tuple:
        for i in range(len(<tuple><object>value)):
            if not PyLong_CheckExact((<tuple><object>value)[i]):
                return False
        return True
    return type(<object>value) is bool or type(<object>value) is str


cdef tuple one_kind(PyObject *sequence, bint one_shape):
    """Get the arrays of a sequence if they have equal dtype and, if requested, shape; else None."""
    cdef tuple arrays
    cdef NDArrayBase first, array
    if sequence == NULL or not isinstance(<object>sequence, (tuple, list)):
        return None
    arrays = tuple(<object>sequence)
    if not arrays or not isinstance(arrays[0], NDArrayBase):
        return None
    first = <NDArrayBase>arrays[0]
    for item in arrays:
        if not isinstance(item, NDArrayBase):
            return None
        array = <NDArrayBase>item
        if array.dtype_code != first.dtype_code or not has_elements(array):
            return None
        if one_shape and array.layout is not first.layout:
            return None
    return arrays


cdef object serve_numpy(object function, PyObject **args, size_t flagged, PyObject *keywords):
    """Call a Function of `mx.np`, whose arguments have their own order."""
    cdef Function self = <Function>function
    cdef PyObject *slots[MOST_PLACES]
    cdef Py_ssize_t n = PyVectorcall_NARGS(flagged), size = len(self.names), i, which
    cdef Py_ssize_t nslots = self.ninputs + len(self.absent) + 1
    cdef bint usual = n <= size
    cdef object out
    cdef tuple inputs
    if self.direct and n == self.ninputs and keywords == NULL and are_arrays(args, n):
        return call_operator(
            self.handle, packed(args, n), self.absent, None, None, services.numpy_class
        )
    for i in range(nslots):
        slots[i] = NULL
    for i in range(n if usual else 0):
        usual = usual and lay(self, slots, i, args[i])
    for i in range(0 if keywords == NULL or not usual else PyTuple_GET_SIZE(keywords)):
        for which in range(size):
            if (PyTuple_GET_ITEM(<PyObject *>self.names, which)
                    == PyTuple_GET_ITEM(keywords, i)):
                usual = usual and which >= n and lay(self, slots, which, args[n + i])
                break
        else:
            usual = False
    if not usual:
        return PyObject_Vectorcall(self.plain, args, flagged, keywords)
    out = None if slots[nslots - 1] == NULL else <object>slots[nslots - 1]
    if self.simple:
        usual = not deferred()  # the function knows how MXNet records it
        for i in range(self.ninputs, nslots - 1):
            usual = usual and is_plain(slots[i])
        for i in range(0 if self.joins else self.ninputs):
            usual = usual and (slots[i] == NULL or (
                isinstance(<object>slots[i], NDArrayBase)
                and has_elements(<NDArrayBase>slots[i])
            ))
        if not usual:
            return PyObject_Vectorcall(self.plain, args, flagged, keywords)
    if self.joins:
        inputs = one_kind(slots[0], self.joins == 2)
        if inputs is None or not (out is None or isinstance(out, NDArrayBase)):
            return PyObject_Vectorcall(self.plain, args, flagged, keywords)
        return call_operator(
            self.handle, inputs, attributes(self, &slots[1]), out, None, services.numpy_class
        )
    for i in range(self.ninputs):
        if slots[i] == NULL or slots[i] == <PyObject *>None:
            usual = usual and self.optional
        elif not isinstance(<object>slots[i], NDArrayBase):
            usual = False
    if usual and (out is None or isinstance(out, NDArrayBase)):
        return call_operator(
            self.handle, filled(slots, self.ninputs, None),
            attributes(self, &slots[self.ninputs]), out, None, services.numpy_class
        )
    if self.number is not None and (out is None or isinstance(out, NDArrayBase)):
        result = beside_number(self, slots, out)
        if result is not None:
            return result
    return PyObject_Vectorcall(self.plain, args, flagged, keywords)


cdef object beside_number(Function self, PyObject **slots, object out):
    """Call with a scalar as one of the last two inputs; None if there is none."""
    cdef Py_ssize_t last = self.ninputs - 1, i
    cdef PyObject *array
    cdef tuple inputs
    for i in range(self.ninputs):
        if slots[i] == NULL or (i < last - 1 and not isinstance(<object>slots[i], NDArrayBase)):
            return None
    for i in range(last, last - 2, -1):
        array = slots[last - 1] if i == last else slots[last]
        if isinstance(<object>array, NDArrayBase) and is_number(<object>slots[i]):
            if last == 1:
                inputs = (<object>array,)
            else:
                inputs = (<object>slots[0], <object>array)
            return with_number(
                self.number if i == last else self.number_first, inputs, <object>slots[i], out
            )
    return None


cdef object serve(object function, PyObject **args, size_t flagged, PyObject *keywords):
    """Call a Function; `keywords` are the names of the trailing arguments."""
    cdef Function self = <Function>function
    if keywords == NULL and PyVectorcall_NARGS(flagged) == self.ninputs:
        return call_operator(
            self.handle, packed(args, self.ninputs), self.absent, None, None, None
        )
    return serve_places(self, args, flagged, keywords)


cdef object serve_places(Function self, PyObject **args, size_t flagged, PyObject *keywords):
    """Call a Function with attributes, or with inputs by name."""
    cdef PyObject *places[MOST_PLACES]
    cdef Py_ssize_t n = PyVectorcall_NARGS(flagged), size = len(self.names), i, place
    cdef PyObject *name
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
        None if places[size - 1] == NULL else <object>places[size - 1], None, None
    )


def function(plain, OpHandle handle not None, inputs, fields):
    """Make a fast version of an operator's Python function.

    Parameters
    ----------
    plain : function
        Function of inputs, attributes and ``out``, in this order.
    handle : OpHandle
    inputs, fields : sequence of str
        Names of the inputs and of the attributes.
    """
    cdef Function self = Function.__new__(Function)
    if len(inputs) + len(fields) >= MOST_PLACES:
        return plain
    self.vectorcall, self.plain, self.handle = serve, plain, handle
    self.names = tuple([sys.intern(name) for name in (*inputs, *fields, "out")])
    self.ninputs, self.absent = len(inputs), (_Null,) * len(fields)
    return functools.update_wrapper(self, plain)


def numpy_function(plain, OpHandle handle not None, names, places, defaults, absent,
                   OpHandle number=None, OpHandle number_first=None, int joins=0,
                   bint simple=False):
    """Make a fast version of an operator's function in `mx.np`.

    Parameters
    ----------
    plain : function
        Fallback for unusual arguments, such as non-arrays.
    handle : OpHandle
    names : sequence of str
        Names of the parameters in order.
    places : sequence of int
        Position of each parameter among inputs, attributes and, last, ``out``; -1 if the operator
        lacks it.
    defaults : sequence
        Default of each parameter, which counts as absent.
    absent : sequence
        Attributes if none is given.
    number, number_first : OpHandle, optional
        For functions of arrays: operators for a scalar as the last input, or as the one before it.
    joins : int
        1: the first parameter is a sequence of arrays, 2: of equal shape.
    simple : bool
        Whether everything but non-empty arrays, numbers, str and tuples of integers is left to
        `plain`.
    """
    cdef Function self = Function.__new__(Function)
    self.vectorcall, self.plain, self.handle = serve_numpy, plain, handle
    self.names, self.places = tuple(map(sys.intern, names)), tuple(places)
    self.defaults, self.number, self.number_first = tuple(defaults), number, number_first
    self.ninputs, self.optional = 1 if joins else len(handle.op.inputs), bool(handle.op.optional)
    self.absent = tuple(absent)
    self.joins, self.simple = joins, simple
    self.direct = (
        not (joins or simple) and self.places[:self.ninputs] == tuple(range(self.ninputs))
    )
    if self.ninputs + len(self.absent) >= MOST_PLACES:
        return plain
    return functools.update_wrapper(self, plain)


cdef Function first = Function.__new__(Function)
mx_calls_by_vector(Function, <char *>&first.vectorcall - <char *><void *>first)
