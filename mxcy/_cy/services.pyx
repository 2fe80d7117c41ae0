"""Services provided by higher layers; see `mxcy._library.services.Services`."""
cimport cython


@cython.final
cdef class Services:
    """C fields for those of `mxcy._library.services.Services` that calls use."""


cdef Services services = Services.__new__(Services)


def use_services(above):
    """Set the services of the higher layers.

    Parameters
    ----------
    above : mxcy._library.services.Services
    """
    services.prepare, services.spec = above.prepare, above.spec
    services.run_reference, services.store_result = above.run_reference, above.store_result
    services.run_sparse = above.run_sparse
    services.prepare_on_device = above.prepare_on_device
    services.mixed_inputs = above.mixed_inputs
    services.streams_of, services.context_of = above.streams_of, above.context_of
    services.pool_of, services.shared_array = above.pool_of, above.shared_array
    services.array_class, services.default_context = above.array_class, above.default_context
    services.contexts = above.contexts
    services.serves_devices = above.serves_devices
    services.device_memory = above.device_memory
    services.upload, services.download = above.upload, above.download
    services.most_signatures = above.most_signatures
    services.unusual_operands = above.unusual_operands
