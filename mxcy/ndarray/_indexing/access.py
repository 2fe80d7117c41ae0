"""Indexing of `mx.nd.NDArray`: reading and writing ``a[key]``.

Keys are as in NumPy, with MXNet's deviations: boolean sequences count as 0 and 1, an element is an
array of shape (1,) without NumPy shape semantics, and only some results are views. A result is a
view exactly if its elements are contiguous in the array's memory.

While recording, reads are operators, so that gradients propagate to the array.
"""

import functools
import math

import numpy as np

from mxcy._base import dtypes
from mxcy._base.errors import TracedValueError
from mxcy._library import front
from mxcy._semantics.switches import is_np_shape
from mxcy.base import MXNetError, integer_types
from mxcy.gpu import elements
from mxcy.ndarray._indexing.keys import expand_key, is_plain, numpy_key, positions, trailing_axes
from mxcy.ndarray.register import F
from mxcy.ndarray.tape import is_taped, record_reshape, record_view
from mxcy.ops.core import reference

__all__ = ["read", "write"]

_BFLOAT16 = dtypes.CODES["bfloat16"]
_INT64 = dtypes.CODES["int64"]


# --- reading -------------------------------------------------------------------------------------


def read(array, key):
    """Evaluate ``array[key]``.

    Parameters
    ----------
    array : NDArray
    key : int, slice, None, Ellipsis, sequence of int, NDArray, or a tuple of them

    Returns
    -------
    NDArray
        A view if the elements are contiguous in memory, otherwise a copy.

    Raises
    ------
    IndexError
        If an index is out of bounds or there are too many.
    ValueError
        If the key contains an invalid index.
    """
    if isinstance(key, integer_types):
        return _read_row(array, int(key))
    if isinstance(key, slice) and key.step in (None, 1):
        return _read_rows(array, key)
    if isinstance(key, tuple) and all(isinstance(entry, integer_types) for entry in key):
        if not key:
            return array
        if len(key) == array.ndim:
            return functools.reduce(_read_row, map(int, key), array)
    if not is_plain(key, array.ndim) or is_taped(array):
        key, advanced = numpy_key(expand_key(key, array.shape), array.shape)
        if advanced:
            return _read_advanced(array, key)
    elif isinstance(key, slice):
        key = (key,)
    return _read_basic(array, key)


def _element_shape(shape):
    """The shape of a result: under MXNet's own shape semantics, (1,) for a single element."""
    return shape if shape or is_np_shape() else (1,)


def _read_row(array, row):
    """Evaluate ``array[row]``, the most common key."""
    shape = array.shape
    if not shape:
        raise IndexError("too many indices (1) for array with 0 dimensions")
    if not -shape[0] <= row < shape[0]:
        raise IndexError(f"index {row} is out of bounds for axis 0 with size {shape[0]}")
    begin = row + shape[0] if row < 0 else row
    rows, shape = array.view_rows(begin, begin + 1), _element_shape(shape[1:])
    if not is_taped(array):
        return rows.view_as(shape)
    record_view("slice", array, rows, begin=(begin,), end=(begin + 1,))
    return rows if rows.shape == shape else record_reshape(rows, shape)


def _read_rows(array, key):
    """Evaluate ``array[begin:end]``, the next most common key."""
    if key.start is None and key.stop is None:
        return array
    if array.ndim == 0:
        raise IndexError("too many indices (1) for array with 0 dimensions")
    begin, end, _ = key.indices(array.shape[0])
    if begin > end:
        raise MXNetError(f"Invalid slicing range [{begin}, {end})")
    rows = array.view_rows(begin, end)
    if is_taped(array):
        record_view("slice", array, rows, begin=(begin,), end=(end,))
    return rows


def _read_basic(array, key):
    if array.ndim == 0 and not key:
        return array
    view = array.held_view()  # lets NumPy interpret the key
    picked = view[(*key, Ellipsis)]
    shape = _element_shape(picked.shape)
    if is_taped(array):
        return _read_basic_taped(array, key, shape)
    return _shared(array, view, picked, shape)


def _shared(array, view, picked, shape):
    """Make an array of the selected elements: a view of `array` if they are contiguous."""
    if picked.flags.c_contiguous:
        size, first = picked.size, 0
        if size:
            first = (picked.__array_interface__["data"][0] - array.address) // view.itemsize
        return array.view_as((array.size,)).view_rows(first, first + size).view_as(shape)
    result = front.empty(shape, array.dtype_code, array.context)
    with front.held((array,), (result,), whole=True):
        if array.on_device:
            elements.copy_picked(array, picked, result)
        else:
            result.held_view()[...] = picked
    return result


def _read_basic_taped(array, key, shape):
    """Read by recorded operators: slice, then Reshape if axes are removed or added."""
    slices = tuple(
        slice(entry, entry + 1 or None) if isinstance(entry, int) else entry
        for entry in key
        if entry is not None
    )
    view = array.held_view()
    picked = view[slices]
    contiguous = picked.flags.c_contiguous
    if contiguous and picked.size == array.size:
        part = array
    elif contiguous:
        begin = tuple(s.indices(n)[0] for s, n in zip(slices, array.shape, strict=True))
        end = tuple(map(sum, zip(begin, picked.shape, strict=True)))
        part = _shared(array, view, picked, picked.shape)
        record_view("slice", array, part, begin=begin, end=end)
    else:
        begin, end, step = zip(*map(_bounds, slices, array.shape), strict=True)
        part = F.slice(array, begin=begin, end=end, step=step)
    return part if part.shape == shape and part is not array else record_reshape(part, shape)


def _bounds(entry, extent):
    """Convert a slice for operator `slice`: no negative values, None for "to the start"."""
    begin, end, step = entry.indices(extent)
    return begin, None if end < 0 else end, step


def _read_advanced(array, key):
    key, axes = trailing_axes(key)
    if is_taped(array):
        places, leading = positions(key, array.shape)
        extents = math.prod(array.shape[:leading]), *array.shape[leading:]
        rows = array if array.shape == extents else record_reshape(array, extents)
        indices = front.from_numpy(np.ascontiguousarray(places), _INT64, array.context)
        picked = F.take(rows, indices, axis=0, mode="clip")
        shape = picked.shape
    else:
        with front.held((array,)):
            values = np.ascontiguousarray(array.held_read_view()[key])
        shape = values.shape
        picked = front.from_numpy(values, array.dtype_code, array.context)
    for axis in axes:
        shape = (*shape[:axis], 1, *shape[axis:])
    return picked.reshape(shape) if axes else picked


# --- writing -------------------------------------------------------------------------------------


def write(array, key, value):
    """Execute ``array[key] = value``.

    Parameters
    ----------
    array : NDArray
    key : as in `read`
    value : number, NDArray or array_like
        Broadcast to the shape of ``array[key]`` and cast to the array's dtype.

    Raises
    ------
    IndexError
        If an index is out of bounds or there are too many.
    ValueError
        If the value cannot be broadcast, or the array is read-only.
    TypeError
        If the value is not array-like.
    MXNetError
        While recording, if the array is part of a graph, or the value is and `key` does not select
        the whole array.
    """
    if array.ndim == 0:
        _check_scalar_key(key)
        key = ()
    elif array.size == 0:
        return
    elif is_plain(key, array.ndim):
        key = key if isinstance(key, tuple) else (key,)
    else:
        key, _ = numpy_key(expand_key(key, array.shape), array.shape)
    if front.is_taping() and _write_taped(array, key, value):
        return
    reads = (value,) if isinstance(value, front.NDArrayBase) else ()
    if not reads:
        value = _values(array, value)
    with front.held(reads, (array,), whole=all(map(_is_whole, key))):
        if array.on_device:
            _check_storage(array, value)
            elements.write(array, key, value)
            return
        target = array.held_view()
        if key and all(type(entry) is int for entry in key) and len(key) == target.ndim:
            # Unlike a single element, an axis of size 1 accepts arrays of one element.
            target, key = target[..., None], (*key, slice(None))
        target[key] = _values(array, value) if reads else value


def _check_scalar_key(key):
    if not isinstance(key, slice) and not (isinstance(key, tuple) and not key):
        raise IndexError("scalar tensor can only accept `()` and `:` as index")


def _is_whole(entry):
    return entry is None or (isinstance(entry, slice) and entry == slice(None))


def _write_taped(array, key, value):
    """Handle a write while recording; return whether it is complete."""
    if front.is_deferred():
        raise TracedValueError("deferred computation: the program writes to elements of an array")
    covers_all = all(map(_is_whole, key))
    taped = isinstance(value, front.NDArrayBase) and front.history(value) is not None
    if front.history(array) is not None:
        if covers_all and isinstance(value, np.ndarray):
            return False
        raise MXNetError(
            "Assigning to NDArrays that are already in a computational graph will cause undefined "
            "behavior when evaluating gradients. Please call backward first to clear the graph or "
            "do this out side of a record section."
        )
    if not taped:
        return False
    if not covers_all:
        raise MXNetError(
            "Inplace operations (+=, -=, x[:]=, etc) are not supported when recording with "
            "autograd."
        )
    extra = value.ndim - array.ndim
    if extra > 0 and value.shape[:extra] == (1,) * extra:  # as in NumPy
        value = value.reshape(value.shape[extra:])
    if value.shape != array.shape:
        value = value.broadcast_to(array.shape)
    value.copyto(array)
    return True


def _check_storage(array, value):
    """Check that the value is not sparse."""
    stype = getattr(value, "stype", "default")
    if stype != "default":
        raise TypeError(
            f"{type(array)} does not support assignment of a {stype} array: use "
            "tostype('default') or copyto"
        )


def _values(array, value):
    """Convert a value to a NumPy array of the array's storage dtype."""
    if isinstance(value, front.NDArrayBase):
        _check_storage(array, value)
        values = value.held_read_view()
        if value.dtype_code == array.dtype_code:
            return values
        if value.dtype_code == _BFLOAT16:
            values = reference.widen(values)
    else:
        try:
            values = np.asarray(np.nan if value is None else value)
        except ValueError:
            values = None
        if values is None or values.dtype.kind not in "biuf":
            raise TypeError(
                f"{type(array)} does not support assignment with non-array-like object {value} of "
                f"type {type(value)}"
            )
    with np.errstate(all="ignore"):
        if array.dtype_code == _BFLOAT16:
            return reference.narrow(values.astype(np.float32))
        return values.astype(array.held_view().dtype)
