"""The autograd tape of the ctypes front: per-thread state and nodes. `mxcy.autograd` walks it."""

import threading

from mxcy._base.errors import TracedValueError

__all__ = [
    "Node",
    "has_numpy_types",
    "history",
    "is_deferred",
    "is_recording",
    "is_taping",
    "is_training",
    "set_casting",
    "set_deferred",
    "set_numpy_types",
    "set_recording",
    "set_training",
    "take_over",
]


class _State(threading.local):
    recording = False
    deferred = False
    training = False
    numpy_types = False
    casting = True


state = _State()


def is_recording():
    """Whether this thread records operations on the tape."""
    return state.recording


def is_taping():
    """Whether this thread records operations, for autograd or for deferred computation."""
    return state.recording or state.deferred


def is_deferred():
    """Whether this thread notes down all operations: deferred computation."""
    return state.deferred


def set_deferred(flag):
    """Switch deferred computation for this thread; returns the previous state."""
    before, state.deferred = state.deferred, bool(flag)
    return before


def is_training():
    """Whether operators of this thread run in training mode."""
    return state.training


def has_numpy_types():
    """Whether operators of `mx.np` choose element types as NumPy does."""
    return state.numpy_types


def set_numpy_types(flag):
    """Switch NumPy's element types for this thread; returns the previous state."""
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


def take_over(target, source):
    """Let `target` have the memory of `source`; arrays of this front keep theirs, so False."""
    return False


def history(array):
    """The node that made an array; None where there is none, or backward has freed its graph."""
    if array.node is not None and array.node.released:
        array.node, array.node_index = None, 0
    return array.node


class Node:
    """One recorded operation, or (without parents) a variable with a gradient."""

    __slots__ = (
        "call",
        "numbers",
        "context",
        "parents",
        "positions",
        "saved_inputs",
        "saved_outputs",
        "custom",
        "grad",
        "grad_req",
        "fresh",
        "released",
    )

    def __init__(self):
        for name in self.__slots__:
            setattr(self, name, None)
        self.fresh = self.released = False

    def release(self):
        """Forget the graph behind the node and everything kept for the gradient."""
        self.saved_inputs = self.saved_outputs = self.custom = None
        self.parents, self.released = (), True
