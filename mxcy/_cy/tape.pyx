"""The autograd tape of the Cython front: per-thread state and nodes. `mxcy.autograd` walks it."""
cimport cython

cdef extern from *:
    """
    static __thread int mx_recording = 0, mx_training = 0;
    """
    int mx_recording
    int mx_training


cdef int recording() noexcept nogil:
    return mx_recording


cdef int training() noexcept nogil:
    return mx_training


def is_recording():
    """Whether this thread records operations on the tape."""
    return mx_recording != 0


def is_training():
    """Whether operators of this thread run in training mode."""
    return mx_training != 0


def set_recording(bint flag):
    """Switch recording for this thread; returns the previous state."""
    global mx_recording
    cdef int before = mx_recording
    mx_recording = flag
    return before != 0


def set_training(bint flag):
    """Switch training mode for this thread; returns the previous state."""
    global mx_training
    cdef int before = mx_training
    mx_training = flag
    return before != 0


@cython.final
@cython.trashcan(True)
cdef class Node:
    """One recorded operation, or (with `op` None) a variable with a gradient."""
