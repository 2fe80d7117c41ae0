"""`mx.np` functions that reshape and join arrays."""

import math

import numpy as onp

from mxcy._base.axis_error import InvalidAxisError
from mxcy._base.errors import InvalidValueError
from mxcy._library import front
from mxcy.base import MXNetError, integer_types
from mxcy.ndarray.tape import is_taped, record_view
from mxcy.numpy._calls import symbolic
from mxcy.numpy._calls.direct import direct
from mxcy.numpy._calls.general import cast, operate
from mxcy.numpy._calls.operands import array_class, as_array, as_np_array, is_array, whole_number
from mxcy.ops.core.result_types import promote
from mxcy.ops.shape.numpy_reshape import reshaped

__all__ = [
    "append",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block",
    "broadcast_shapes",
    "column_stack",
    "concat",
    "concatenate",
    "dstack",
    "expand_dims",
    "fliplr",
    "flipud",
    "hstack",
    "ravel",
    "repeat",
    "reshape",
    "row_stack",
    "stack",
    "tile",
    "vstack",
]


def promoted(arrays):
    """Promote arrays to their common dtype.

    Parameters
    ----------
    arrays : sequence of array_like

    Returns
    -------
    list of NDArray
    """
    arrays = [as_array(array) for array in arrays]
    if symbolic.any_symbols(arrays):  # dtypes not yet known
        return arrays
    codes = {array.dtype_code for array in arrays}
    if len(codes) < 2:
        return arrays
    code = promote(front.has_numpy_types(), *codes)
    return [a if a.dtype_code == code else cast(a, code) for a in arrays]


def viewed(name, array, shape, **attrs):
    """Return a view with another shape, recorded as the output of an operator."""
    view = array.view_as(shape)
    if is_taped(array):
        record_view(name, array, view, **attrs)
    return view


def _extents(shape):
    if isinstance(shape, integer_types) or hasattr(shape, "__index__"):
        shape = (shape,)
    return tuple(extent.__index__() for extent in shape)


def _new_shape(old, shape):
    """Resolve -1 and the codes of `npx.reshape` in a new shape."""
    shape, size = _extents(shape), math.prod(old)
    if min(shape, default=0) < -1:
        try:
            return reshaped(old, shape, False)
        except MXNetError as error:
            raise InvalidValueError(f"reshape: {error}") from None
    known = math.prod(extent for extent in shape if extent != -1)
    if shape == (-1,):
        return (size,)
    if shape.count(-1) == 1 and known > 0 and size % known == 0:
        shape = tuple(size // known if extent == -1 else extent for extent in shape)
    if min(shape, default=0) < 0 or math.prod(shape) != size:
        raise InvalidValueError(f"cannot reshape array of size {size} into shape {shape}")
    return shape


def reshape(a, shape=None, order="C", out=None, *, newshape=None, copy=None):
    """Return a view of an array with another shape and the same number of elements.

    Parameters
    ----------
    a : array_like
    shape, newshape : int or tuple of int
        One extent may be -1 and is then inferred; the codes of `npx.reshape` below -1 are accepted
        as well. `newshape` is MXNet's name.
    order : {'C', 'F', 'A'}
        ``'F'`` reads and writes the elements in column-major order.
    out : ndarray, optional
        Array to write the result to.
    copy : bool, optional
        True always copies; with False, an order that needs a copy is an error.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If the numbers of elements differ.
    """
    array = as_np_array(a)
    codes = newshape if shape is None else shape
    wanted = _new_shape(array.shape, codes)
    codes = wanted if min(_extents(codes), default=0) >= 0 else _extents(codes)
    if order not in ("C", "F", "A", "K"):
        raise InvalidValueError(f"reshape: order must be 'C', 'F' or 'A', got {order!r}")
    if order == "F" and array.ndim + len(wanted) > 2:
        if copy is False:
            raise InvalidValueError("reshape: order 'F' needs a copy")
        transposed = operate("_npi_transpose", array)
        return operate("_npi_transpose", reshape(transposed, wanted[::-1]), out=out)
    if out is not None or copy:
        return operate("_npx_reshape", array, newshape=wanted, out=out)
    return viewed("_npx_reshape", array, wanted, newshape=codes)


def ravel(x, order="C"):
    """Return a flattened 1-D array.

    Parameters
    ----------
    x : array_like
    order : {'C', 'F', 'A', 'K'}

    Returns
    -------
    ndarray
    """
    if order == "C" and type(x) is array_class():
        return x.reshape(-1)
    return reshape(x, (-1,), order)


def expand_dims(a, axis):
    """Return a view of an array with new axes of size 1.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int
        Positions of the new axes in the result.

    Returns
    -------
    ndarray

    Raises
    ------
    MXNetError
        If a position is out of bounds or repeated.
    """
    array = as_np_array(a)
    if isinstance(axis, (tuple, list)):
        ndim = array.ndim + len(axis)
        places = onp.lib.array_utils.normalize_axis_tuple(axis, ndim)
        extents = iter(array.shape)
        return reshape(array, tuple(1 if i in places else next(extents) for i in range(ndim)))
    axis, ndim = axis.__index__(), array.ndim
    if not -ndim - 1 <= axis <= ndim:
        raise InvalidAxisError(
            f"expand_dims: axis {axis} is out of bounds for {ndim + 1} dimensions"
        )
    place = axis + ndim + 1 if axis < 0 else axis
    shape = (*array.shape[:place], 1, *array.shape[place:])
    return viewed("expand_dims", array, shape, axis=axis)


def fliplr(m):
    """Reverse the order of elements along the second axis (left/right)."""
    return operate("_npi_flip", as_array(m), axis=(1,))


def flipud(m):
    """Reverse the order of elements along the first axis (up/down)."""
    return operate("_npi_flip", as_array(m), axis=(0,))


def tile(A, reps):
    """Construct an array by repeating another along each axis.

    Parameters
    ----------
    A : array_like
    reps : int or tuple of int
        Number of repetitions along each axis, aligned at the last one.

    Returns
    -------
    ndarray
    """
    reps = (reps,) if hasattr(reps, "__index__") else tuple(reps)
    return operate("_npi_tile" if 0 in reps else "tile", as_array(A), reps=reps)


@direct("_npi_repeats")
def repeat(a, repeats, axis=None):
    """Repeat every element of an array.

    Parameters
    ----------
    a : array_like
    repeats : int or sequence of int
        Number of repetitions: one for all elements along the axis, or one for each.
    axis : int, optional
        Axis to repeat along; the array is flattened first if omitted.

    Returns
    -------
    ndarray
    """
    if is_array(repeats) or isinstance(repeats, onp.ndarray):
        repeats = repeats.tolist()
    repeats = (repeats,) if hasattr(repeats, "__index__") else tuple(repeats)
    if not repeats:  # empty: one for each element
        repeats = (1,) if 0 in as_array(a).shape else repeats
    array = as_array(a)
    if axis and (front.is_deferred() or symbolic.is_symbol(array)):  # MXNet's repeats rows
        transposed = operate("SwapAxis", array, dim1=0, dim2=axis)
        repeated = operate("_npi_repeats", transposed, repeats=repeats, axis=0)
        return operate("SwapAxis", repeated, dim1=0, dim2=axis)
    return operate("_npi_repeats", array, repeats=repeats, axis=axis)


def _at_least(name, arrays):
    return operate(name, *map(as_array, arrays)) if arrays else []


def atleast_1d(*arys):
    """View arrays with at least one axis; a list if there are several."""
    return _at_least("_npi_atleast_1d", arys)


def atleast_2d(*arys):
    """View arrays with at least two axes, vectors as rows; a list if there are several."""
    return _at_least("_npi_atleast_2d", arys)


def atleast_3d(*arys):
    """View arrays with at least three axes; a list if there are several."""
    return _at_least("_npi_atleast_3d", arys)


@direct("Concat", {"axis": "dim"}, joins=1, dim=0)
def concatenate(seq, axis=0, out=None):
    """Join arrays along an existing axis.

    Parameters
    ----------
    seq : sequence of array_like
        Arrays of equal shape except along the axis.
    axis : int or None
        None joins the flattened arrays.
    out : ndarray, optional
        Array to write the result to.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If there is no array.
    """
    if axis is None and isinstance(seq, (tuple, list)) and seq and all(map(is_array, seq)):
        return concatenate([ravel(array) for array in seq], 0, out)
    arrays = promoted(seq)
    if not arrays:
        raise InvalidValueError("need at least one array to concatenate")
    if axis is None:
        arrays, axis = [ravel(array) for array in arrays], 0
    if any(array.ndim == 0 for array in arrays):
        raise InvalidValueError("zero-dimensional arrays cannot be concatenated")
    return operate("Concat", *arrays, dim=whole_number("concatenate", "axis", axis), out=out)


concat = concatenate


@direct("stack", joins=2)
def stack(arrays, axis=0, out=None):
    """Join arrays of one shape along a new axis.

    Parameters
    ----------
    arrays : sequence of array_like
    axis : int
        Position of the new axis in the result.
    out : ndarray, optional
        Array to write the result to.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If there is no array, or the shapes differ.
    """
    arrays = promoted(arrays)
    if not arrays:
        raise InvalidValueError("need at least one array to stack")
    if len({array.shape for array in arrays}) > 1:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise InvalidValueError(f"all input arrays must have the same shape, got {shapes}")
    return operate("stack", *arrays, axis=whole_number("stack", "axis", axis), out=out)


def _stacked(name, arrays, out=None):
    """Apply a joining operator to arrays, or to the slices of an array along its first axis."""
    arrays = promoted(arrays)
    if not arrays:
        raise InvalidValueError(f"{name}: need at least one array to join")
    return operate(f"_npi_{name}", *arrays, out=out)


def vstack(arrays, out=None):
    """Join arrays along the first axis; vectors are rows.

    Parameters
    ----------
    arrays : sequence of array_like
    out : ndarray, optional
        Array to write the result to.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If there is no array.
    """
    return _stacked("vstack", arrays, out)


row_stack = vstack


def hstack(arrays):
    """Join arrays along the second axis, vectors along their only one."""
    return _stacked("hstack", arrays)


def dstack(arrays):
    """Join arrays along the third axis, added if missing."""
    return _stacked("dstack", arrays)


def column_stack(tup):
    """Join vectors (as columns) and matrices along the second axis."""
    return _stacked("column_stack", tup)


def block(arrays):
    """Assemble an array from nested lists of blocks; innermost lists along the last axis.

    Parameters
    ----------
    arrays : nested list of array_like

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If a list is empty, or the nesting depths differ.
    """

    def depth_of(part):
        if not isinstance(part, list):
            return 0
        depths = {depth_of(inner) for inner in part}
        if len(depths) != 1:
            raise InvalidValueError("block: expected non-empty lists of equal nesting depth")
        return 1 + depths.pop()

    def leaves(part):
        return [x for inner in part for x in leaves(inner)] if isinstance(part, list) else [part]

    def joined(part, axis):
        if isinstance(part, list):
            return concatenate([joined(inner, axis + 1) for inner in part], axis)
        array = as_np_array(part)
        return reshape(array, (1,) * (rank - array.ndim) + array.shape)

    depth = depth_of(arrays)
    rank = max(depth, *(as_np_array(leaf).ndim for leaf in leaves(arrays)), 0)
    return joined(arrays, -depth)


broadcast_shapes = onp.broadcast_shapes


def append(arr, values, axis=None):
    """Append values to the end of an array.

    Parameters
    ----------
    arr, values : array_like
    axis : int, optional
        Axis to append along; both are flattened first if omitted.

    Returns
    -------
    ndarray
    """
    return concatenate((arr, values), axis)
