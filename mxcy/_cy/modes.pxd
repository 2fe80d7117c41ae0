# Of the calling thread.
cdef int recording() noexcept nogil  # for autograd or for deferred computation
cdef int deferred() noexcept nogil  # the id with which operations are recorded, or 0
cdef int numpy_types() noexcept nogil
cdef int call_mode() noexcept nogil  # 1: training, 2: NumPy's types; 3: both
cdef int casting() noexcept nogil
cdef int np_shape() noexcept nogil
