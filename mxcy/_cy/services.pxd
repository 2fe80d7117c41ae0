cdef class Services:
    cdef object prepare, spec, run_reference, store_result, streams_of, context_of, pool_of
    cdef object run_sparse, mixed_inputs, shared_array, array_class, default_context, contexts
    cdef object unusual_operands
    cdef bint serves_devices
    cdef Py_ssize_t most_signatures


cdef Services services
