"""Which shapes the elements of arrays have; see `mxcy.ndarray._indexing.access` for keys."""

import threading

__all__ = ["is_np_shape", "set_np_shape"]


class _Shapes(threading.local):
    like_numpy = False


_here = _Shapes()
_everywhere = False


def is_np_shape():
    """Whether this thread uses NumPy's shapes: ``()`` is a scalar and 0 an extent like others."""
    return _everywhere or _here.like_numpy


def set_np_shape(active, everywhere):
    """Switch NumPy's shapes for this thread, and for all of them."""
    global _everywhere
    _here.like_numpy, _everywhere = active, everywhere
