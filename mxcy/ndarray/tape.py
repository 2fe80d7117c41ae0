"""Views on the tape: arrays that share memory and still pass gradients on."""

from mxcy._base.per_thread import PerThread
from mxcy._library import front
from mxcy.ops.core import record

__all__ = ["as_class", "is_taped", "keeps_constants", "record_reshape", "record_view"]

#: whether this thread records what keeps arrays that it did not note as constants
keeps_constants = PerThread(lambda: False)


def is_taped(array):
    """Whether operations on `array` are recorded now."""
    return front.is_taping() and front.history(array) is not None


def record_view(name, source, view, **attrs):
    """Put a view of `source` on the tape as what operator `name` would return; returns the view.

    Nothing is computed: `view` already shares the memory of `source`.
    """
    front.record_view(front.bind(record.find(name)), source, attrs, view)
    return view


def record_reshape(source, shape):
    """A view of `source` with another shape, on the tape."""
    # Among the numbers of Reshape, 0 means an extent of the input.
    name = "_backward_reshape" if 0 in shape else "Reshape"
    return record_view(name, source, source.view_as(shape), shape=shape)


def as_class(array, cls):
    """The same memory, gradient and history as an array of another class."""
    view = array.detached(cls)
    view.node, view.node_index = array.node, array.node_index
    return view
