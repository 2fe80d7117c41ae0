"""Synchronous nonzero positions and bin counts."""
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from mxcy._cy.direct_calls cimport REFUSED, Shortcut
from mxcy._cy.elements cimport itemsize
from mxcy._cy.native cimport MX_BF16, MX_F16, MX_F32, MX_F64, MX_I32, MX_I64, MX_U8
from mxcy._cy.ndarray cimport NDArrayBase, class_of, make_array
from mxcy._cy.profiler cimport MX_PROFILE_API, mx_profiled
from mxcy._cy.services cimport services
from mxcy._cy.shapes cimport SPARSE, shape_with
from mxcy._cy.slices cimport MOST_AXES
from mxcy._cy.storage cimport is_quiet
from mxcy._cy.variants cimport NOGIL_WORK

cdef enum:
    RUN = 64  # elements processed without checking the remaining count
    TABLES = 4  # so that equal neighbours use different counters
    MOST_NUMBERS = 4096  # maximum number of bins for several tables

ctypedef fused Word:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef fused Counted:
    uint8_t
    int32_t
    int64_t


# --- places --------------------------------------------------------------------------------------


cdef struct Columns:  # coordinates, one column per axis
    int64_t *of[MOST_AXES]
    int64_t hop  # stride between consecutive coordinates
    int64_t extents[MOST_AXES]
    int ndim
    int64_t count  # number of positions


cdef int64_t count_set(const Word *words, int64_t n, Word kept) noexcept nogil:
    """Count words that are nonzero in some bits."""
    cdef int64_t i, begin, end, total = 0
    cdef Word few  # same width as the elements, for vectorized addition
    for begin in range(0, n, 128):
        end, few = min(begin + 128, n), 0
        for i in range(begin, end):
            few += (words[i] & kept) != 0
        total += few
    return total


cdef inline int64_t note_row(const Word *words, int64_t n, Word kept, int64_t *out,
                             int64_t hop, int64_t left) noexcept nogil:
    """Write at most `left` positions of nonzero words of a row; return their number."""
    cdef int64_t i = 0, noted = 0, end
    while i < n:
        end = min(i + RUN, n)
        if noted + RUN < left:  # branch-free: an extra position is written and overwritten
            for i in range(i, end):
                out[noted * hop] = i
                noted += (words[i] & kept) != 0
        else:
            for i in range(i, end):
                if words[i] & kept:
                    out[noted * hop] = i
                    noted += 1
        i = end
    return noted


cdef void note_places(const Word *words, Word kept, Columns *c) noexcept nogil:
    """Write the coordinates of nonzero words."""
    cdef int64_t at[MOST_AXES]
    cdef int64_t row = c.extents[c.ndim - 1], noted = 0, fresh, i
    cdef int axis, last = c.ndim - 1
    memset(at, 0, sizeof(at))
    while noted < c.count:
        if c.hop == 1:  # lets the compiler specialize
            fresh = note_row(words, row, kept, c.of[last] + noted, 1, c.count - noted)
        else:
            fresh = note_row(words, row, kept, c.of[last] + noted * c.hop, c.hop, c.count - noted)
        for axis in range(last):
            for i in range(noted, noted + fresh):
                c.of[axis][i * c.hop] = at[axis]
        noted += fresh
        words += row
        for axis in range(last - 1, -1, -1):
            at[axis] += 1
            if at[axis] < c.extents[axis]:
                break
            at[axis] = 0


cdef int64_t visit(NDArrayBase array, Columns *c) noexcept nogil:
    """Count nonzero elements or, if `c` is not NULL, write their coordinates."""
    cdef int code = array.dtype_code, size = itemsize[code]
    cdef bint signed_zero = code in (MX_F16, MX_BF16, MX_F32, MX_F64)
    cdef uint64_t kept = (<uint64_t>1 << (8 * size - 1)) - 1 if signed_zero else <uint64_t>-1
    cdef int64_t n = array.layout.size
    if size == 1:
        if c == NULL:
            return count_set[uint8_t](<uint8_t *>array.data, n, <uint8_t>kept)
        note_places[uint8_t](<uint8_t *>array.data, <uint8_t>kept, c)
    elif size == 2:
        if c == NULL:
            return count_set[uint16_t](<uint16_t *>array.data, n, <uint16_t>kept)
        note_places[uint16_t](<uint16_t *>array.data, <uint16_t>kept, c)
    elif size == 4:
        if c == NULL:
            return count_set[uint32_t](<uint32_t *>array.data, n, <uint32_t>kept)
        note_places[uint32_t](<uint32_t *>array.data, <uint32_t>kept, c)
    else:
        if c == NULL:
            return count_set[uint64_t](<uint64_t *>array.data, n, kept)
        note_places[uint64_t](<uint64_t *>array.data, kept, c)
    return 0


cdef NDArrayBase plain_array(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """Get the only argument, if it is a readable real array of `mx.np`."""
    cdef NDArrayBase array
    if n != 1 or keywords != NULL or not isinstance(<object>args[0], services.numpy_class):
        return None
    array = <NDArrayBase>args[0]
    if array.layout is SPARSE or array.layout.size == 0 or not is_quiet(array.storage):
        return None
    if mx_profiled(MX_PROFILE_API):
        return None
    if array.layout.ndim == 0 or array.layout.ndim > MOST_AXES or itemsize[array.dtype_code] > 8:
        return None
    return None if array.dtype_code > MX_BF16 else array


cdef void start(Columns *c, NDArrayBase array, bint flat) noexcept:
    """Count the positions and set up their axes."""
    cdef int axis
    c.ndim = 1 if flat else array.layout.ndim
    if flat:
        c.extents[0] = array.layout.size
    else:
        for axis in range(c.ndim):
            c.extents[axis] = array.layout.extents[axis]
    with nogil:
        c.count = visit(array, NULL)


cdef object nonzero(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """Implement ``nonzero(array)``: coordinates, one array per axis."""
    cdef Columns c
    cdef NDArrayBase array = plain_array(self, args, n, keywords), column
    cdef int axis
    if array is None:
        return REFUSED
    start(&c, array, False)
    c.hop = 1
    columns = []
    for axis in range(c.ndim):
        column = make_array(
            shape_with(1, &c.count), MX_I64, array.storage.context, class_of(array)
        )
        c.of[axis] = <int64_t *>column.data
        columns.append(column)
    with nogil:
        visit(array, &c)
    return tuple(columns)


cdef NDArrayBase as_rows(NDArrayBase array, bint flat):
    """Compute coordinates, one row per position, or flat positions."""
    cdef Columns c
    cdef int64_t extents[2]
    cdef int axis
    cdef NDArrayBase rows
    start(&c, array, flat)
    c.hop = extents[1] = c.ndim
    extents[0] = c.count
    rows = make_array(
        shape_with(1 if flat else 2, extents), MX_I64, array.storage.context, class_of(array)
    )
    for axis in range(c.ndim):
        c.of[axis] = <int64_t *>rows.data + axis
    with nogil:
        visit(array, &c)
    return rows


cdef object flatnonzero(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """Implement ``flatnonzero(array)``."""
    cdef NDArrayBase array = plain_array(self, args, n, keywords)
    return REFUSED if array is None else as_rows(array, True)


cdef object argwhere(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """Implement ``argwhere(array)``."""
    cdef NDArrayBase array = plain_array(self, args, n, keywords)
    return REFUSED if array is None else as_rows(array, False)


cdef object count_nonzero(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """Implement ``count_nonzero(array)``."""
    cdef Columns c
    cdef NDArrayBase array = plain_array(self, args, n, keywords), number
    if array is None:
        return REFUSED
    start(&c, array, True)
    number = make_array(shape_with(0, NULL), MX_I64, array.storage.context, class_of(array))
    (<int64_t *>number.data)[0] = c.count
    return number


# --- bin counts ----------------------------------------------------------------------------------


cdef int64_t reach(const Counted *numbers, int64_t n) noexcept nogil:
    """Return the maximum plus one; 0 if any number is negative."""
    cdef int64_t i
    cdef Counted least = numbers[0], most = numbers[0]
    for i in range(n):
        least = min(least, numbers[i])
        most = max(most, numbers[i])
    return 0 if least < 0 else <int64_t>most + 1


cdef void count_numbers(const Counted *numbers, int64_t n, int64_t *out,
                        int64_t length) noexcept nogil:
    """Count the occurrences of each number below `length`."""
    cdef int64_t several[TABLES][MOST_NUMBERS]
    cdef int64_t i, whole = 0
    cdef int table
    memset(out, 0, length * sizeof(int64_t))
    if length <= MOST_NUMBERS and n > 4 * length:
        whole = n // TABLES * TABLES
        for table in range(TABLES):
            memset(several[table], 0, length * sizeof(int64_t))
        for i in range(0, whole, 4):
            several[0][numbers[i]] += 1
            several[1][numbers[i + 1]] += 1
            several[2][numbers[i + 2]] += 1
            several[3][numbers[i + 3]] += 1
        for table in range(TABLES):
            for i in range(length):
                out[i] += several[table][i]
    for i in range(whole, n):
        out[numbers[i]] += 1


cdef int64_t tally(NDArrayBase numbers, int64_t *out, int64_t length) noexcept nogil:
    """Count numbers or, if `out` is NULL, return the maximum plus one."""
    cdef int64_t n = numbers.layout.size
    cdef int code = numbers.dtype_code
    if code == MX_I64:
        if out == NULL:
            return reach[int64_t](<int64_t *>numbers.data, n)
        count_numbers[int64_t](<int64_t *>numbers.data, n, out, length)
    elif code == MX_I32:
        if out == NULL:
            return reach[int32_t](<int32_t *>numbers.data, n)
        count_numbers[int32_t](<int32_t *>numbers.data, n, out, length)
    else:
        if out == NULL:
            return reach[uint8_t](<uint8_t *>numbers.data, n)
        count_numbers[uint8_t](<uint8_t *>numbers.data, n, out, length)
    return 0


cdef object bincount(Shortcut self, PyObject **args, Py_ssize_t n, PyObject *keywords):
    """Implement ``bincount(array)`` for a vector of small nonnegative integers."""
    cdef NDArrayBase array = plain_array(self, args, n, keywords), counts
    cdef int64_t length
    if array is None or array.layout.ndim != 1:
        return REFUSED
    if array.dtype_code not in (MX_I64, MX_I32, MX_U8):
        return REFUSED
    with nogil:
        length = tally(array, NULL, 0)
    if not 0 < length <= max(array.layout.size, NOGIL_WORK):
        return REFUSED
    counts = make_array(
        shape_with(1, &length), MX_I64, array.storage.context, class_of(array)
    )
    with nogil:
        tally(array, <int64_t *>counts.data, length)
    return counts
