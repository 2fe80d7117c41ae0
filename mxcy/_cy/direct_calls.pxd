from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from mxcy._cy.profiler cimport MX_PROFILE_API, MX_PROFILE_IMPERATIVE, MX_PROFILE_MEMORY
from mxcy._cy.slices cimport MOST_AXES
from mxcy._cy.slots cimport vectorcallfunc
from mxcy._cy.variants cimport OpHandle

cdef extern from "Python.h":
    ctypedef struct PyTupleObject:
        PyObject **ob_item
    ctypedef struct PyListObject:
        PyObject **ob_item
    PyObject *tuple_item "PyTuple_GET_ITEM"(PyObject *items, Py_ssize_t i)
    Py_ssize_t tuple_size "PyTuple_GET_SIZE"(PyObject *items)
    Py_ssize_t list_size "PyList_GET_SIZE"(PyObject *items)
    int is_int "PyLong_CheckExact"(PyObject *entry)
    int is_float "PyFloat_CheckExact"(PyObject *entry)
    int is_tuple "PyTuple_CheckExact"(PyObject *entry)
    int is_list "PyList_CheckExact"(PyObject *entry)
    long long as_int64 "PyLong_AsLongLongAndOverflow"(PyObject *number, int *overflow)

cdef enum:
    MOST_PLACES = 8  # maximum number of arguments
    MOST_EXTENT = 1 << 30
    ANY_PROFILE = MX_PROFILE_API | MX_PROFILE_IMPERATIVE | MX_PROFILE_MEMORY

ctypedef object (*Attempt)(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords)


cdef class Shortcut:
    cdef vectorcallfunc vectorcall
    cdef object plain
    cdef Attempt attempt
    cdef tuple names  # argument names by position
    # Argument positions of array constructors; -1 if missing.
    cdef int shape, number, context, dtype
    cdef object cls  # class of created arrays; None for mx.nd's
    cdef OpHandle handle  # equivalent operator
    cdef tuple absent  # the operator's default attributes
    cdef dict __dict__
    cdef object __weakref__


cdef object REFUSED  # returned to fall back to Python
cdef object serve(object function, PyObject **args, size_t flagged, PyObject *keywords)


cdef inline Py_ssize_t bind(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords,
                            PyObject **places) noexcept:
    """Map arguments to positions, NULL if absent; return their number, -1 if unusual."""
    cdef Py_ssize_t size = tuple_size(<PyObject *>self.names), named = 0, i, place
    cdef PyObject *name
    if keywords != NULL:
        named = tuple_size(keywords)
    if n > size:
        return -1
    for place in range(size):
        places[place] = args[place] if place < n else NULL
    for i in range(named):
        name = tuple_item(keywords, i)
        for place in range(size):
            if tuple_item(<PyObject *>self.names, place) == name and places[place] == NULL:
                places[place] = args[n + i]
                break
        else:
            return -1
    return n + named


cdef inline int entries_of(PyObject *sequence, PyObject ***entries, PyObject **single) noexcept:
    """Get the entries of a tuple or list, or a single number; return their count, else -1."""
    if is_tuple(sequence):
        entries[0] = (<PyTupleObject *>sequence).ob_item
        return tuple_size(sequence)
    if is_list(sequence):
        entries[0] = (<PyListObject *>sequence).ob_item
        return list_size(sequence)
    single[0] = sequence
    entries[0] = single
    return 1


cdef inline int numbers_of(PyObject **entries, Py_ssize_t n, int64_t *numbers) noexcept:
    """Read exact integers; return their count, -1 for other types."""
    cdef Py_ssize_t i
    cdef int overflow = 0
    if n > MOST_AXES:
        return -1
    for i in range(n):
        if not is_int(entries[i]):
            return -1
        numbers[i] = as_int64(entries[i], &overflow)
        if overflow or not -8 < numbers[i] < MOST_EXTENT:
            return -1
    return n
