"""Fast C implementations of array constructors: empty, zeros, ones, full, arange, array."""
from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject
from libc.math cimport ceil
from libc.stdint cimport INT32_MAX, int32_t, int64_t
from libc.string cimport memset

from mxcy._cy.direct_calls cimport (
    ANY_PROFILE, MOST_EXTENT, MOST_PLACES, REFUSED, Shortcut, as_int64, bind, entries_of, is_float,
    is_int, is_list, is_tuple, numbers_of,
)
from mxcy._cy.elements cimport fill, is_element, itemsize
from mxcy._cy.modes cimport numpy_types
from mxcy._cy.native cimport MX_BOOL, MX_F32, MX_F64, MX_I32, MX_I64
from mxcy._cy.ndarray cimport NDArrayBase, make_array
from mxcy._cy.profiler cimport mx_profiled
from mxcy._cy.services cimport services
from mxcy._cy.shapes cimport Shape, shape_with
from mxcy._cy.slices cimport MOST_AXES
from mxcy._cy.variants cimport NOGIL_WORK

from mxcy._base import dtypes

cdef PyObject *NONE = <PyObject *>None
cdef long long MOST_EXACT = 1 << 53  # the largest integer up to which doubles are exact
codes = {None: MX_F32}  # dtype specifier -> code
for _code in range(13):  # complex dtypes take the slow path
    for _name in (dtypes.name_of(_code), dtypes.dtype_of(_code), dtypes.type_of(_code)):
        codes[_name] = _code
codes[bool] = MX_BOOL


cdef NDArrayBase new_array(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords,
                           PyObject **places):
    """Allocate an array as specified by the arguments; None for unusual arguments."""
    cdef PyObject **entries
    cdef PyObject *single
    cdef int64_t extents[MOST_AXES]
    cdef int64_t size = 1
    cdef int ndim, i
    cdef Py_ssize_t ngiven = bind(self, args, n, keywords, places)
    if ngiven < 0 or places[self.shape] == NULL or mx_profiled(ANY_PROFILE):
        return None
    ndim = entries_of(places[self.shape], &entries, &single)
    ndim = numbers_of(entries, ndim, extents)
    for i in range(ndim):
        if extents[i] <= 0 or size > NOGIL_WORK:
            return None
        size *= extents[i]
    # Large arrays, and shapes unknown to MXNet's semantics, take the slow path.
    if ndim < (1 if self.cls is None else 0) or size > NOGIL_WORK:
        return None
    return placed(self, places, shape_with(ndim, extents), ngiven - 1)


cdef NDArrayBase placed(Shortcut self, PyObject **places, Shape layout, Py_ssize_t ngiven):
    """Allocate an array with the given dtype and context; None for unusual arguments."""
    cdef object context = None, code = MX_F32
    if self.cls is not None and (self.dtype < 0 or places[self.dtype] == NULL):
        code = MX_F64 if numpy_types() else MX_F32
        if self.number >= 0:  # whose type mx.np derives from the value
            if places[self.number] == NULL:
                return None
            if PyLong_CheckExact(<object>places[self.number]):
                code = MX_I64
            elif not PyFloat_CheckExact(<object>places[self.number]):
                return None
        elif self.shape < 0 and numpy_types():  # also for a range with NumPy's types
            return None
    if self.number >= 0 and places[self.number] != NULL:
        ngiven -= 1
    if self.dtype >= 0 and places[self.dtype] != NULL:
        ngiven -= 1
        if self.cls is not None and places[self.dtype] == NONE:
            return None
        try:
            code = codes.get(<object>places[self.dtype])
        except TypeError:
            return None
        if code is None:
            return None
    if self.context >= 0 and places[self.context] != NULL:
        ngiven -= 1
        if places[self.context] != NONE:
            context = <object>places[self.context]
            if type(context) is not type(services.default_context) or context.device_typeid != 1:
                return None
    if ngiven:
        return None
    if context is None:
        context = services.contexts.value
        if context is not services.default_context and context.device_typeid != 1:
            return None
    return make_array(layout, code, context, self.cls or services.array_class)


cdef object make_empty(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    cdef PyObject *places[MOST_PLACES]
    cdef NDArrayBase array = new_array(self, args, n, keywords, places)
    return REFUSED if array is None else array


cdef object make_zeros(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    cdef PyObject *places[MOST_PLACES]
    cdef NDArrayBase array = new_array(self, args, n, keywords, places)
    if array is None:
        return REFUSED
    memset(array.data, 0, array.used_bytes())
    return array


cdef object make_filled(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """Implement ``ones`` and ``full``."""
    cdef PyObject *places[MOST_PLACES]
    cdef char bits[8]
    cdef NDArrayBase array = new_array(self, args, n, keywords, places)
    if array is None or (self.number >= 0 and places[self.number] == NULL):
        return REFUSED
    if not is_element(
        array.dtype_code, 1 if self.number < 0 else <object>places[self.number], bits
    ):
        return REFUSED
    fill(array.data, array.layout.size, itemsize[array.dtype_code], bits)
    return array


cdef bint is_real(PyObject *argument, double absent, double *number):
    """Read a Python number, with a default if it is absent or None."""
    if argument == NULL or argument == NONE:
        number[0] = absent
    elif PyFloat_CheckExact(<object>argument) or PyLong_CheckExact(<object>argument):
        number[0] = <object>argument
    else:
        return False
    return True


cdef object make_range(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """Implement ``arange(start, stop, step)``, at argument positions 0, 1 and 2."""
    cdef PyObject *places[MOST_PLACES]
    cdef double start = 0, stop = 0, step = 1, values
    cdef int64_t count, i
    cdef float first, by
    cdef NDArrayBase array
    cdef Py_ssize_t ngiven = bind(self, args, n, keywords, places)
    if ngiven < 0 or places[0] == NULL or places[0] == NONE or mx_profiled(ANY_PROFILE):
        return REFUSED
    try:
        if not (is_real(places[0], 0, &start) and is_real(places[1], 0, &stop)
                and is_real(places[2], 1, &step)):
            return REFUSED
    except OverflowError:
        return REFUSED
    for i in range(3):
        ngiven -= places[i] != NULL
    if places[1] == NULL or places[1] == NONE:
        start, stop = 0, start
    values = ceil((stop - start) / step) if step != 0 else 0
    if not 0 < values < NOGIL_WORK:
        return REFUSED
    count = <int64_t>values
    array = placed(self, places, shape_with(1, &count), ngiven)
    if array is None:
        return REFUSED
    if array.dtype_code == MX_F32:
        first, by = <float>start, <float>step
        for i in range(count):
            (<float *>array.data)[i] = first + <float>i * by
    elif array.dtype_code == MX_F64:
        for i in range(count):
            (<double *>array.data)[i] = start + i * step
    elif abs(start) > MOST_EXTENT or abs(stop) > MOST_EXTENT or abs(step) > MOST_EXTENT:
        return REFUSED
    elif array.dtype_code == MX_I32 or array.dtype_code == MX_I64:
        if count * abs(step) > INT32_MAX:
            return REFUSED
        for i in range(count):  # in the element type, as in MXNet
            if array.dtype_code == MX_I32:
                (<int32_t *>array.data)[i] = <int32_t>(<int64_t>start + i * <int64_t>step)
            else:
                (<int64_t *>array.data)[i] = <int64_t>start + i * <int64_t>step
    else:
        return REFUSED
    return array


# --- from lists ----------------------------------------------------------------------------------


cdef int measure(PyObject *nested, int64_t *extents) noexcept:
    """Infer the shape of nested lists from their first entries; return ndim, -1 if too large."""
    cdef PyObject **entries
    cdef PyObject *single
    cdef int ndim = 0
    while is_tuple(nested) or is_list(nested):
        if ndim == MOST_AXES:
            return -1
        extents[ndim] = entries_of(nested, &entries, &single)
        if extents[ndim] == 0:
            return -1
        ndim += 1
        nested = entries[0]
    return ndim


cdef char *store(PyObject *nested, const int64_t *extents, int ndim, int dtype, int size,
                 char *to) except? NULL:
    """Store the numbers of nested lists at an address; NULL for other elements."""
    cdef PyObject **entries
    cdef PyObject *single
    cdef int64_t i, whole
    cdef int overflow = 0
    if not (is_tuple(nested) or is_list(nested)):
        return NULL
    if entries_of(nested, &entries, &single) != extents[0]:
        return NULL
    for i in range(extents[0]):
        if ndim > 1:
            to = store(entries[i], extents + 1, ndim - 1, dtype, size, to)
            if to == NULL:
                return NULL
            continue
        if is_int(entries[i]):  # NumPy may convert them to floating point first
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
    """Implement ``array(lists)`` for Python numbers."""
    cdef PyObject *places[MOST_PLACES]
    cdef int64_t extents[MOST_AXES]
    cdef int64_t size = 1
    cdef int ndim, i
    cdef NDArrayBase array
    cdef Py_ssize_t ngiven
    if n == 0 or not (is_list(args[0]) or is_tuple(args[0])):
        return REFUSED
    ngiven = bind(self, args, n, keywords, places)
    ndim = -1 if ngiven < 0 or mx_profiled(ANY_PROFILE) else measure(places[0], extents)
    if ndim < 0:
        return REFUSED
    for i in range(ndim):
        size *= extents[i]
        if size > NOGIL_WORK:
            return REFUSED
    array = placed(self, places, shape_with(ndim, extents), ngiven - 1)
    if array is None or store(
        places[0], extents, ndim, array.dtype_code, itemsize[array.dtype_code], array.data
    ) == NULL:
        return REFUSED
    return array
