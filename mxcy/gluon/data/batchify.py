"""Functions that combine items into batches, for the loader's `batchify_fn`."""

import numpy as np

from mxcy import ndarray as nd
from mxcy._base.listing import listing
from mxcy.context import cpu_shared
from mxcy.gluon.utils import in_numpy
from mxcy.ndarray import NDArray

__all__ = ["Stack", "Pad", "Append", "Group", "AsList"]

__dir__ = listing(__name__)


def _as_numpy(item):
    return item.asnumpy() if isinstance(item, NDArray) else np.asarray(item)


def _context(use_shared_mem):
    return cpu_shared() if use_shared_mem else None


def _as_batch(array, ctx):
    return in_numpy(nd.array(array, dtype=array.dtype, ctx=ctx))


class Stack:
    """Stack items of equal shape along a new first axis.

    Parameters
    ----------
    use_shared_mem : bool
        Create the batch in memory shared with the loader's process; otherwise it is copied
        there when it is sent.
    """

    def __init__(self, use_shared_mem=False):
        self._use_shared_mem = use_shared_mem

    def __mx_handle__(self):
        """Return self; MXNet 2 returns a C++ counterpart, which is not needed here."""
        return self

    def __call__(self, data):
        """Join items.

        Parameters
        ----------
        data : list
            Arrays or numbers, or sequences of them.

        Returns
        -------
        NDArray, or list of NDArray with one batch per part of the items
        """
        if isinstance(data[0], (list, tuple)):
            return [self(part) for part in zip(*data, strict=True)]
        ctx = _context(self._use_shared_mem)
        if isinstance(data[0], NDArray):
            out = nd.empty((len(data), *data[0].shape), dtype=data[0].dtype, ctx=ctx)
            return in_numpy(nd.stack(*data, out=out))
        return _as_batch(np.asarray(data), ctx)


class Pad:
    """Stack items of different shapes, padded at the end of every axis.

    Parameters
    ----------
    val : float, optional
        Padding value, 0 by default.
    dtype : str or numpy.dtype, optional
        Element type of the batch.
    round_to : int, optional
        Round extents of the batch up to multiples of this.
    use_shared_mem : bool
        Create the batch in memory shared with the loader's process; otherwise it is copied
        there when it is sent.
    """

    def __init__(self, val=None, dtype=None, round_to=None, use_shared_mem=False):
        self._val = 0 if val is None else val
        self._dtype = dtype
        self._round_to = round_to
        self._use_shared_mem = use_shared_mem

    def __mx_handle__(self):
        """Return self; MXNet 2 returns a C++ counterpart, which is not needed here."""
        return self

    def __call__(self, data):
        """Join items.

        Parameters
        ----------
        data : list
            Arrays or lists of numbers with equal numbers of axes.

        Returns
        -------
        NDArray

        Raises
        ------
        NotImplementedError
            If the items are tuples or numbers.
        """
        if not isinstance(data[0], (NDArray, np.ndarray, list)):
            raise NotImplementedError(
                "Pad joins arrays and lists; use Group(Pad(), Stack(), ...) for tuples"
            )
        items = [_as_numpy(item) for item in data]
        extents = np.max([item.shape for item in items], axis=0)
        if self._round_to is not None:
            extents = -(-extents // self._round_to) * self._round_to
        batch = np.full((len(items), *extents), self._val, self._dtype or items[0].dtype)
        for place, item in enumerate(items):
            batch[place, *map(slice, item.shape)] = item
        return _as_batch(batch, _context(self._use_shared_mem))


class Append:
    """Convert the items, of any shapes, to a list of arrays.

    Parameters
    ----------
    expand : bool
        Give every array a batch axis of size 1.
    batch_axis : int
        Position of that axis.
    use_shared_mem : bool
        Create the batch in memory shared with the loader's process; otherwise it is copied
        there when it is sent.
    """

    def __init__(self, expand=True, batch_axis=0, use_shared_mem=False):
        self._expand = expand
        self._batch_axis = batch_axis
        self._use_shared_mem = use_shared_mem

    def __call__(self, data):
        """Turn items into arrays.

        Parameters
        ----------
        data : list
            Arrays or lists of numbers.

        Returns
        -------
        list of NDArray
        """
        arrays = [_as_numpy(item) for item in data]
        if self._expand:
            arrays = [np.expand_dims(array, self._batch_axis) for array in arrays]
        ctx = _context(self._use_shared_mem)
        return [_as_batch(array, ctx) for array in arrays]


class Group:
    """Combine the i-th parts of all items with the i-th function.

    Parameters
    ----------
    fn : callable or list of callable
        The functions, or the first of them.
    *args : callable
        The remaining ones.
    """

    def __init__(self, fn, *args):
        self._fn = tuple(fn) if isinstance(fn, (list, tuple)) else (fn, *args)
        for function in self._fn:
            assert callable(function), f"Batchify functions must be callable, got {type(function)}"

    def __mx_handle__(self):
        """Return self; MXNet 2 returns a C++ counterpart, which is not needed here."""
        return self

    def __call__(self, data):
        """Join items.

        Parameters
        ----------
        data : list of tuple
            The items, each with as many parts as there are functions.

        Returns
        -------
        tuple
            Results of the functions.
        """
        for item in data:
            assert len(item) == len(self._fn), (
                f"an item has {len(item)} parts, but there are {len(self._fn)} functions"
            )
        return tuple(fn(part) for fn, part in zip(self._fn, zip(*data, strict=True), strict=True))


class AsList:
    """Return the items unchanged, in a list."""

    def __call__(self, data):
        """Return the items as a list.

        Parameters
        ----------
        data : iterable
            The items.

        Returns
        -------
        list
        """
        return list(data)
