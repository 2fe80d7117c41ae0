"""`mx.np` functions that select elements."""

import numpy as onp

from mxcy._base import dtypes
from mxcy._base.errors import InvalidIndexError
from mxcy._library import front
from mxcy.numpy._arrays.indexing import are_places
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_np_array, from_onp, is_array
from mxcy.numpy._selection.indices import axis_of, host_indices, spread
from mxcy.numpy._shape.manipulation import promoted, ravel, reshape, stack
from mxcy.ops.core.result_types import with_number

__all__ = ["choose", "compress", "extract", "select", "take", "take_along_axis"]


def _counted(indices, extent):
    """Return indices as non-negative int64; negative ones count from the end."""
    if not is_array(indices):
        values = host_indices(indices)
        if values.dtype.kind not in "iu":
            raise TypeError(f"indices must be integers, got {values.dtype}")
        wrong = values[(values < -extent) | (values >= extent)]
        if wrong.size:
            raise InvalidIndexError(f"index {wrong.flat[0]} is out of bounds for size {extent}")
        return from_onp(onp.where(values < 0, values + extent, values))
    if indices.dtype != onp.int64:
        indices = operate("Cast", indices, dtype="int64")
    indices = indices.as_np_ndarray()
    return indices + (indices < 0) * extent


@front.shortcut
def take(a, indices, axis=None, mode="raise", out=None):
    """Take elements of an array along an axis.

    Parameters
    ----------
    a : array_like
    indices : array_like of int
        Negative indices count from the end in mode ``'raise'``. Fractions are truncated.
    axis : int, optional
        The array is flattened first if omitted.
    mode : {'raise', 'clip', 'wrap'}
        Treatment of indices out of bounds: raise an error, clip, or wrap around.
    out : ndarray, optional
        Array to write the result to.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If `mode` is unknown.
    IndexError, MXNetError
        If an index is out of bounds in mode ``'raise'``; for index arrays, on reading the result.
    """
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"take: mode must be 'raise', 'clip' or 'wrap', got {mode!r}")
    array = as_np_array(a)
    if axis is None:
        array, axis = ravel(array), 0
    axis = axis_of("take", array, axis)
    if mode == "raise" and is_array(indices) and are_places(indices, array.shape[axis]):
        mode = "wrap"
    elif mode == "raise":
        indices = _counted(indices, array.shape[axis])
    elif not is_array(indices):
        indices = from_onp(host_indices(indices))
    return operate("take", array, indices, axis=axis, mode=mode, out=out)


def take_along_axis(arr, indices, axis=-1):
    """Take elements along an axis, with separate indices for each 1-D slice.

    Parameters
    ----------
    arr : array_like
    indices : array_like of int
        Broadcast against `arr` except along `axis`.
    axis : int or None
        None indexes the flattened array.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If the numbers of axes differ.
    """
    array, indices = as_np_array(arr), as_np_array(indices)
    if axis is None:
        array, axis = ravel(array), 0
    if indices.ndim != array.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    axis = axis_of("take_along_axis", array, axis)
    extent = array.shape[axis]
    wanted = _counted(indices, extent)
    strides = onp.cumprod((1, *array.shape[:0:-1]))[::-1].tolist()
    shape = list(onp.broadcast_shapes(_without(array, axis), _without(indices, axis)))
    shape[axis] = 1
    start = onp.zeros(shape, onp.int64)
    for i, (count, stride) in enumerate(zip(array.shape, strides, strict=True)):
        if i != axis and count != 1:
            steps = onp.arange(count) * stride
            start = start + steps.reshape([-1 if j == i else 1 for j in range(array.ndim)])
    inside = (wanted >= 0) & (wanted < extent)
    # map indices out of bounds beyond the whole array, so that take raises
    places = (wanted * strides[axis] + from_onp(start)) * inside + (inside == False) * array.size  # noqa: E712
    return operate("take", ravel(array), places, axis=0, mode="raise")


def _without(array, axis):
    """Return the shape with extent 1 along an axis."""
    return tuple(1 if i == axis else n for i, n in enumerate(array.shape))


def choose(a, choices, out=None, mode="raise"):
    """Construct an array by choosing each element from one of several arrays.

    Parameters
    ----------
    a : array_like of int
        Index of the array to choose from, for each element.
    choices : sequence of array_like
        Broadcast against each other and `a`.
    out : ndarray, optional
        Array to write the result to.
    mode : {'raise', 'clip', 'wrap'}
        Treatment of indices out of bounds: raise an error, clip, or wrap around.

    Returns
    -------
    ndarray
    """
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"choose: mode must be 'raise', 'clip' or 'wrap', got {mode!r}")
    numbers, arrays = as_np_array(a), promoted(choices)
    shape = onp.broadcast_shapes(numbers.shape, *(array.shape for array in arrays))
    count = len(arrays)
    numbers = operate("Cast", numbers, dtype="int64")
    if mode == "wrap":
        numbers = numbers % count
    elif mode == "clip":
        numbers = operate("clip", numbers, a_min=0, a_max=count - 1)
    else:
        numbers = numbers - (numbers < 0) * (2 * count)  # rejects negative indices
    stacked = stack([spread(array, shape) for array in arrays])
    chosen_elements = take_along_axis(stacked, reshape(spread(numbers, shape), (1, *shape)), 0)
    return reshape(chosen_elements, shape, out=out)


def compress(condition, a, axis=None, out=None):
    """Select slices of an array along an axis where a condition is True.

    Parameters
    ----------
    condition : array_like of bool
        One value per slice; missing ones count as False.
    a : array_like
    axis : int, optional
        The array is flattened first if omitted.
    out : ndarray, optional
        Array to write the result to.

    Returns
    -------
    ndarray
    """
    if axis is None and out is None and _is_mask(condition, a) and condition.ndim == 1:
        return as_np_array(a)[as_np_array(condition)]
    condition = condition.asnumpy() if is_array(condition) else onp.asarray(condition)
    if condition.ndim != 1:
        raise ValueError("compress: condition must be a 1-d array")
    return take(a, onp.flatnonzero(condition), axis, out=out)


def _is_mask(condition, array):
    """Return whether both are arrays, and the first is a mask for the second."""
    if not (is_array(condition) and is_array(array)) or condition.dtype != onp.bool_:
        return False
    return condition.shape == array.shape


def extract(condition, arr):
    """Return the elements of a flattened array where a condition is True."""
    if _is_mask(condition, arr) and condition.ndim:
        return as_np_array(arr)[as_np_array(condition)]
    condition = condition.asnumpy() if is_array(condition) else onp.asarray(condition)
    return compress(condition.ravel(), arr)


def select(condlist, choicelist, default=0):
    """Choose each element from the first array whose condition is True.

    Parameters
    ----------
    condlist : sequence of array_like of bool
    choicelist : sequence of array_like
        One array per condition.
    default : number or array_like
        Value where no condition is True.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If there are no conditions, or the numbers of conditions and arrays differ.
    TypeError
        If a condition is not boolean.
    """
    if not len(condlist) or len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    conditions = [as_np_array(condition) for condition in condlist]
    for number, condition in enumerate(conditions):
        if condition.dtype != onp.bool_:
            raise TypeError(f"invalid entry {number} in condlist: should be boolean ndarray")
    if isinstance(default, (int, float)) and not isinstance(default, bool):
        arrays = promoted(choicelist)
        code = with_number(front.has_numpy_types(), arrays[0].dtype_code, isinstance(default, int))
        fallback = from_onp(onp.asarray(default), dtypes.dtype_of(code))
        *arrays, fallback = promoted([*arrays, fallback])
    else:
        *arrays, fallback = promoted([*choicelist, default])
    shape = onp.broadcast_shapes(*(x.shape for x in (*conditions, *arrays, fallback)))
    result = spread(fallback, shape)
    for condition, array in zip(conditions[::-1], arrays[::-1], strict=True):
        result = operate("where", spread(condition, shape), spread(array, shape), result)
    return result
