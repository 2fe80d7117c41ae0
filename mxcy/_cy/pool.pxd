cdef void *pool_alloc(size_t size) noexcept nogil
cdef void pool_free(void *data, size_t size) noexcept nogil
