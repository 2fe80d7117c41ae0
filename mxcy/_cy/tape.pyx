"""The autograd tape of the Cython front: per-thread state and nodes. `mxcy.autograd` walks it."""
cimport cython
from cpython.ref cimport Py_REFCNT

from mxcy._cy.ndarray cimport NDArrayBase, Storage, deferred, make_view, switch_deferred
from mxcy._cy.services cimport services
from mxcy._cy.shapes cimport SPARSE

from mxcy._base.errors import TracedValueError

cdef extern from *:
    """
    /* Bits of mx_taping: 1 records for autograd, 2 for deferred computation. */
    static __thread int mx_taping = 0, mx_training = 0, mx_numpy_types = 0,
                        mx_exact = 0;
    """
    int mx_taping
    int mx_training
    int mx_numpy_types
    int mx_exact


cdef int recording() noexcept nogil:
    return mx_taping


def is_taping():
    """Whether this thread records operations, for autograd or for deferred computation."""
    return recording() != 0


def is_deferred():
    """Whether this thread notes down all operations: deferred computation."""
    return deferred() != 0


def set_deferred(bint flag):
    """Switch deferred computation for this thread; returns the previous state."""
    global mx_taping
    mx_taping = (mx_taping & 1) | flag << 1
    return switch_deferred(flag) != 0


cdef int training() noexcept nogil:
    return mx_training


cdef int numpy_types() noexcept nogil:
    return mx_numpy_types


cdef int casting() noexcept nogil:
    return not mx_exact


def set_casting(bint flag):
    """Switch the casts of mixed precision for this thread; returns the previous state."""
    global mx_exact
    cdef int before = mx_exact
    mx_exact = not flag
    return before == 0


def is_recording():
    """Whether this thread records operations on the tape."""
    return mx_taping & 1 != 0


def is_training():
    """Whether operators of this thread run in training mode."""
    return mx_training != 0


def has_numpy_types():
    """Whether operators of `mx.np` choose element types as NumPy does."""
    return mx_numpy_types != 0


def set_numpy_types(bint flag):
    """Switch NumPy's element types for this thread; returns the previous state."""
    global mx_numpy_types
    cdef int before = mx_numpy_types
    mx_numpy_types = flag
    return before != 0


def set_recording(bint flag):
    """Switch recording for this thread; returns the previous state."""
    global mx_taping
    cdef int before = mx_taping
    if flag and before & 2:
        raise TracedValueError("deferred computation cannot be recorded for autograd as well")
    mx_taping = (before & 2) | flag
    return before & 1 != 0


def set_training(bint flag):
    """Switch training mode for this thread; returns the previous state."""
    global mx_training
    cdef int before = mx_training
    mx_training = flag
    return before != 0


cdef bint is_alone(NDArrayBase array, Storage storage) noexcept:
    """Whether an array is all of a storage that nobody else refers to, the caller excepted."""
    return (
        Py_REFCNT(storage) == 2
        and storage.owner is None
        and not storage.exported
        and not storage.remote
        and array.writable
        and array.data == <char *>storage.data
    )


def take_over(NDArrayBase target not None, NDArrayBase source not None):
    """Let `target` have the memory of `source`, a result of no further use, in place of its own.

    Returns whether it did: not where somebody else refers to either's memory, or kinds differ.
    """
    cdef Storage old = target.storage, new = source.storage
    if target.layout is SPARSE or source.layout is SPARSE:
        return False
    if not (is_alone(target, old) and is_alone(source, new)):
        return False
    if old.pool != new.pool or old.bytes != new.bytes or target.dtype_code != source.dtype_code:
        return False
    if target.shape != source.shape or old.context != new.context:
        return False
    target.storage, target.data = new, source.data
    return True


@cython.final
@cython.freelist(64)
@cython.trashcan(True)  # a long chain of nodes must not be freed by recursion
cdef class Node:
    """One recorded operation, or (without parents) a variable with a gradient."""

    @property
    def numbers(self):
        """The dynamic attributes' values."""
        return tuple([self.values[i] for i in range(self.nvalues)])

    @property
    def saved_outputs(self):
        """For each output the array the gradient rule reads, or None; None when it reads none."""
        cdef NDArrayBase view
        if self.kept_storage is None:
            return self.kept_outputs
        view = make_view(None, self.kept_layout, 0, services.array_class)
        view.storage, view.data = self.kept_storage, self.kept_data
        view.dtype_code = self.kept_dtype
        return [view]

    @saved_outputs.setter
    def saved_outputs(self, list arrays):
        self.kept_outputs = arrays

    def release(self):
        """Forget the graph behind the node and everything kept for the gradient."""
        self.saved_inputs = self.custom = None
        self.kept_outputs = self.kept_storage = None
        self.parents, self.released = (), True


cdef bint has_history(NDArrayBase array) except -1:
    """Whether an array has a place on the tape; one whose graph was freed is a constant again."""
    if array.node is None:
        return False
    if (<Node?>array.node).released:
        array.node, array.node_index = None, 0
        return False
    return True


def history(NDArrayBase array not None):
    """The node that made an array; None where there is none, or backward has freed its graph."""
    return array.node if has_history(array) else None


cdef void keep_output(Node node, NDArrayBase output):
    """Keep the only output for the gradient: its parts, since itself it refers to the node."""
    node.kept_storage, node.kept_data = output.storage, output.data
    node.kept_layout, node.kept_dtype = output.layout, output.dtype_code
