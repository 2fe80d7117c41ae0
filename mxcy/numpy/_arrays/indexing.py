"""Indexing of `mx.np` arrays: ``a[key]`` and ``a[key] = value``.

Keys follow NumPy, except that float arrays and lists are accepted as integer indices, as in MXNet.
A result is a view if its elements are contiguous in memory, otherwise a copy. While recording,
reads go through operators, so that gradients flow back to the array.
"""

import math

import numpy as onp

from mxcy._base import dtypes
from mxcy._base.errors import UntracedInputError
from mxcy._library import front
from mxcy.base import MXNetError, integer_types
from mxcy.gpu import elements
from mxcy.ndarray.register import F
from mxcy.ndarray.tape import is_taped, keeps_constants, record_view
from mxcy.ops.core import reference

__all__ = ["are_places", "read", "write"]

_BFLOAT16, _INT64 = dtypes.CODES["bfloat16"], dtypes.CODES["int64"]
_WHOLE = (_INT64, dtypes.CODES["int32"])
_MANY = 4096  # fewest indices worth checking beforehand


def are_places(indices, extent):
    """Check whether many integer indices are all in bounds; waits for their values.

    Parameters
    ----------
    indices : NDArray
    extent : int
        Size of the axis; negative indices count from its end.

    Returns
    -------
    bool
        False also if the indices were not checked.
    """
    if indices.dtype_code not in _WHOLE or indices.size < _MANY or front.is_deferred():
        return False
    if indices.stype != "default":
        return False
    values = indices.read_view()
    if values.view(f"u{values.itemsize}").max() < extent:  # none is negative either
        return True
    return bool(-extent <= values.min() and values.max() < extent)


def _entry(entry):
    """Return a key's entry in NumPy's form, and whether it is an advanced index."""
    if isinstance(entry, (bool, onp.bool_)):
        return onp.asarray(entry), True
    if entry is None or entry is Ellipsis or isinstance(entry, (slice, *integer_types)):
        return entry, False
    if isinstance(entry, front.NDArrayBase):
        values = entry.asnumpy()
    elif isinstance(entry, (list, tuple, range, onp.ndarray, onp.generic)):
        values = onp.asarray([_plain(x) for x in entry] if isinstance(entry, list) else entry)
        if not values.size and not isinstance(entry, onp.ndarray):
            values = values.astype(onp.int64)
    elif hasattr(entry, "__index__"):
        return entry.__index__(), False
    else:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and integer or boolean arrays "
            f"are valid indices, got {type(entry).__name__}"
        )
    if values.dtype.kind == "f":
        values = values.astype(onp.int64)
    if values.dtype.kind not in "biu":
        raise IndexError(f"arrays used as indices must be of integers or booleans: {entry!r:.80}")
    return values, True


def _plain(value):
    return value.asnumpy() if isinstance(value, front.NDArrayBase) else value


def _numpy_key(key):
    """Return a key in NumPy's form, and whether it uses advanced indexing."""
    entries = key if isinstance(key, tuple) else (key,)
    pairs = [_entry(entry) for entry in entries]
    return tuple(entry for entry, _ in pairs), any(picks for _, picks in pairs)


# --- reading -------------------------------------------------------------------------------------


def read(array, key):
    """Return ``array[key]``.

    Parameters
    ----------
    array : ndarray
    key : int, slice, None, Ellipsis, sequence, array, or a tuple of them

    Returns
    -------
    ndarray
        A view if the elements are contiguous in memory, otherwise a copy.

    Raises
    ------
    IndexError
        If an index is out of bounds or invalid, or there are too many.
    TypeError
        If an index is a list or a NumPy array in deferred computation.
    """
    entries = key if isinstance(key, tuple) else (key,)
    if front.is_deferred() and not keeps_constants.value:
        if any(isinstance(entry, (list, onp.ndarray)) for entry in entries):
            raise UntracedInputError(
                "an index that is a list or a NumPy array cannot be recorded: make it an mx.np "
                "array that is a variable"
            )
    if front.is_deferred() and any(isinstance(entry, front.NDArrayBase) for entry in entries):
        result = _read_places(array, entries)
        if result is not None:
            return result
    if isinstance(key, front.NDArrayBase) and array.ndim and are_places(key, array.shape[0]):
        return F.take(array, key, axis=0, mode="wrap")
    numpy_key, picks = _numpy_key(key)
    if picks:
        return _read_picked(array, numpy_key)
    if is_taped(array):
        result = _read_taped(array, numpy_key, isinstance(key, tuple))
        return _read_picked(array, numpy_key) if result is None else result
    key = numpy_key
    view = array.held_view()  # resolves the key
    has_rest = any(entry is Ellipsis for entry in key)
    picked = view[key if has_rest else (*key, Ellipsis)]
    if not picked.flags.c_contiguous:
        return _read_apart(array, key, picked)
    first = 0
    if picked.size:
        first = (picked.__array_interface__["data"][0] - array.address) // view.itemsize
    flat = array.detached().view_as((array.size,))
    return flat.view_rows(first, first + picked.size).view_as(picked.shape)


def _read_places(array, entries):
    """Index by integer arrays through an operator; None for other keys."""
    places = [entry for entry in entries if isinstance(entry, front.NDArrayBase)]
    if any(x.dtype_code == dtypes.CODES["bool"] for x in places):
        return _read_mask(array, *places) if len(places) == len(entries) == 1 else None
    if len(places) == 1:
        axis = next(i for i, entry in enumerate(entries) if entry is places[0])
        if not all(_is_all(e) for e in (*entries[:axis], *entries[axis + 1 :])):
            return None
        extent = array.shape[axis]
        index = F.Cast(places[0], dtype="int64").as_np_ndarray()
        return F.take(array, index + (index < 0) * extent, axis=axis, mode="raise")
    if len(places) != len(entries) or len(entries) > array.ndim:
        return None
    shape = onp.broadcast_shapes(*(x.shape for x in places))
    indices = [F.Cast(x, dtype="int64") if x.dtype_code != _INT64 else x for x in places]
    indices = [x if x.shape == shape else x.as_np_ndarray().broadcast_to(shape) for x in indices]
    return F.gather_nd(array, F.stack(*indices, num_args=len(indices)))


def _read_mask(array, mask):
    """Index by a mask of the leading axes through an operator; None for other masks."""
    outer, inner = array.shape[: mask.ndim], array.shape[mask.ndim :]
    if not mask.ndim or mask.shape != outer:
        return None
    if mask.ndim > 1:
        array = F._backward_reshape(array, shape=(mask.size, *inner))
        mask = F._backward_reshape(mask, shape=(mask.size,))
    return F._contrib_boolean_mask(array, mask).as_np_ndarray()


def _read_taped(array, key, in_tuple):
    """Index by integers and slices, recorded with MXNet's operators for it.

    The result is a view if it is contiguous, and None if it has no elements.
    """
    final = array.held_view()[key].shape
    if 0 in array.shape or 0 in final:
        return None
    key, has_new = _along_axes(key, array.ndim)
    integers = not any(isinstance(entry, slice) for entry in key)
    if len(key) == array.ndim > 1 and integers and not has_new:
        for entry in key:
            array = _read_taped(array, (entry,), False)
        return array
    attrs, shape = _bounds(key, array.shape)
    rows = array
    if key:
        if not in_tuple and attrs["step"] in ((1,), (None,)):
            attrs = {"begin": (attrs["begin"][0] or 0,), "end": attrs["end"]}
        rows = _beside(array, key, shape)
        if rows is None:
            rows = F.slice(array, **attrs)
        else:
            record_view("slice", array, rows, **attrs)
    if shape == final and not in_tuple and key:
        return rows
    codes = tuple(-2 if isinstance(entry, slice) else -3 for entry in key)
    newshape = final if has_new else (*codes, -4)
    return record_view("_npx_reshape", rows, rows.view_as(final), newshape=newshape)


def _along_axes(key, ndim):
    """Return a key's integers and slices for the leading axes, and whether it adds axes."""
    has_new = any(entry is None for entry in key)
    entries = [entry for entry in key if entry is not None]
    place = next((i for i, entry in enumerate(entries) if entry is Ellipsis), None)
    if place is not None:
        after = entries[place + 1 :]
        missing = ndim - place - len(after) if after else 0
        entries = [*entries[:place], *[slice(None)] * missing, *after]
    return tuple(entries), has_new


def _bounds(key, shape):
    """Return the attributes of operator `slice` for a key, and the resulting shape."""
    begin, end, step, extents = [], [], [], []
    for entry, extent in zip(key, shape, strict=False):
        if isinstance(entry, slice):
            begin.append(entry.start), end.append(entry.stop), step.append(entry.step)
            extents.append(len(range(*entry.indices(extent))))
        else:
            place = int(entry) + extent if entry < 0 else int(entry)
            begin.append(place), end.append(place + 1), step.append(1), extents.append(1)
    attrs = {"begin": tuple(begin), "end": tuple(end), "step": tuple(step)}
    return attrs, (*extents, *shape[len(key) :])


def _beside(array, key, shape):
    """Return a view of the selected elements; None if they are not contiguous."""
    view = array.held_view()
    picked = view[(*key, Ellipsis)]
    if not picked.flags.c_contiguous:
        return None
    first = (picked.__array_interface__["data"][0] - array.address) // view.itemsize
    flat = array.detached().view_as((array.size,))
    return flat.view_rows(first, first + picked.size).view_as(shape)


def _read_apart(array, key, picked):
    """Copy elements selected by slices that are not contiguous."""
    copy = front.empty(picked.shape, array.dtype_code, array.context, type(array.detached()))
    with front.held((array,), (copy,), whole=True):
        if array.on_device:
            elements.copy_picked(array, picked, copy)
        else:
            copy.held_view()[...] = picked
    return copy


def _positions(key, shape):
    """Return the selected positions in the flattened leading axes, and the number of those axes."""
    entries, leading = list(key), len(shape)
    if entries and not any(entry is None or entry is Ellipsis for entry in entries):
        while len(entries) > 1 and _is_all(entries[-1]):
            entries.pop()
        leading = sum(entry.ndim if _is_mask(entry) else 1 for entry in entries)
    grid = onp.arange(math.prod(shape[:leading])).reshape(shape[:leading])
    return onp.asarray(grid[tuple(entries)]), leading


def _is_mask(entry):
    return getattr(entry, "dtype", None) == onp.bool_


def _is_all(entry):
    return isinstance(entry, slice) and entry == slice(None)


def _read_picked(array, key):
    """Return the elements selected by index arrays or masks."""
    if not is_taped(array):
        with front.held((array,)):
            values = onp.asarray(array.held_read_view()[key], order="C")
        cls = type(array.detached())
        return front.from_numpy(values, array.dtype_code, array.context, cls=cls)
    places, leading = _positions(key, array.shape)
    inner = array.shape[leading:]
    rows = F._backward_reshape(array, shape=(math.prod(array.shape[:leading]), *inner))
    indices = front.from_numpy(onp.ascontiguousarray(places), _INT64, array.context)
    if indices.shape != places.shape:
        indices = indices.view_as(places.shape)
    return F.take(rows, indices, axis=0, mode="clip")


# --- writing -------------------------------------------------------------------------------------


def write(array, key, value):
    """Assign ``array[key] = value``.

    Parameters
    ----------
    array : ndarray
    key : as in `read`
    value : number or array_like
        Broadcast to the shape of ``array[key]`` and cast to the array's dtype.

    Raises
    ------
    IndexError
        If an index is out of bounds or invalid, or there are too many.
    ValueError
        If the value cannot be broadcast, or the array is read-only.
    MXNetError
        While recording, if the array is part of a graph, or if the value is and `key` does not
        select the whole array.
    """
    key, _ = _numpy_key(key)
    covers_all = all(_is_all(entry) or entry is Ellipsis for entry in key)
    if not array.writable:
        raise ValueError("assignment destination is read-only")
    if front.is_recording() and _write_taped(array, covers_all, value):
        return
    reads = (value,) if isinstance(value, front.NDArrayBase) else ()
    if not reads:
        value = _values(array, value)
    with front.held(reads, (array,), whole=covers_all):
        if array.on_device:
            elements.write(array, key, value)
        else:
            array.held_view()[key] = _values(array, value) if reads else value


def _write_taped(array, covers_all, value):
    """Handle a write while recording; return whether it was done."""
    taped = isinstance(value, front.NDArrayBase) and front.history(value) is not None
    if front.history(array) is not None:
        raise MXNetError(
            "Assigning to arrays that are already in a computational graph is not supported when "
            "recording with autograd: use functions that make new arrays."
        )
    if not taped:
        return False
    if not covers_all:
        raise MXNetError(
            "Inplace operations (+=, -=, x[:]=, etc) are not supported when recording with "
            "autograd."
        )
    extra = value.ndim - array.ndim
    if extra > 0 and value.shape[:extra] == (1,) * extra:  # NumPy assigns these values too
        value = F._backward_reshape(value, shape=value.shape[extra:])
    if value.shape != array.shape:
        value = value.broadcast_to(array.shape)
    value.copyto(array)
    return True


def _values(array, value):
    """Return a value to assign as a NumPy array of the array's storage dtype."""
    if isinstance(value, front.NDArrayBase):
        result = value.held_read_view()
        if value.dtype_code == array.dtype_code:
            return result
        if value.dtype_code == _BFLOAT16:
            result = reference.widen(result)
    else:
        try:
            result = onp.asarray(value)
        except ValueError as error:
            raise TypeError(f"cannot assign {value!r:.80}: {error}") from None
    kinds = "biufc" if dtypes.is_complex(array.dtype_code) else "biuf"
    if result.dtype.kind not in kinds:
        raise TypeError(f"cannot assign {value!r:.80} of type {type(value)} to {array.dtype}")
    with onp.errstate(all="ignore"):
        if array.dtype_code == _BFLOAT16:
            return reference.narrow(result.astype(onp.float32))
        return result.astype(array.held_view().dtype)
