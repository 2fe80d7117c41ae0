"""Operators' functions that find their arguments without running Python code."""
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
from mxcy._cy.slots cimport mx_calls_by_vector
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

cdef enum:
    MOST_PLACES = 64


@cython.final
cdef class Function:
    """A function made of another, `__wrapped__`, which is asked when arguments are unusual."""

    cdef vectorcallfunc vectorcall
    cdef object plain  # the function in Python
    cdef OpHandle handle
    cdef tuple names  # of the arguments by place: inputs, attributes, out
    cdef tuple absent  # the attributes of a call that gives none
    cdef Py_ssize_t ninputs
    cdef tuple places  # of a function of mx.np: where each argument goes, -1 for nowhere
    cdef tuple defaults  # what an argument is when it is not given
    cdef bint optional  # whether it can do without some inputs
    cdef bint direct  # whether the inputs are its first arguments, in their order
    cdef int joins  # 1: its first argument is a sequence of inputs of one type, 2: and one shape
    cdef bint simple  # whether it leaves all but arrays with elements and plain values to Python
    cdef OpHandle number, number_first  # its operators of an array and a number
    cdef dict __dict__
    cdef object __weakref__

    def __call__(self, *args, **kwargs):
        return self.plain(*args, **kwargs)

    def __get__(self, instance, owner):
        return self if instance is None else types.MethodType(self, instance)

    def __getattr__(self, name):
        if name in ("accumulate", "at", "outer", "reduce", "reduceat"):
            raise AttributeError(
                f"{self.__name__} is no ufunc and has no method {name!r}: there are functions like "
                "np.sum and np.cumsum, and np.outer"
            )
        raise AttributeError(f"'function' object has no attribute {name!r}")

    def __repr__(self):
        return f"<function {self.__qualname__} at {id(self):#x}>"

    def __reduce__(self):
        return self.__qualname__


cdef tuple packed(PyObject **arguments, Py_ssize_t n):
    """The arguments as a tuple."""
    cdef tuple items = PyTuple_New(n)
    cdef Py_ssize_t i
    for i in range(n):
        Py_INCREF(<object>arguments[i])
        PyTuple_SET_ITEM(items, i, <object>arguments[i])
    return items


cdef tuple filled(PyObject **places, Py_ssize_t n, tuple absent):
    """The arguments of some places, with others where they are absent."""
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
    """The attributes of a call: often all the same as in the call before."""
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
    """Put an argument in its place; False where Python has to look at it."""
    cdef Py_ssize_t place = <Py_ssize_t>self.places[which]
    if argument == PyTuple_GET_ITEM(<PyObject *>self.defaults, which):
        return True  # as if it were not given
    if place < 0:
        return False
    slots[place] = argument
    return True


cdef bint are_arrays(PyObject **arguments, Py_ssize_t n):
    """Whether arguments are arrays."""
    cdef Py_ssize_t i
    for i in range(n):
        if not isinstance(<object>arguments[i], NDArrayBase):
            return False
    return True


cdef bint has_elements(NDArrayBase array):
    """Whether an array has dimensions and elements."""
    return array.layout.ndim > 0 and array.layout.size > 0


cdef bint is_plain(PyObject *value):
    """Whether an attribute's value is a number, a text, or a tuple of integers."""
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
    """The arrays of a sequence, if they have one element type, and one shape; else None."""
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
    """Call a Function of `mx.np`, whose arguments come in an order of their own."""
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
        usual = not deferred()  # the function knows what MXNet records
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
    """A call with a number as the last input or the one before it; None where this is none."""
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
    """Call a Function; `keywords` are the names of the last arguments."""
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
    """What calls an operator as a function in Python does, but faster.

    Parameters
    ----------
    plain : function
        It takes inputs, attributes and ``out`` in this order.
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
    """What calls an operator as a function of `mx.np` does, but faster.

    Parameters
    ----------
    plain : function
        It is asked when arguments are unusual: no arrays, for instance.
    handle : OpHandle
    names : sequence of str
        Of the parameters, in their order.
    places : sequence of int
        For each parameter its place among inputs, attributes and, last, ``out``; -1 when the
        operator knows nothing of it.
    defaults : sequence
        For each parameter its default, with which it counts as not given.
    absent : sequence
        The attributes of a call that gives none.
    number, number_first : OpHandle, optional
        Of a function of arrays: the operators where the last of them, or the one before it, is a
        number.
    joins : int
        1: the first parameter is a sequence of arrays, 2: of one shape.
    simple : bool
        Whether all but arrays with dimensions and elements, numbers, texts and tuples of integers
        are left to `plain`.
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
