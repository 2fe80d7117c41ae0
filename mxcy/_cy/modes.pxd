# Of the calling thread.
cdef int recording() noexcept nogil  # for autograd or for deferred computation
cdef int deferred() noexcept nogil  # all operations are noted down
cdef int training() noexcept nogil
cdef int numpy_types() noexcept nogil
cdef int casting() noexcept nogil
cdef int np_shape() noexcept nogil
