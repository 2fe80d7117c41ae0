"""The nodes of the autograd tape of the Cython front, which `walk.pyx` traverses."""
cimport cython
from cpython.ref cimport Py_REFCNT

from mxcy._cy.ndarray cimport NDArrayBase, bare
from mxcy._cy.services cimport services
from mxcy._cy.shapes cimport SPARSE
from mxcy._cy.storage cimport Storage

cdef bint is_alone(NDArrayBase array, Storage storage) noexcept:
    """Whether an array spans a storage that no other array refers to.

    Pending operations and the caller may refer to it.
    """
    return (
        Py_REFCNT(storage) == 2 + storage.uses
        and (storage.owner is None or storage.replaceable)
        and not storage.exported
        and not storage.remote
        and array.writable
        and array.data == <char *>storage.data
    )


def take_over(NDArrayBase target not None, NDArrayBase source not None):
    """Move the memory of `source`, a temporary result, to `target`.

    Returns whether it did: not if either's memory is shared, or specs differ.
    """
    cdef Storage old = target.storage, new = source.storage
    if target.layout is SPARSE or source.layout is SPARSE:
        return False
    if not (is_alone(target, old) and is_alone(source, new)):
        return False
    if new.owner is not None or (old.owner is None and old.pool != new.pool):
        return False
    if old.bytes != new.bytes or target.dtype_code != source.dtype_code:
        return False
    if target.shape != source.shape or old.context != new.context:
        return False
    target.storage, target.data = new, source.data
    return True


@cython.final
@cython.freelist(64)
@cython.trashcan(True)  # a long chain of nodes must not be freed by recursion
cdef class Node:
    """A recorded operation or, without parents, a variable with a gradient."""

    @property
    def numbers(self):
        """Values of the dynamic attributes."""
        return tuple([self.values[i] for i in range(self.nvalues)])

    @property
    def saved_outputs(self):
        """The outputs that the gradient rule reads, others None; None if it reads none."""
        cdef NDArrayBase view
        if self.kept_storage is None:
            return self.kept_outputs
        view = bare(services.array_class)
        view.storage, view.data = self.kept_storage, self.kept_data
        view.layout, view.dtype_code = self.kept_layout, self.kept_dtype
        return [view]

    @saved_outputs.setter
    def saved_outputs(self, list arrays):
        self.kept_outputs = arrays

    def release(self):
        """Drop the graph behind the node and everything saved for the gradient."""
        self.saved_inputs = self.custom = None
        self.kept_outputs = self.kept_storage = None
        self.parents, self.released = (), True


cdef bint has_history(NDArrayBase array) except -1:
    """Whether an array is on the tape; it becomes a constant once its graph is freed."""
    if array.node is None:
        return False
    if (<Node?>array.node).released:
        array.node, array.node_index = None, 0
        return False
    return True


def history(NDArrayBase array not None):
    """The node of an array; None if there is none, or backward has freed its graph."""
    return array.node if has_history(array) else None


cdef void keep_output(Node node, NDArrayBase output):
    """Save the only output for the gradient by its parts, as the array refers to the node."""
    node.kept_storage, node.kept_data = output.storage, output.data
    node.kept_layout, node.kept_dtype = output.layout, output.dtype_code
