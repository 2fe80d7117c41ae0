"""Recorded views: arrays that share memory and propagate gradients."""

from mxcy._base.per_thread import PerThread
from mxcy._library import front
from mxcy.ops.core import record

__all__ = ["as_class", "is_taped", "keeps_constants", "record_reshape", "record_view"]

#: whether this thread records in a mode that keeps unrecorded arrays as constants
keeps_constants = PerThread(lambda: False)


def is_taped(array):
    """Whether operations on `array` are currently recorded."""
    return front.is_taping() and front.history(array) is not None


def record_view(name, source, view, **attrs):
    """Record a view of `source` as a result of operator `name`; return the view.

    Nothing is computed: `view` already shares the memory of `source`.
    """
    front.record_view(front.bind(record.find(name)), source, attrs, view)
    return view


def record_reshape(source, shape):
    """Make a recorded view of `source` with another shape."""
    # In Reshape, 0 would copy a dimension of the input.
    name = "_backward_reshape" if 0 in shape else "Reshape"
    return record_view(name, source, source.view_as(shape), shape=shape)


def as_class(array, cls):
    """Return an array of another class with the same memory, gradient and history."""
    view = array.detached(cls)
    view.node, view.node_index = array.node, array.node_index
    return view
