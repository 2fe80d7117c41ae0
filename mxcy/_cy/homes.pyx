"""Properties of contexts, cached for the front."""
cimport cython

from mxcy._cy.services cimport services

cdef enum:
    CPU = 1
    CPU_SHARED = 5


@cython.final
cdef class Place:
    """Properties of a context."""

    cdef object context
    cdef object home  # context of results of operators on its arrays
    cdef bint cpu  # whether its arrays are in host memory
    cdef bint shared  # whether that memory is shared between processes


@cython.final
cdef class LastPlace:
    """The most recently used place."""

    cdef Place place


cdef LastPlace last = LastPlace.__new__(LastPlace)
last.place = Place.__new__(Place)


cdef Place place_of(object context):
    """Get the properties of a context."""
    cdef Place place = last.place
    if context is not place.context:
        place = Place.__new__(Place)
        place.context, place.home = context, context.home
        place.cpu = place.home.device_typeid == CPU
        place.shared = context.device_typeid == CPU_SHARED
        last.place = place
    return place


cdef object home_of(object context):
    """The context of results of operators on a context's arrays."""
    return context if context is services.default_context else place_of(context).home


cdef bint mixes(object context, object other) except -1:
    """Whether an operator accepts arrays of both contexts, as all CPU contexts share memory."""
    if (context is last.place.home and other is last.place.context) or context == other:
        return True
    return place_of(context).cpu and place_of(other).cpu


cdef bint is_shared(object context) except -1:
    """Whether a context's memory is shared between processes."""
    if context is services.default_context or context is last.place.home:
        return False
    return place_of(context).shared


cdef bint is_remote(object context) except -1:
    """Whether operations on a context's arrays always go through the engine."""
    if not services.serves_devices or context is services.default_context:
        return False
    return context.device_type == "gpu"
