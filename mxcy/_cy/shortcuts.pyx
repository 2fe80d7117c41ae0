"""Fast C implementations of common calls, before the Python functions that handle all others."""
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from mxcy._cy.constructors cimport (
    codes, make_empty, make_filled, make_of_list, make_range, make_zeros,
)
from mxcy._cy.direct_calls cimport (
    MOST_PLACES, REFUSED, Attempt, Shortcut, bind, entries_of, is_int, numbers_of, serve,
)
from mxcy._cy.invoke cimport call_operator
from mxcy._cy.modes cimport recording
from mxcy._cy.native cimport MX_BF16, MX_BOOL
from mxcy._cy.ndarray cimport NDArrayBase, class_of, make_view
from mxcy._cy.picks cimport distinct, is_comparable, pick
from mxcy._cy.places cimport argwhere, bincount, count_nonzero, flatnonzero, nonzero
from mxcy._cy.profiler cimport MX_PROFILE_API, MX_PROFILE_IMPERATIVE, mx_profiled
from mxcy._cy.services cimport services
from mxcy._cy.shapes cimport SPARSE, shape_with
from mxcy._cy.slices cimport MOST_AXES
from mxcy._cy.storage cimport is_quiet
from mxcy._cy.variants cimport NOGIL_WORK

import functools
import sys

import numpy as np

from mxcy._base import dtypes
from mxcy.base import _Null
from mxcy._cy.variants import bind as bind_operator

cdef PyObject *NONE = <PyObject *>None
cdef object numpy_empty = np.empty
cdef list element_types = [dtypes.type_of(code) for code in range(15)]
cdef list memory_types = [dtypes.dtype_of(code) for code in range(15)]
cdef list type_names = [dtypes.name_of(code) for code in range(15)]


# --- reshaping -----------------------------------------------------------------------------------


cdef object reshape(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """Implement ``reshape(array, *shape)`` with sizes, 0 (copied) and one -1 (inferred)."""
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
    """Whether an array's elements can be read without waiting."""
    return (
        array.layout is not SPARSE and is_quiet(array.storage) and array.dtype_code != MX_BF16
        and not mx_profiled(MX_PROFILE_API)
    )


cdef object wait_to_read(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """Implement ``wait_to_read(array)`` for an array that no operation uses."""
    cdef NDArrayBase array
    if n != 1 or keywords != NULL or not isinstance(<object>args[0], NDArrayBase):
        return REFUSED
    array = <NDArrayBase>args[0]
    if array.layout is SPARSE or array.storage.device or not is_quiet(array.storage):
        return REFUSED
    return REFUSED if mx_profiled(MX_PROFILE_API | MX_PROFILE_IMPERATIVE) else None


cdef object asnumpy(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """Implement ``asnumpy(array)``."""
    cdef Py_buffer view
    cdef NDArrayBase array
    if n != 1 or keywords != NULL or not isinstance(<object>args[0], NDArrayBase):
        return REFUSED
    array = <NDArrayBase>args[0]
    if not is_readable(array) or not 0 < array.layout.size < NOGIL_WORK:
        return REFUSED
    result = numpy_empty(array.layout.dims, memory_types[array.dtype_code])
    PyObject_GetBuffer(result, &view, PyBUF_SIMPLE)
    memcpy(view.buf, array.data, array.used_bytes())
    PyBuffer_Release(&view)
    return result


cdef object asscalar(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """Implement ``asscalar(array)``: a NumPy scalar."""
    cdef NDArrayBase array
    if n != 1 or keywords != NULL or not isinstance(<object>args[0], NDArrayBase):
        return REFUSED
    array = <NDArrayBase>args[0]
    value = array.number()
    return REFUSED if value is None else element_types[array.dtype_code](value)


cdef object item(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """Implement ``item(array)``: a Python number."""
    if n != 1 or keywords != NULL or not isinstance(<object>args[0], NDArrayBase):
        return REFUSED
    value = (<NDArrayBase>args[0]).number()
    return REFUSED if value is None else value


# --- elements ------------------------------------------------------------------------------------


cdef object take(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """Implement ``take(array, indices, axis)`` along the first or flattened axis."""
    cdef PyObject *places[MOST_PLACES]
    cdef NDArrayBase result
    cdef bint flat
    cdef Py_ssize_t ngiven = bind(self, args, n, keywords, places)
    if ngiven < 2 or ngiven > 3 or places[0] == NULL or places[1] == NULL:
        return REFUSED
    if not (isinstance(<object>places[0], NDArrayBase)
            and isinstance(<object>places[1], NDArrayBase)):
        return REFUSED
    flat = places[2] == NULL or places[2] == NONE
    if (ngiven == 3 and places[2] == NULL) or (
        not flat and (not is_int(places[2]) or <object>places[2] != 0)
    ):
        return REFUSED
    if (<NDArrayBase>places[1]).dtype_code == MX_BOOL or not isinstance(
        <object>places[0], services.numpy_class
    ):
        return REFUSED
    result = pick(<NDArrayBase>places[0], <NDArrayBase>places[1], flat)
    return REFUSED if result is None else result


cdef object astype(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """Implement ``astype(array, dtype)`` by the cast operator."""
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
    """Implement ``unique(array)`` for small arrays by the sort operator."""
    cdef NDArrayBase array, ordered
    cdef int64_t size
    if n != 1 or keywords != NULL or recording():
        return REFUSED
    if not isinstance(<object>args[0], services.numpy_class):
        return REFUSED
    array = <NDArrayBase>args[0]
    size = array.layout.size
    if not is_readable(array) or not 0 < size < NOGIL_WORK or not is_comparable(array):
        return REFUSED
    if array.layout.ndim != 1:
        array = make_view(array, shape_with(1, &size), 0, services.numpy_class)
    ordered = call_operator(self.handle, (array,), self.absent, None, None, services.numpy_class)
    return distinct(ordered) if is_readable(ordered) else REFUSED


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
    if name == "wait_to_read":
        return wait_to_read
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
    if name == "nonzero":
        return nonzero
    if name == "flatnonzero":
        return flatnonzero
    if name == "argwhere":
        return argwhere
    if name == "count_nonzero":
        return count_nonzero
    if name == "bincount":
        return bincount
    raise ValueError(f"there is no shortcut for {name}")


cdef int place_of(tuple names, tuple wanted):
    """The position of the argument with one of some names, or -1."""
    for i, name in enumerate(names):
        if name in wanted:
            return i
    return -1


def shortcut(plain, cls=None, op=None):
    """Decorate a function or method with this front's C implementation for common arguments.

    Parameters
    ----------
    plain : function
        The function, identified by name; fallback for other arguments.
    cls : type, optional
        Class of created arrays, if not `mx.nd`'s.
    op : Op, optional
        The equivalent operator.
    """
    cdef Shortcut function = Shortcut.__new__(Shortcut)
    code = plain.__code__
    function.vectorcall, function.plain, function.attempt = serve, plain, attempt_of(plain.__name__)
    function.names = tuple([sys.intern(name) for name in code.co_varnames[:code.co_argcount]])
    if len(function.names) > MOST_PLACES:
        raise ValueError(f"{plain.__name__} has too many arguments")
    function.shape = place_of(function.names, ("shape", "object", "source_array"))
    function.handle = None if op is None else bind_operator(op)
    function.absent = () if op is None else (_Null,) * len(op.schema.names)
    function.number = place_of(function.names, ("val", "fill_value"))
    function.context = place_of(function.names, ("ctx", "device"))
    function.dtype, function.cls = place_of(function.names, ("dtype",)), cls
    return functools.update_wrapper(function, plain)
