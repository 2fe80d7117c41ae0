from libc.stdint cimport int32_t, int64_t

cdef int32_t itemsize[15]  # by the code of an element type


cdef void move(char *target, const int64_t *to, const char *source, const int64_t *by,
               const int64_t *extents, int ndim, int size) noexcept
cdef object number_at(const char *data, int dtype)
cdef bint is_element(int dtype, object number, char *bits) noexcept
cdef void fill(char *data, int64_t count, int size, const char *bits) noexcept
