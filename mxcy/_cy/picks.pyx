"""Synchronous selection from small arrays of `mx.np` by index arrays or masks."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from cython cimport floating

from mxcy._cy.elements cimport itemsize
from mxcy._cy.modes cimport recording
from mxcy._cy.native cimport MX_BOOL, MX_F32, MX_F64, MX_I32, MX_I64, MX_I8, MX_U8
from mxcy._cy.ndarray cimport NDArrayBase, class_of, make_array
from mxcy._cy.shapes cimport SPARSE, shape_with
from mxcy._cy.storage cimport is_quiet
from mxcy._cy.variants cimport NOGIL_WORK

cdef enum:
    MOST_AXES = 8

ctypedef fused Word:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef fused Place:
    int32_t
    int64_t

ctypedef fused Compared:  # elements compared directly
    float
    double
    uint8_t
    int32_t
    int64_t


cdef bint move_words(Word *target, const Word *source, const Place *places, int64_t n,
                     int64_t extent) noexcept:
    """Gather words; False for an index out of bounds."""
    cdef int64_t i, at
    for i in range(n):
        at = places[i]
        if at < 0:
            at += extent
        if not 0 <= at < extent:
            return False
        target[i] = source[at]
    return True


cdef bint move_rows(char *target, const char *source, const Place *places, int64_t n,
                    int64_t extent, int64_t size) noexcept:
    """Gather rows by size in bytes; False for an index out of bounds."""
    cdef int64_t i, at
    if size == 4:
        return move_words[uint32_t, Place](
            <uint32_t *>target, <const uint32_t *>source, places, n, extent
        )
    if size == 8:
        return move_words[uint64_t, Place](
            <uint64_t *>target, <const uint64_t *>source, places, n, extent
        )
    for i in range(n):
        at = places[i]
        if at < 0:
            at += extent
        if not 0 <= at < extent:
            return False
        memcpy(target + i * size, source + at * size, size)
    return True


cdef void move_masked(Word *target, const Word *source, const uint8_t *mask, int64_t n,
                      int64_t count) noexcept:
    """Gather `count` words where a mask is set."""
    cdef int64_t i, kept = 0
    for i in range(n):  # branch-free: an extra word is written and overwritten
        if kept == count:
            break
        target[kept] = source[i]
        kept += mask[i] != 0


cdef NDArrayBase pick_masked(NDArrayBase array, NDArrayBase mask):
    """Select the elements where a mask of the array's shape is set; None if there are none."""
    cdef const uint8_t *bits = <const uint8_t *>mask.data
    cdef int64_t i, count = 0
    cdef int size = itemsize[array.dtype_code]
    cdef NDArrayBase selected
    if size > 8:
        return None
    for i in range(mask.layout.size):
        count += bits[i] != 0
    if count == 0:
        return None
    selected = make_array(
        shape_with(1, &count), array.dtype_code, array.storage.context, class_of(array)
    )
    if size == 4:
        move_masked[uint32_t](
            <uint32_t *>selected.data, <uint32_t *>array.data, bits, mask.layout.size, count
        )
    elif size == 8:
        move_masked[uint64_t](
            <uint64_t *>selected.data, <uint64_t *>array.data, bits, mask.layout.size, count
        )
    elif size == 2:
        move_masked[uint16_t](
            <uint16_t *>selected.data, <uint16_t *>array.data, bits, mask.layout.size, count
        )
    else:
        move_masked[uint8_t](
            <uint8_t *>selected.data, <uint8_t *>array.data, bits, mask.layout.size, count
        )
    return selected


cdef NDArrayBase pick(NDArrayBase array, NDArrayBase places, bint flat):
    """Select elements at indices along the first or flattened axis; None if unusual.

    Unusual are recorded arrays, large ones (except with masks), pending ones, indices out of
    bounds, and index types other than 4- or 8-byte integers or a mask of the array's shape.
    """
    cdef int64_t extents[MOST_AXES]
    cdef int64_t extent, row = 1, size = 1
    cdef int ndim = 0, i
    cdef NDArrayBase selected
    cdef bint moved
    if array.layout is SPARSE or places.layout is SPARSE or array.layout.ndim == 0:
        return None
    if array.layout.size == 0:
        return None
    if (array.node is not None and recording()) or not is_quiet(array.storage):
        return None
    if not is_quiet(places.storage):
        return None
    if places.dtype_code == MX_BOOL:
        same = places.layout is array.layout
        return pick_masked(array, places) if same and not flat else None
    if array.layout.size >= NOGIL_WORK:
        return None
    if places.dtype_code != MX_I64 and places.dtype_code != MX_I32:
        return None
    extent = array.layout.size if flat else array.layout.extents[0]
    if not flat:
        row = array.layout.size // extent
    if places.layout.ndim + array.layout.ndim > MOST_AXES:
        return None
    for i in range(places.layout.ndim):
        extents[ndim] = places.layout.extents[i]
        ndim += 1
    for i in range(1, 1 if flat else array.layout.ndim):
        extents[ndim] = array.layout.extents[i]
        ndim += 1
    size = places.layout.size * row
    if size == 0 or size >= NOGIL_WORK:
        return None
    selected = make_array(
        places.layout if ndim == places.layout.ndim else shape_with(ndim, extents),
        array.dtype_code, array.storage.context, class_of(array)
    )
    row *= itemsize[array.dtype_code]
    if places.dtype_code == MX_I64:
        moved = move_rows[int64_t](
            selected.data, array.data, <const int64_t *>places.data, places.layout.size, extent, row
        )
    else:
        moved = move_rows[int32_t](
            selected.data, array.data, <const int32_t *>places.data, places.layout.size, extent, row
        )
    return selected if moved else None


cdef bint is_comparable(NDArrayBase array) noexcept:
    """Whether `distinct` supports the dtype."""
    cdef int code = array.dtype_code
    return code in (MX_F32, MX_F64, MX_I32, MX_I64, MX_U8, MX_I8)


cdef int64_t drop_repeats(Compared *values, int64_t n) noexcept:
    """Keep the first of equal neighbours, treating NaN as equal; return how many remain."""
    cdef int64_t i, kept = 1
    cdef Compared before
    for i in range(1, n):
        before = values[kept - 1]
        if Compared in floating:
            if values[i] != values[i] and before != before:
                continue
        if values[i] != before:
            values[kept] = values[i]
            kept += 1
    return kept


cdef NDArrayBase distinct(NDArrayBase ordered):
    """Compute the distinct elements of a sorted vector, in its memory."""
    cdef int64_t n = ordered.layout.size
    cdef int code = ordered.dtype_code
    cdef NDArrayBase values
    if code == MX_F32:
        n = drop_repeats(<float *>ordered.data, n)
    elif code == MX_F64:
        n = drop_repeats(<double *>ordered.data, n)
    elif code == MX_I32:
        n = drop_repeats(<int32_t *>ordered.data, n)
    elif code == MX_I64:
        n = drop_repeats(<int64_t *>ordered.data, n)
    else:
        n = drop_repeats(<uint8_t *>ordered.data, n)
    values = make_array(shape_with(1, &n), code, ordered.storage.context, class_of(ordered))
    memcpy(values.data, ordered.data, n * itemsize[code])
    return values
