"""Where arrays live: what the front knows of contexts."""

cdef enum:
    CPU = 1
    CPU_SHARED = 5

cdef object default_home = None  # the context of new arrays
cdef bint serves_remote = False

# What is known of one context, the last that was asked about.
cdef object known_context = None
cdef object known_home = None
cdef bint known_shared = False
cdef bint known_cpu = False


cdef int look_at(object context) except -1:
    """Fill in what is known of a context."""
    global known_context, known_home, known_shared, known_cpu
    home = context.home
    cdef bint cpu = home.device_typeid == CPU, shared = context.device_typeid == CPU_SHARED
    known_home, known_shared, known_cpu, known_context = home, shared, cpu, context
    return 0


cdef object home_of(object context):
    """Where results of operators on arrays of a context live."""
    if context is default_home:
        return context
    if context is not known_context:
        look_at(context)
    return known_home


cdef bint mixes(object context, object other) except -1:
    """Whether an operator takes arrays of both contexts: the CPU's all lie in the same memory."""
    cdef bint cpu
    if (other is known_context and context is known_home) or context == other:
        return True
    if context is not known_context:
        look_at(context)
    cpu = known_cpu
    if other is not known_context:
        look_at(other)
    return cpu and known_cpu


cdef bint is_shared(object context) except -1:
    """Whether processes share the memory of a context's arrays."""
    if context is default_home or context is known_home:
        return False
    if context is not known_context:
        look_at(context)
    return known_shared


cdef bint is_remote(object context) except -1:
    """Whether operations on a context's arrays always go through the engine."""
    return serves_remote and context is not default_home and context.device_type == "gpu"


cdef void set_default_home(object context) noexcept:
    """Tell the context of new arrays."""
    global default_home
    default_home = context


cdef void set_serves_remote(bint flag) noexcept:
    """Tell whether there are contexts other than the CPU's."""
    global serves_remote
    serves_remote = flag
