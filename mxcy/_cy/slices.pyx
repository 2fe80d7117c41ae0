"""Basic indexing in C: keys of integers, slices, None and Ellipsis.

Everything else is left to `mxcy.ndarray._indexing.access`, which has all rules: arrays in keys;
empty, recorded, large or pending arrays; and all errors.
"""
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.string cimport strcmp

from mxcy._cy.elements cimport is_element, itemsize, move
from mxcy._cy.modes cimport deferred, np_shape, recording
from mxcy._cy.ndarray cimport NDArrayBase, class_of, make_array, make_view, operations
from mxcy._cy.picks cimport pick
from mxcy._cy.services cimport services
from mxcy._cy.shapes cimport SPARSE, Shape, shape_of, shape_with
from mxcy._cy.storage cimport is_quiet, wrote
from mxcy._cy.variants cimport NOGIL_WORK

import numpy as np

cdef extern from "Python.h":
    ctypedef struct PySliceObject:
        PyObject *start
        PyObject *stop
        PyObject *step
    int is_slice "PySlice_Check"(PyObject *entry)
    int is_tuple "PyTuple_CheckExact"(PyObject *key)
    # Errors are cleared here: the slow path raises them again.
    int unpack "PySlice_Unpack"(PyObject *entry, Py_ssize_t *start, Py_ssize_t *stop,
                                Py_ssize_t *step)
    Py_ssize_t PySlice_AdjustIndices(Py_ssize_t length, Py_ssize_t *start, Py_ssize_t *stop,
                                     Py_ssize_t step)
    void PyErr_Clear()
    long long as_int64 "PyLong_AsLongLongAndOverflow"(PyObject *number, int *overflow)
    ctypedef struct PyTupleObject:
        PyObject **ob_item
    Py_ssize_t tuple_size "PyTuple_GET_SIZE"(PyObject *entries)
    int is_int "PyLong_CheckExact"(PyObject *entry)
    PyObject *kind_of "(PyObject *)Py_TYPE"(PyObject *entry)

cdef PyObject *ELLIPSIS = <PyObject *>Ellipsis
cdef PyObject *NONE = <PyObject *>None
cdef object numpy_array = np.ndarray
cdef object numpy_integer = np.int64
cdef Shape ELEMENT = shape_of((1,))
cdef Shape SCALAR = shape_of(())
# Buffer format characters by dtype code; NumPy has no bfloat16.
cdef list formats = [
    b"f", b"d", b"e", b"B", b"i", b"b", b"l", b"?", b"h", b"H", b"I", b"L", b"", b"Zf", b"Zd",
]


# --- parsing keys --------------------------------------------------------------------------------


cdef bint add_axis(Region *region, int64_t extent, int64_t stride) noexcept:
    """Add an axis to a region."""
    if region.ndim == MOST_ENTRIES:
        return False
    region.extents[region.ndim], region.strides[region.ndim] = extent, stride
    region.ndim += 1
    return True


cdef bint add_slice(Region *region, PyObject *entry, int64_t extent, int64_t pitch) noexcept:
    """Apply a slice of an axis to a region; False for empty ones."""
    cdef Py_ssize_t start, stop, step, count
    if unpack(entry, &start, &stop, &step) < 0:
        PyErr_Clear()
        return False
    count = PySlice_AdjustIndices(extent, &start, &stop, step)
    region.first += start * pitch
    return count > 0 and add_axis(region, count, step * pitch)


cdef int64_t place(PyObject *entry, int64_t extent) noexcept:
    """Normalise an index on an axis; -1 if out of bounds."""
    cdef int overflow = 0
    cdef int64_t at = as_int64(entry, &overflow)
    if overflow:
        return -1
    if at < 0:
        at += extent
    return at if 0 <= at < extent else -1


cdef bint add_rest(Region *region, Shape layout, const int64_t *pitch, int *axis,
                   int behind) noexcept:
    """Add all axes from one on to a region, except some at the end."""
    while axis[0] < layout.ndim - behind:
        if not add_axis(region, layout.extents[axis[0]], pitch[axis[0]]):
            return False
        axis[0] += 1
    return True


cdef bint understand(Shape layout, PyObject *key, Region *region) noexcept:
    """Parse a key; False for unusual keys."""
    cdef int64_t pitch[MOST_AXES]
    cdef int64_t at, stride = 1
    cdef int axis, behind
    cdef bint wide = False
    cdef PyObject **entries = &key
    cdef PyObject *entry
    cdef Py_ssize_t count = 1, i, j
    if layout.ndim == 0 or layout.ndim > MOST_AXES or layout.size == 0:
        return False
    for axis in range(layout.ndim - 1, -1, -1):
        pitch[axis] = stride
        stride *= layout.extents[axis]
    region.first, region.ndim, axis = 0, 0, 0
    if is_tuple(key):
        count = tuple_size(key)
        if count == 0 or count > MOST_ENTRIES:
            return False
        entries = (<PyTupleObject *>key).ob_item
    for i in range(count):
        entry = entries[i]
        if entry == NONE:
            if not add_axis(region, 1, 0):
                return False
            continue
        behind = 0
        if entry == ELLIPSIS:
            if wide:
                return False
            wide = True
            for j in range(i + 1, count):
                behind += entries[j] != NONE
            if not add_rest(region, layout, pitch, &axis, behind):
                return False
            continue
        if axis == layout.ndim:
            return False
        if is_int(entry) or kind_of(entry) == <PyObject *>numpy_integer:
            at = place(entry, layout.extents[axis])
            if at < 0:
                return False
            region.first += at * pitch[axis]
        elif not is_slice(entry) or not add_slice(
            region, entry, layout.extents[axis], pitch[axis]
        ):
            return False
        axis += 1
    return add_rest(region, layout, pitch, &axis, 0)


cdef int joined(Region *region, int64_t *extents, int64_t *strides) noexcept:
    """Merge the region's axes; return their number, 0 for one element."""
    cdef int n = 0, i
    for i in range(region.ndim):
        if region.extents[i] == 1:
            continue
        if n and strides[n - 1] == region.extents[i] * region.strides[i]:
            extents[n - 1] *= region.extents[i]
            strides[n - 1] = region.strides[i]
        else:
            extents[n], strides[n] = region.extents[i], region.strides[i]
            n += 1
    return n


cdef bint is_usual(NDArrayBase array) noexcept:
    """Whether the elements may be accessed without waiting."""
    return array.layout is not SPARSE and is_quiet(array.storage)


# --- reading -------------------------------------------------------------------------------------


cdef object read(NDArrayBase array, object key):
    """Evaluate ``array[key]``."""
    cdef int64_t extents[MOST_ENTRIES]
    cdef int64_t strides[MOST_ENTRIES]
    cdef int64_t dense[MOST_ENTRIES]
    cdef Region region
    cdef Shape layout
    cdef NDArrayBase copy
    cdef object cls
    cdef bint like_numpy
    cdef int i, n
    if isinstance(key, NDArrayBase) and not deferred() and class_of(array) is services.numpy_class:
        copy = pick(array, <NDArrayBase>key, False)
        return array._get_index(key) if copy is None else copy
    if (array.node is not None and recording()) or not understand(
        array.layout, <PyObject *>key, &region
    ):
        return array._get_index(key)
    cls = class_of(array)
    if region.ndim == 0:
        # An element of mx.nd has shape (1,) under MXNet's own shape semantics.
        like_numpy = cls is not services.array_class or np_shape()
        layout = SCALAR if like_numpy else ELEMENT
    elif is_slice(<PyObject *>key) and (<PySliceObject *>key).start == NONE and (
        (<PySliceObject *>key).stop == NONE
        and region.strides[0] * array.layout.extents[0] == array.layout.size
    ):
        return array
    else:
        layout = shape_with(region.ndim, region.extents)
    n = joined(&region, extents, strides)
    if n == 0 or (n == 1 and strides[0] == 1):
        return make_view(array, layout, region.first, cls)
    if layout.size >= NOGIL_WORK or not is_usual(array):
        return array._get_index(key)
    copy = make_array(layout, array.dtype_code, array.storage.context, cls)
    dense[n - 1] = 1
    for i in range(n - 1, 0, -1):
        dense[i - 1] = dense[i] * extents[i]
    move(
        copy.data, dense, array.data + region.first * itemsize[array.dtype_code], strides,
        extents, n, itemsize[array.dtype_code]
    )
    return copy


# --- writing -------------------------------------------------------------------------------------


cdef bint follow(Region *region, int ndim, const int64_t *extents, const int64_t *pitch,
                 int64_t *by) noexcept:
    """Broadcast a value to a region: its strides for each of the region's axes."""
    cdef int i, ahead = region.ndim - ndim
    if ahead < 0:
        return False
    for i in range(region.ndim):
        if i < ahead or extents[i - ahead] == 1:
            by[i] = 0
        elif extents[i - ahead] == region.extents[i]:
            by[i] = pitch[i - ahead]
        else:
            return False
    return True


cdef bint put(NDArrayBase array, Region *region, const char *source, const int64_t *by) noexcept:
    """Write to a region."""
    cdef int size = itemsize[array.dtype_code]
    move(
        array.data + region.first * size, region.strides, source, by, region.extents, region.ndim,
        size
    )
    wrote(array.storage)
    return True


cdef bint put_array(NDArrayBase array, Region *region, NDArrayBase value):
    """Write another array's elements, if that is simple."""
    cdef int64_t pitch[MOST_AXES]
    cdef int64_t by[MOST_ENTRIES]
    cdef int64_t stride = 1
    cdef int i
    if (value.dtype_code != array.dtype_code or value.layout.ndim > MOST_AXES
            or value.storage is array.storage or not is_usual(value)):
        return False
    for i in range(value.layout.ndim - 1, -1, -1):
        pitch[i] = stride
        stride *= value.layout.extents[i]
    if not follow(region, value.layout.ndim, value.layout.extents, pitch, by):
        return False
    return put(array, region, value.data, by)


cdef bint put_numpy(NDArrayBase array, Region *region, object value):
    """Write a NumPy array's elements, if that is simple."""
    cdef Py_buffer view
    cdef int64_t pitch[MOST_AXES]
    cdef int64_t by[MOST_ENTRIES]
    cdef int i
    cdef bint done = False
    try:
        PyObject_GetBuffer(value, &view, PyBUF_FORMAT | PyBUF_STRIDES)
    except (BufferError, ValueError):
        return False
    # Arrays over NumPy's memory may overlap with the value: use the slow path.
    if (view.ndim <= MOST_AXES and not array.storage.exported
            and strcmp(view.format, <bytes>formats[array.dtype_code]) == 0):
        done = True
        for i in range(view.ndim):
            done = done and view.strides[i] % view.itemsize == 0
            pitch[i] = view.strides[i] // view.itemsize
        done = done and follow(region, view.ndim, <int64_t *>view.shape, pitch, by)
        if done:
            put(array, region, <const char *>view.buf, by)
    PyBuffer_Release(&view)
    return done


cdef bint put_value(NDArrayBase array, PyObject *key, object value):
    """Execute ``array[key] = value`` if that is simple."""
    cdef char bits[8]
    cdef int64_t by[MOST_ENTRIES]
    cdef Region region
    cdef bint is_array = isinstance(value, NDArrayBase)
    cdef int i
    cdef int64_t size = 1
    if not array.writable or not is_usual(array):
        return False
    if recording() and (
        deferred() or array.node is not None or (is_array and (<NDArrayBase>value).node is not None)
    ):
        return False
    if not understand(array.layout, key, &region):
        return False
    for i in range(region.ndim):
        size *= region.extents[i]
    if size >= NOGIL_WORK:
        return False
    if region.ndim == 0:  # an element also accepts arrays of one element
        add_axis(&region, 1, 1)
    if is_array:
        return put_array(array, &region, <NDArrayBase>value)
    if type(value) is numpy_array:
        return put_numpy(array, &region, value)
    if not is_element(array.dtype_code, value, bits):
        return False
    region.ndim = joined(&region, region.extents, region.strides)
    for i in range(region.ndim):
        by[i] = 0
    return put(array, &region, bits, by)


cdef int write(NDArrayBase array, object key, object value) except -1:
    """Execute ``array[key] = value``."""
    if not put_value(array, <PyObject *>key, value):
        array._set_index(key, value)
    return 0


operations.read, operations.write = read, write
