"""Elements in memory: sizes, moves, and conversion from and to Python numbers."""
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject
from libc.math cimport signbit
from libc.stdint cimport (
    int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
)
from libc.string cimport memcpy

from mxcy._cy.native cimport (
    MX_BF16, MX_BOOL, MX_F16, MX_F32, MX_F64, MX_I8, MX_I16, MX_I32, MX_I64, MX_U8, MX_U16, MX_U32,
    MX_U64,
)

from mxcy._base import dtypes

cdef extern from "Python.h":
    long long as_int64 "PyLong_AsLongLongAndOverflow"(PyObject *number, int *overflow)

cdef int32_t itemsize[15]
cdef int _code
for _code in range(15):
    itemsize[_code] = dtypes.DTYPES[_code].itemsize

ctypedef fused Word:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


cdef void move_line(Word *target, int64_t to, const Word *source, int64_t by, int64_t n) noexcept:
    cdef int64_t i
    cdef Word value
    if to == 1 and by == 0:
        value = source[0]
        for i in range(n):
            target[i] = value
    else:
        for i in range(n):
            target[i * to] = source[i * by]


cdef void move(char *target, const int64_t *to, const char *source, const int64_t *by,
               const int64_t *extents, int ndim, int size) noexcept:
    """Copy elements of one size; `to` and `by` are strides in elements."""
    cdef int64_t n = extents[ndim - 1] if ndim else 1
    cdef int64_t along = to[ndim - 1] if ndim else 1, beside = by[ndim - 1] if ndim else 1
    cdef int64_t i
    if ndim > 1:
        for _ in range(extents[0]):
            move(target, to + 1, source, by + 1, extents + 1, ndim - 1, size)
            target += to[0] * size
            source += by[0] * size
    elif n > 8 and along == 1 and beside == 1:
        memcpy(target, source, n * size)
    elif size == 4:
        move_line[uint32_t](<uint32_t *>target, along, <const uint32_t *>source, beside, n)
    elif size == 8:
        move_line[uint64_t](<uint64_t *>target, along, <const uint64_t *>source, beside, n)
    elif size == 16:
        for i in range(n):
            memcpy(target + 16 * i * along, source + 16 * i * beside, 16)
    elif size == 2:
        move_line[uint16_t](<uint16_t *>target, along, <const uint16_t *>source, beside, n)
    else:
        move_line[uint8_t](<uint8_t *>target, along, <const uint8_t *>source, beside, n)


cdef object number_at(const char *data, int dtype):
    """Convert an element to a Python number; None if Python has no such type."""
    if dtype == MX_F32:
        return (<const float *>data)[0]
    if dtype == MX_F64:
        return (<const double *>data)[0]
    if dtype == MX_I32:
        return (<const int32_t *>data)[0]
    if dtype == MX_I64:
        return (<const int64_t *>data)[0]
    if dtype == MX_U8:
        return (<const uint8_t *>data)[0]
    if dtype == MX_I8:
        return (<const int8_t *>data)[0]
    if dtype == MX_BOOL:
        return data[0] != 0
    return None


cdef bint is_within(double number, double least, double end) noexcept:
    """Whether a number, truncated to an integer, is in [least, end)."""
    return least - 1 < number < end


cdef bint is_element(int dtype, object number, char *bits) noexcept:
    """Store a Python number as an element; False if NumPy is needed."""
    cdef int64_t whole
    cdef double real
    cdef int overflow = 0
    if PyFloat_CheckExact(number):
        real = PyFloat_AS_DOUBLE(number)
        if dtype == MX_F32:
            (<float *>bits)[0] = <float>real
            return True
        if dtype == MX_F64:
            (<double *>bits)[0] = real
            return True
        if dtype == MX_BOOL:
            bits[0] = real != 0
            return True
        # Out-of-range conversion to integers is processor-specific: left to NumPy.
        if not is_within(real, -2147483648.0, 2147483648.0):
            return False
        whole = <int64_t>real
    elif PyLong_CheckExact(number) or number is True or number is False:
        whole = as_int64(<PyObject *>number, &overflow)
        if overflow:
            return False
        if dtype == MX_F32:
            (<float *>bits)[0] = <float>whole
            return True
        if dtype == MX_F64:
            (<double *>bits)[0] = <double>whole
            return True
        if dtype == MX_BOOL:
            bits[0] = whole != 0
            return True
        real = whole
    else:
        return False
    if dtype == MX_F16 or dtype == MX_BF16:
        if (real != 0 and real != 1) or signbit(real):
            return False
        (<uint16_t *>bits)[0] = 0 if real == 0 else 0x3C00 if dtype == MX_F16 else 0x3F80
        return True
    if dtype == MX_I64:
        (<int64_t *>bits)[0] = whole
    elif dtype == MX_I32 and is_within(real, -2147483648.0, 2147483648.0):
        (<int32_t *>bits)[0] = <int32_t>whole
    elif dtype == MX_U8 and is_within(real, 0, 256):
        (<uint8_t *>bits)[0] = <uint8_t>whole
    elif dtype == MX_I8 and is_within(real, -128, 128):
        (<int8_t *>bits)[0] = <int8_t>whole
    elif dtype == MX_I16 and is_within(real, -32768, 32768):
        (<int16_t *>bits)[0] = <int16_t>whole
    elif dtype == MX_U16 and is_within(real, 0, 65536):
        (<uint16_t *>bits)[0] = <uint16_t>whole
    elif dtype == MX_U32 and is_within(real, 0, 4294967296.0):
        (<uint32_t *>bits)[0] = <uint32_t>whole
    elif dtype == MX_U64 and whole >= 0 and real >= 0:
        (<uint64_t *>bits)[0] = <uint64_t>whole
    else:
        return False
    return True


cdef void fill(char *data, int64_t count, int size, const char *bits) noexcept:
    """Fill elements with the same bits."""
    cdef int64_t one = 1, none = 0
    move(data, &one, bits, &none, &count, 1, size)
