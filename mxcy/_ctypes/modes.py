"""The modes of each thread: recording, training, element types, casts, shapes."""

import threading

from mxcy._base.errors import TracedValueError

__all__ = [
    "has_numpy_types",
    "is_deferred",
    "is_np_shape",
    "is_recording",
    "is_taping",
    "is_training",
    "set_casting",
    "set_deferred",
    "set_np_shape",
    "set_numpy_types",
    "set_recording",
    "set_training",
]


class _State(threading.local):
    recording = False
    deferred = 0
    training = False
    numpy_types = False
    casting = True
    np_shape = False


state = _State()


class _Process:
    """Modes of all threads together."""

    np_shape = False


def is_recording():
    """Whether this thread records operations on the tape."""
    return state.recording


def is_taping():
    """Whether this thread records operations, for autograd or for deferred computation."""
    return state.recording or state.deferred != 0


def is_deferred():
    """Whether this thread records all operations: deferred computation."""
    return state.deferred != 0


def set_deferred(number):
    """Record all operations with this id, none with 0; return the previous id."""
    before, state.deferred = state.deferred, int(number)
    return before


def is_training():
    """Whether operators of this thread run in training mode."""
    return state.training


def has_numpy_types():
    """Whether operators of `mx.np` follow NumPy's type rules."""
    return state.numpy_types


def set_numpy_types(flag):
    """Switch NumPy's type rules for this thread; returns the previous state."""
    before, state.numpy_types = state.numpy_types, bool(flag)
    return before


def set_casting(flag):
    """Switch the casts of mixed precision for this thread; returns the previous state."""
    before, state.casting = state.casting, bool(flag)
    return before


def set_recording(flag):
    """Switch recording for this thread; returns the previous state."""
    if flag and state.deferred:
        raise TracedValueError("deferred computation cannot be recorded for autograd as well")
    before, state.recording = state.recording, bool(flag)
    return before


def set_training(flag):
    """Switch training mode for this thread; returns the previous state."""
    before, state.training = state.training, bool(flag)
    return before


def is_np_shape():
    """Whether this thread uses NumPy shape semantics: ``()`` is a scalar, and 0 a valid size."""
    return _Process.np_shape or state.np_shape


def set_np_shape(active, everywhere):
    """Switch NumPy shape semantics for this thread, and optionally all threads."""
    state.np_shape, _Process.np_shape = active, everywhere
