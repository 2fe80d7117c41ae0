"""Functions in C before functions in Python: they do what is usual, and the others the rest."""
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject
from libc.math cimport ceil
from libc.stdint cimport INT32_MAX, int32_t, int64_t
from libc.string cimport memcpy, memset

cimport cython

from mxcy._cy.invoke cimport call_operator
from mxcy._cy.native cimport MX_BF16, MX_BOOL, MX_F32, MX_F64, MX_I32, MX_I64
from mxcy._cy.ndarray cimport (
    NDArrayBase, class_of, deferred, is_quiet, itemsize, make_array, make_view, numpy_class,
)
from mxcy._cy.picks cimport distinct, is_comparable, pick
from mxcy._cy.profiler cimport (
    MX_PROFILE_API, MX_PROFILE_IMPERATIVE, MX_PROFILE_MEMORY, mx_profiled,
)
from mxcy._cy.services cimport services
from mxcy._cy.shapes cimport SPARSE, Shape, shape_with
from mxcy._cy.slices cimport MOST_AXES, fill, is_element
from mxcy._cy.tape cimport numpy_types, recording
from mxcy._cy.variants cimport NOGIL_WORK, OpHandle

import functools
import sys
import types

import numpy as np

from mxcy._base import dtypes
from mxcy.base import _Null
from mxcy._cy.variants import bind as bind_operator

cdef extern from "Python.h":
    ctypedef object (*vectorcallfunc)(object, PyObject **, size_t, PyObject *)
    ctypedef struct PyTupleObject:
        PyObject **ob_item
    ctypedef struct PyListObject:
        PyObject **ob_item
    Py_ssize_t PyVectorcall_NARGS(size_t flagged)
    object PyObject_Vectorcall(object callee, PyObject **args, size_t flagged, PyObject *keywords)
    PyObject *tuple_item "PyTuple_GET_ITEM"(PyObject *items, Py_ssize_t i)
    Py_ssize_t tuple_size "PyTuple_GET_SIZE"(PyObject *items)
    Py_ssize_t list_size "PyList_GET_SIZE"(PyObject *items)
    int is_int "PyLong_CheckExact"(PyObject *entry)
    int is_float "PyFloat_CheckExact"(PyObject *entry)
    int is_tuple "PyTuple_CheckExact"(PyObject *entry)
    int is_list "PyList_CheckExact"(PyObject *entry)
    long long as_int64 "PyLong_AsLongLongAndOverflow"(PyObject *number, int *overflow)

cdef extern from *:
    """
    static void mx_calls_by_vector(PyObject *type, Py_ssize_t offset) {
      ((PyTypeObject *)type)->tp_vectorcall_offset = offset;
      ((PyTypeObject *)type)->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
      PyType_Modified((PyTypeObject *)type);
    }
    """
    void mx_calls_by_vector(object type, Py_ssize_t offset)

cdef enum:
    MOST_PLACES = 8
    MOST_EXTENT = 1 << 30
    ANY_PROFILE = MX_PROFILE_API | MX_PROFILE_IMPERATIVE | MX_PROFILE_MEMORY

# What a shortcut returns that leaves a call to Python.
cdef object REFUSED = object()
ctypedef object (*Attempt)(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords)

cdef PyObject *NONE = <PyObject *>None
cdef long long MOST_EXACT = 1 << 53  # integers up to here are doubles
cdef object numpy_empty = np.empty
cdef list element_types = [dtypes.type_of(code) for code in range(15)]
cdef list memory_types = [dtypes.dtype_of(code) for code in range(15)]
cdef list type_names = [dtypes.name_of(code) for code in range(15)]
cdef dict codes = {None: MX_F32}  # what names an element type -> its code
for _code in range(13):  # complex numbers go the long way
    for _name in (dtypes.name_of(_code), dtypes.dtype_of(_code), dtypes.type_of(_code)):
        codes[_name] = _code


@cython.final
cdef class Shortcut:
    """A function before another, `__wrapped__`, which does what the first one refuses."""

    cdef vectorcallfunc vectorcall
    cdef object plain
    cdef Attempt attempt
    cdef tuple names  # of the arguments by place
    # Where the arguments are of a function that makes arrays; -1 for those that it lacks.
    cdef int shape, number, context, dtype
    cdef object cls  # of the arrays that it makes; None for those of mx.nd
    cdef OpHandle handle  # of an operator that does it
    cdef tuple absent  # its attributes when none is given
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


cdef object serve(object function, PyObject **args, size_t flagged, PyObject *keywords):
    """Call a Shortcut."""
    cdef Shortcut self = <Shortcut>function
    if deferred():  # every step has to be noted down
        return PyObject_Vectorcall(self.plain, args, flagged, keywords)
    found = self.attempt(self, args, PyVectorcall_NARGS(flagged), keywords)
    if found is REFUSED:
        return PyObject_Vectorcall(self.plain, args, flagged, keywords)
    return found


cdef Py_ssize_t bind(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords,
                     PyObject **places) noexcept:
    """Put arguments in their places, NULL where there is none; returns how many, -1 for unusual."""
    cdef Py_ssize_t size = tuple_size(<PyObject *>self.names), given = 0, i, place
    cdef PyObject *name
    if keywords != NULL:
        given = tuple_size(keywords)
    if n > size:
        return -1
    for place in range(size):
        places[place] = args[place] if place < n else NULL
    for i in range(given):
        name = tuple_item(keywords, i)
        for place in range(size):
            if tuple_item(<PyObject *>self.names, place) == name and places[place] == NULL:
                places[place] = args[n + i]
                break
        else:
            return -1
    return n + given


cdef int entries_of(PyObject *given, PyObject ***entries, PyObject **single) noexcept:
    """The entries of a tuple or list, or a number as the only one; returns how many, else -1."""
    if is_tuple(given):
        entries[0] = (<PyTupleObject *>given).ob_item
        return tuple_size(given)
    if is_list(given):
        entries[0] = (<PyListObject *>given).ob_item
        return list_size(given)
    single[0] = given
    entries[0] = single
    return 1


cdef int numbers_of(PyObject **entries, Py_ssize_t n, int64_t *numbers) noexcept:
    """Read exact integers; returns how many, -1 for others."""
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


# --- arrays of nothing ---------------------------------------------------------------------------


cdef NDArrayBase new_array(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords,
                           PyObject **places):
    """An array as the arguments describe it, not filled yet; None for unusual arguments."""
    cdef PyObject **entries
    cdef PyObject *single
    cdef int64_t extents[MOST_AXES]
    cdef int64_t size = 1
    cdef int ndim, i
    cdef Py_ssize_t given = bind(self, args, n, keywords, places)
    if given < 0 or places[self.shape] == NULL or mx_profiled(ANY_PROFILE):
        return None
    ndim = entries_of(places[self.shape], &entries, &single)
    ndim = numbers_of(entries, ndim, extents)
    for i in range(ndim):
        if extents[i] <= 0 or size > NOGIL_WORK:
            return None
        size *= extents[i]
    # What is large, or unknown in MXNet's shapes, is unusual.
    if ndim < (1 if self.cls is None else 0) or size > NOGIL_WORK:
        return None
    return placed(self, places, shape_with(ndim, extents), given - 1)


cdef NDArrayBase placed(Shortcut self, PyObject **places, Shape layout, Py_ssize_t given):
    """An array of the given type in the given place; None where they, or others, are unusual."""
    cdef object context = None, code = MX_F32
    if self.cls is not None and (self.dtype < 0 or places[self.dtype] == NULL):
        # Of a number, and of a range in NumPy's way, mx.np chooses a type.
        if self.number >= 0 or (self.shape < 0 and numpy_types()):
            return None
        code = MX_F64 if numpy_types() else MX_F32
    if self.number >= 0 and places[self.number] != NULL:
        given -= 1
    if self.dtype >= 0 and places[self.dtype] != NULL:
        given -= 1
        if self.cls is not None and places[self.dtype] == NONE:
            return None
        try:
            code = codes.get(<object>places[self.dtype])
        except TypeError:
            return None
        if code is None:
            return None
    if self.context >= 0 and places[self.context] != NULL:
        given -= 1
        if places[self.context] != NONE:
            context = <object>places[self.context]
            if type(context) is not type(services.default_context) or context.device_typeid != 1:
                return None
    if given:
        return None
    if context is None:
        context = services.contexts.value
        if context is not services.default_context and context.device_typeid != 1:
            return None
    return make_array(layout, code, context, self.cls or services.array_class)


cdef object make_empty(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    cdef PyObject *places[MOST_PLACES]
    cdef NDArrayBase made = new_array(self, args, n, keywords, places)
    return REFUSED if made is None else made


cdef object make_zeros(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    cdef PyObject *places[MOST_PLACES]
    cdef NDArrayBase made = new_array(self, args, n, keywords, places)
    if made is None:
        return REFUSED
    memset(made.data, 0, made.used_bytes())
    return made


cdef object make_filled(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """Of ones, or of what the call says."""
    cdef PyObject *places[MOST_PLACES]
    cdef char bits[8]
    cdef NDArrayBase made = new_array(self, args, n, keywords, places)
    if made is None or (self.number >= 0 and places[self.number] == NULL):
        return REFUSED
    if not is_element(
        made.dtype_code, 1 if self.number < 0 else <object>places[self.number], bits
    ):
        return REFUSED
    fill(made, bits)
    return made


cdef bint is_real(PyObject *given, double absent, double *number):
    """Read a Python number; an argument that is absent, or None, has a default."""
    if given == NULL or given == NONE:
        number[0] = absent
    elif PyFloat_CheckExact(<object>given) or PyLong_CheckExact(<object>given):
        number[0] = <object>given
    else:
        return False
    return True


cdef object make_range(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """``arange(start, stop, step)``: the places of these are 0, 1 and 2."""
    cdef PyObject *places[MOST_PLACES]
    cdef double start = 0, stop = 0, step = 1, values
    cdef int64_t count, i
    cdef float first, by
    cdef NDArrayBase made
    cdef Py_ssize_t given = bind(self, args, n, keywords, places)
    if given < 0 or places[0] == NULL or places[0] == NONE or mx_profiled(ANY_PROFILE):
        return REFUSED
    try:
        if not (is_real(places[0], 0, &start) and is_real(places[1], 0, &stop)
                and is_real(places[2], 1, &step)):
            return REFUSED
    except OverflowError:
        return REFUSED
    for i in range(3):
        given -= places[i] != NULL
    if places[1] == NULL or places[1] == NONE:
        start, stop = 0, start
    values = ceil((stop - start) / step) if step != 0 else 0
    if not 0 < values < NOGIL_WORK:
        return REFUSED
    count = <int64_t>values
    made = placed(self, places, shape_with(1, &count), given)
    if made is None:
        return REFUSED
    if made.dtype_code == MX_F32:
        first, by = <float>start, <float>step
        for i in range(count):
            (<float *>made.data)[i] = first + <float>i * by
    elif made.dtype_code == MX_F64:
        for i in range(count):
            (<double *>made.data)[i] = start + i * step
    elif abs(start) > MOST_EXTENT or abs(stop) > MOST_EXTENT or abs(step) > MOST_EXTENT:
        return REFUSED
    elif made.dtype_code == MX_I32 or made.dtype_code == MX_I64:
        if count * abs(step) > INT32_MAX:
            return REFUSED
        for i in range(count):  # in the element type, as MXNet does it
            if made.dtype_code == MX_I32:
                (<int32_t *>made.data)[i] = <int32_t>(<int64_t>start + i * <int64_t>step)
            else:
                (<int64_t *>made.data)[i] = <int64_t>start + i * <int64_t>step
    else:
        return REFUSED
    return made


# --- arrays of other shapes ----------------------------------------------------------------------


cdef object reshape(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """``reshape(array, *shape)`` with extents, 0 (copied) and one -1 (what remains)."""
    cdef PyObject **entries
    cdef PyObject *single
    cdef int64_t extents[MOST_AXES]
    cdef int64_t size = 1
    cdef NDArrayBase array
    cdef int ndim, i, open = -1
    if keywords != NULL or n < 2 or not isinstance(<object>args[0], NDArrayBase):
        return REFUSED
    array = <NDArrayBase>args[0]
    if array.layout is SPARSE or array.layout.size == 0:
        return REFUSED
    if array.node is not None and recording():
        return REFUSED
    if n == 2:
        ndim = entries_of(args[1], &entries, &single)
    else:
        entries, ndim = args + 1, n - 1
    ndim = numbers_of(entries, ndim, extents)
    if ndim <= 0:
        return REFUSED
    for i in range(ndim):
        if extents[i] == -1 and open < 0:
            open = i
            continue
        if extents[i] == 0 and i < array.layout.ndim and class_of(array) is services.array_class:
            extents[i] = array.layout.extents[i]
        if extents[i] <= 0 or size > array.layout.size:
            return REFUSED
        size *= extents[i]
    if open >= 0:
        if size > array.layout.size or array.layout.size % size:
            return REFUSED
        extents[open] = array.layout.size // size
    elif size != array.layout.size:
        return REFUSED
    return make_view(array, shape_with(ndim, extents), 0, class_of(array))


# --- values --------------------------------------------------------------------------------------


cdef bint is_readable(NDArrayBase array) noexcept:
    """Whether an array's elements can be read here and now."""
    return (
        array.layout is not SPARSE and is_quiet(array.storage) and array.dtype_code != MX_BF16
        and not mx_profiled(MX_PROFILE_API)
    )


cdef object asnumpy(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """``asnumpy(array)``."""
    cdef Py_buffer view
    cdef NDArrayBase array
    if n != 1 or keywords != NULL or not isinstance(<object>args[0], NDArrayBase):
        return REFUSED
    array = <NDArrayBase>args[0]
    if not is_readable(array) or not 0 < array.layout.size < NOGIL_WORK:
        return REFUSED
    made = numpy_empty(array.layout.dims, memory_types[array.dtype_code])
    PyObject_GetBuffer(made, &view, PyBUF_SIMPLE)
    memcpy(view.buf, array.data, array.used_bytes())
    PyBuffer_Release(&view)
    return made


cdef object asscalar(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """``asscalar(array)``: a NumPy scalar."""
    cdef NDArrayBase array
    if n != 1 or keywords != NULL or not isinstance(<object>args[0], NDArrayBase):
        return REFUSED
    array = <NDArrayBase>args[0]
    found = array.number()
    return REFUSED if found is None else element_types[array.dtype_code](found)


cdef object item(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """``item(array)``: a Python number."""
    if n != 1 or keywords != NULL or not isinstance(<object>args[0], NDArrayBase):
        return REFUSED
    found = (<NDArrayBase>args[0]).number()
    return REFUSED if found is None else found


# --- elements ------------------------------------------------------------------------------------


cdef object take(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """``take(array, places, axis)`` along the first axis, or of the flattened array."""
    cdef PyObject *places[MOST_PLACES]
    cdef NDArrayBase made
    cdef bint flat
    cdef Py_ssize_t given = bind(self, args, n, keywords, places)
    if given < 2 or given > 3 or places[0] == NULL or places[1] == NULL:
        return REFUSED
    if not (isinstance(<object>places[0], NDArrayBase)
            and isinstance(<object>places[1], NDArrayBase)):
        return REFUSED
    flat = places[2] == NULL or places[2] == NONE
    if (given == 3 and places[2] == NULL) or (
        not flat and (not is_int(places[2]) or <object>places[2] != 0)
    ):
        return REFUSED
    if (<NDArrayBase>places[1]).dtype_code == MX_BOOL or not isinstance(
        <object>places[0], numpy_class
    ):
        return REFUSED
    made = pick(<NDArrayBase>places[0], <NDArrayBase>places[1], flat)
    return REFUSED if made is None else made


cdef object astype(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """``astype(array, dtype)``: a cast, by the operator that stands behind this function."""
    if n != 2 or keywords != NULL or recording() or not isinstance(<object>args[0], NDArrayBase):
        return REFUSED
    try:
        code = codes.get(<object>args[1])
    except TypeError:
        return REFUSED
    if code is None or args[1] == NONE or code > MX_BOOL:
        return REFUSED
    if (<NDArrayBase>args[0]).dtype_code > MX_BF16:  # complex
        return REFUSED
    return call_operator(
        self.handle, (<object>args[0],), (type_names[code],), None, None,
        class_of(<NDArrayBase>args[0])
    )


cdef object unique(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """``unique(array)`` of a few numbers, by the operator that sorts."""
    cdef NDArrayBase array, made
    cdef int64_t size
    if n != 1 or keywords != NULL or recording() or not isinstance(<object>args[0], numpy_class):
        return REFUSED
    array = <NDArrayBase>args[0]
    size = array.layout.size
    if not is_readable(array) or not 0 < size < NOGIL_WORK or not is_comparable(array):
        return REFUSED
    if array.layout.ndim != 1:
        array = make_view(array, shape_with(1, &size), 0, numpy_class)
    made = call_operator(self.handle, (array,), self.absent, None, None, numpy_class)
    return distinct(made) if is_readable(made) else REFUSED


cdef int measure(PyObject *given, int64_t *extents) noexcept:
    """The extents of nested lists, by their first entries; returns how many, -1 for too many."""
    cdef PyObject **entries
    cdef PyObject *single
    cdef int ndim = 0
    while is_tuple(given) or is_list(given):
        if ndim == MOST_AXES:
            return -1
        extents[ndim] = entries_of(given, &entries, &single)
        if extents[ndim] == 0:
            return -1
        ndim += 1
        given = entries[0]
    return ndim


cdef char *store(PyObject *given, const int64_t *extents, int ndim, int dtype, int size,
                 char *to) except? NULL:
    """Store the numbers of nested lists from an address on; NULL where there are others."""
    cdef PyObject **entries
    cdef PyObject *single
    cdef int64_t i, whole
    cdef int overflow = 0
    if not (is_tuple(given) or is_list(given)):
        return NULL
    if entries_of(given, &entries, &single) != extents[0]:
        return NULL
    for i in range(extents[0]):
        if ndim > 1:
            to = store(entries[i], extents + 1, ndim - 1, dtype, size, to)
            if to == NULL:
                return NULL
            continue
        if is_int(entries[i]):  # NumPy may make floating numbers of them first
            whole = as_int64(entries[i], &overflow)
            if overflow or not -MOST_EXACT <= whole <= MOST_EXACT:
                return NULL
        elif not is_float(entries[i]):
            return NULL
        if not is_element(dtype, <object>entries[i], to):
            return NULL
        to += size
    return to


cdef object make_of_list(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """``array(lists)`` of Python's numbers."""
    cdef PyObject *places[MOST_PLACES]
    cdef int64_t extents[MOST_AXES]
    cdef int64_t size = 1
    cdef int ndim, i
    cdef NDArrayBase made
    cdef Py_ssize_t given
    if n == 0 or not (is_list(args[0]) or is_tuple(args[0])):
        return REFUSED
    given = bind(self, args, n, keywords, places)
    ndim = -1 if given < 0 or mx_profiled(ANY_PROFILE) else measure(places[0], extents)
    if ndim < 0:
        return REFUSED
    for i in range(ndim):
        size *= extents[i]
        if size > NOGIL_WORK:
            return REFUSED
    made = placed(self, places, shape_with(ndim, extents), given - 1)
    if made is None or store(
        places[0], extents, ndim, made.dtype_code, itemsize[made.dtype_code], made.data
    ) == NULL:
        return REFUSED
    return made


cdef Attempt attempt_of(str name) except NULL:
    if name == "empty":
        return make_empty
    if name == "zeros":
        return make_zeros
    if name in ("ones", "full"):
        return make_filled
    if name == "arange":
        return make_range
    if name == "reshape":
        return reshape
    if name == "asnumpy":
        return asnumpy
    if name == "asscalar":
        return asscalar
    if name == "item":
        return item
    if name == "take":
        return take
    if name == "astype":
        return astype
    if name == "array":
        return make_of_list
    if name == "unique":
        return unique
    raise ValueError(f"there is no shortcut for {name}")


cdef int place_of(tuple names, tuple wanted):
    """The place of the argument that has one of some names, or -1."""
    for i, name in enumerate(names):
        if name in wanted:
            return i
    return -1


def shortcut(plain, cls=None, op=None):
    """Decorate a function or method that this front has in C for usual arguments.

    Parameters
    ----------
    plain : function
        Its name says which; it is called for all other arguments.
    cls : type, optional
        Of the arrays that a function makes, where those are not of `mx.nd`.
    op : Op, optional
        The operator that does what a function is for.
    """
    cdef Shortcut made = Shortcut.__new__(Shortcut)
    code = plain.__code__
    made.vectorcall, made.plain, made.attempt = serve, plain, attempt_of(plain.__name__)
    made.names = tuple([sys.intern(name) for name in code.co_varnames[:code.co_argcount]])
    if len(made.names) > MOST_PLACES:
        raise ValueError(f"{plain.__name__} has too many arguments")
    made.shape = place_of(made.names, ("shape", "object", "source_array"))
    made.handle = None if op is None else bind_operator(op)
    made.absent = () if op is None else (_Null,) * len(op.schema.names)
    made.number = place_of(made.names, ("val", "fill_value"))
    made.context = place_of(made.names, ("ctx", "device"))
    made.dtype, made.cls = place_of(made.names, ("dtype",)), cls
    return functools.update_wrapper(made, plain)


cdef Shortcut first = Shortcut.__new__(Shortcut)
mx_calls_by_vector(Shortcut, <char *>&first.vectorcall - <char *><void *>first)
