"""Thread-local modes: recording, training, type rules, casts, shape semantics."""
from mxcy._base.errors import TracedValueError

cdef extern from *:
    """
    /* `taping`: 1 records for autograd; half of the rest is the id for deferred computation. */
    static __thread struct mx_modes {
      int taping, training, numpy_types, exact, np_shape;
    } mx_here = {0, 0, 0, 0, 0};
    """
    ctypedef struct Modes:
        int taping
        int training
        int numpy_types
        int exact
        int np_shape
    Modes mx_here

cdef struct Process:
    int np_shape  # for all threads

cdef Process process
process.np_shape = 0


cdef int recording() noexcept nogil:
    return mx_here.taping


cdef int deferred() noexcept nogil:
    return mx_here.taping >> 1


cdef int numpy_types() noexcept nogil:
    return mx_here.numpy_types


cdef int call_mode() noexcept nogil:
    return mx_here.training | mx_here.numpy_types << 1


cdef int casting() noexcept nogil:
    return not mx_here.exact


cdef int np_shape() noexcept nogil:
    return mx_here.np_shape or process.np_shape


def is_taping():
    """Whether this thread records operations, for autograd or for deferred computation."""
    return mx_here.taping != 0


def is_deferred():
    """Whether this thread is in deferred computation, recording all operations."""
    return deferred() != 0


def set_deferred(int number):
    """Record all operations with this id, none with 0; return the previous id."""
    cdef int before = deferred()
    mx_here.taping = (mx_here.taping & 1) | number << 1
    return before


def set_casting(bint flag):
    """Switch the casts of mixed precision for this thread; returns the previous state."""
    cdef int before = mx_here.exact
    mx_here.exact = not flag
    return before == 0


def is_recording():
    """Whether this thread records operations on the tape."""
    return mx_here.taping & 1 != 0


def is_training():
    """Whether operators of this thread run in training mode."""
    return mx_here.training != 0


def has_numpy_types():
    """Whether operators of `mx.np` follow NumPy's type rules."""
    return mx_here.numpy_types != 0


def set_numpy_types(bint flag):
    """Switch NumPy's type rules for this thread; returns the previous state."""
    cdef int before = mx_here.numpy_types
    mx_here.numpy_types = flag
    return before != 0


def set_recording(bint flag):
    """Switch recording for this thread; returns the previous state."""
    cdef int before = mx_here.taping
    if flag and before >> 1:
        raise TracedValueError("deferred computation cannot be recorded for autograd as well")
    mx_here.taping = (before & ~1) | flag
    return before & 1 != 0


def set_training(bint flag):
    """Switch training mode for this thread; returns the previous state."""
    cdef int before = mx_here.training
    mx_here.training = flag
    return before != 0


def is_np_shape():
    """Whether this thread uses NumPy shape semantics: ``()`` is a scalar, and 0 a valid size."""
    return np_shape() != 0


def set_np_shape(bint active, bint everywhere):
    """Switch NumPy shape semantics for this thread, and optionally all threads."""
    mx_here.np_shape, process.np_shape = active, everywhere
