cdef class Services:
    cdef object prepare, spec, run_reference, store_result, streams_of, context_of, pool_of
    cdef object run_sparse, mixed_inputs, shared_array, array_class, default_context, contexts
    cdef object unusual_operands, prepare_on_device
    # Of mx.np, once it is imported: its class of arrays, how they take other operands, and what
    # stores a result in an array of another element type.
    cdef object numpy_class, numpy_unusual, numpy_store
    cdef bint serves_devices, device_memory
    cdef object upload, download
    cdef Py_ssize_t most_signatures


cdef Services services
