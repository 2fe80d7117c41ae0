"""Normalisation of index keys, the expression in ``a[...]``."""

import math

import numpy as np

from mxcy._base import dtypes
from mxcy._library import front
from mxcy._semantics.switches import is_np_array
from mxcy.base import integer_types

__all__ = [
    "lies_side_by_side",
    "check_mask",
    "expand_key",
    "is_advanced",
    "is_plain",
    "numpy_key",
    "positions",
    "trailing_axes",
]

_BOOL = dtypes.CODES["bool"]
_SEQUENCES = (np.ndarray, list, tuple, range)


def check_mask(shape, axis, mask_shape):
    """Raise IndexError unless a mask matches the axes of a shape from `axis` on."""
    for i, extent in enumerate(mask_shape):
        if axis + i >= len(shape) or shape[axis + i] != extent:
            size = shape[axis + i] if axis + i < len(shape) else 0
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis + i}; size is {size} "
                f"but corresponding boolean size is {extent}"
            )


def _entries(item, shape, axis):
    """Expand one item of a key: no entries for a 0-d boolean, several for a mask."""
    if isinstance(item, bool):
        return []
    if not isinstance(item, front.NDArrayBase):
        return [item]
    if item.dtype_code != _BOOL:
        return [item if item.ndim else int(item.asnumpy())]
    if item.ndim == 0:
        return []
    check_mask(shape, axis, item.shape)
    if not is_np_array():
        raise ValueError(
            "Cannot perform boolean indexing in legacy mode. Please activate numpy semantics by "
            "calling `npx.set_np()` in the global scope before calling this function."
        )
    return list(np.nonzero(item.asnumpy()))


def expand_key(key, shape):
    """Expand a key to a tuple with one entry per axis, plus its Nones.

    Parameters
    ----------
    key : object
        An index key.
    shape : tuple of int
        The array's shape.

    Raises
    ------
    IndexError
        If the key has several ellipses or more indices than axes.
    """
    items = key if isinstance(key, tuple) else (key,)
    before, after, axes = [], None, 0
    for item in items:
        if item is Ellipsis:
            if after is not None:
                raise IndexError("Cannot use more than one ellipsis (`...`) for indexing")
            after = []
            continue
        entries = _entries(item, shape, axes)
        axes += sum(entry is not None for entry in entries)
        (before if after is None else after).extend(entries)
    if axes > len(shape):
        raise IndexError(f"too many indices ({axes}) for array with {len(shape)} dimensions")
    return (*before, *(slice(None),) * (len(shape) - axes), *(after or ()))


def is_plain(key, ndim):
    """Whether a key has only int and slice, which NumPy interprets in the same way."""
    if type(key) is tuple:
        return len(key) <= ndim and all(type(entry) in (int, slice) for entry in key)
    return type(key) in (int, slice) and ndim > 0


def is_advanced(entry):
    """Whether an entry is an array or a sequence of indices."""
    return isinstance(entry, (front.NDArrayBase, *_SEQUENCES))


def _integers(entry):
    """Convert an advanced index to a NumPy array of integers."""
    values = entry.asnumpy() if isinstance(entry, front.NDArrayBase) else np.asarray(entry)
    if values.dtype.kind not in "iubf":
        raise ValueError(
            f"NDArray does not support slicing with key {entry} of type {type(entry)}."
        )
    return values.astype(np.int64)


def numpy_key(key, shape):
    """Convert an expanded key for NumPy; also return whether it has an advanced index."""
    parts, advanced, axis = [], False, 0
    for entry in key:
        if is_advanced(entry):
            entry = _integers(entry)
            advanced = advanced or entry.ndim > 0
        if isinstance(entry, integer_types) or (isinstance(entry, np.ndarray) and not entry.ndim):
            entry = int(entry)
            if not -shape[axis] <= entry < shape[axis]:
                raise IndexError(
                    f"index {entry} is out of bounds for axis {axis} with size {shape[axis]}"
                )
        elif entry is not None and not isinstance(entry, (slice, np.ndarray)):
            raise ValueError(
                f"NDArray does not support slicing with key {entry} of type {type(entry)}."
            )
        axis += entry is not None
        parts.append(entry)
    if advanced:
        _check_broadcast([entry for entry in parts if isinstance(entry, np.ndarray)])
    return tuple(parts), advanced


def _check_broadcast(indices):
    shape = ()
    for index in indices:
        try:
            shape = np.broadcast_shapes(shape, index.shape)
        except ValueError:
            raise ValueError(
                f"shape1={shape} is not broadcastable to shape2={index.shape}"
            ) from None


def trailing_axes(key):
    """Split off the Nones after the last index of an advanced key; return their positions too.

    For the position of such a None, MXNet counts adjacent advanced indices as no axis, so that
    ``a[[0, 1], None]`` has shape (1, 2, ...) rather than NumPy's (2, 1, ...).
    """
    places = [i for i, entry in enumerate(key) if isinstance(entry, (int, np.ndarray))]
    if places[-1] - places[0] != len(places) - 1:
        return key, ()
    kept, axes, count = list(key[: places[0]]), [], places[0]
    kept += key[places[0] : places[-1] + 1]
    for entry in key[places[-1] + 1 :]:
        if entry is None:
            axes.append(count)
        else:
            kept.append(entry)
        count += 1
    return tuple(kept), tuple(axes)


def positions(key, shape):
    """Positions of the selected elements in the flattened leading axes, and the axis count."""
    leading = len(shape)
    entries = list(key)
    while entries and isinstance(entries[-1], slice) and entries[-1] == slice(None):
        entries.pop()
        leading -= 1
    grid = np.arange(math.prod(shape[:leading])).reshape(shape[:leading])
    return grid[tuple(entries)], leading


def lies_side_by_side(slices, shape):
    """Whether slices of a contiguous array are contiguous.

    Parameters
    ----------
    slices : sequence of slice
        Slices of the leading axes; the others are whole.
    shape : tuple of int

    Returns
    -------
    bool
        True if nothing is selected.
    """
    picked = [range(extent)[key] for key, extent in zip(slices, shape, strict=False)]
    picked += [range(extent) for extent in shape[len(picked) :]]
    if not all(map(len, picked)):
        return True
    partial = False  # whether a later axis is not whole
    for steps, extent in zip(reversed(picked), reversed(shape), strict=True):
        if len(steps) > 1 and (partial or steps.step != 1):
            return False
        partial = partial or len(steps) != extent
    return True
