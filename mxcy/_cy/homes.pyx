"""Where arrays live: what the front knows of contexts."""
cimport cython

from mxcy._cy.services cimport services

cdef enum:
    CPU = 1
    CPU_SHARED = 5


@cython.final
cdef class Place:
    """What is known of one context."""

    cdef object context
    cdef object home  # the context where results of operators on its arrays live
    cdef bint cpu  # whether its arrays lie in the host's memory
    cdef bint shared  # whether processes share that memory


@cython.final
cdef class LastPlace:
    """The place last asked about: mostly the same one."""

    cdef Place place


cdef LastPlace last = LastPlace.__new__(LastPlace)
last.place = Place.__new__(Place)


cdef Place place_of(object context):
    """What is known of a context."""
    cdef Place place = last.place
    if context is not place.context:
        place = Place.__new__(Place)
        place.context, place.home = context, context.home
        place.cpu = place.home.device_typeid == CPU
        place.shared = context.device_typeid == CPU_SHARED
        last.place = place
    return place


cdef object home_of(object context):
    """Where results of operators on arrays of a context live."""
    return context if context is services.default_context else place_of(context).home


cdef bint mixes(object context, object other) except -1:
    """Whether an operator takes arrays of both contexts: the CPU's all lie in the same memory."""
    if (context is last.place.home and other is last.place.context) or context == other:
        return True
    return place_of(context).cpu and place_of(other).cpu


cdef bint is_shared(object context) except -1:
    """Whether processes share the memory of a context's arrays."""
    if context is services.default_context or context is last.place.home:
        return False
    return place_of(context).shared


cdef bint is_remote(object context) except -1:
    """Whether operations on a context's arrays always go through the engine."""
    if not services.serves_devices or context is services.default_context:
        return False
    return context.device_type == "gpu"
