"""Functions of `mx.np` that give arrays other shapes and join them."""

import math

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.base import integer_types
from mxcy.ndarray.tape import is_taped, record_view
from mxcy.numpy.calls import operate
from mxcy.numpy.convert import as_array
from mxcy.ops.core.result_types import promote

__all__ = ["concat", "concatenate", "promoted", "ravel", "reshape", "stack"]


def promoted(arrays):
    """Arrays in the element type in which they meet.

    Parameters
    ----------
    arrays : sequence of array_like

    Returns
    -------
    list of NDArray
    """
    arrays = [as_array(array) for array in arrays]
    codes = {array.dtype_code for array in arrays}
    if len(codes) < 2:
        return arrays
    code = promote(front.has_numpy_types(), *codes)
    word = dtypes.name_of(code)
    return [a if a.dtype_code == code else operate("Cast", a, dtype=word) for a in arrays]


def _new_shape(size, shape):
    """A shape with what remains in place of -1."""
    if isinstance(shape, integer_types) or hasattr(shape, "__index__"):
        shape = (shape,)
    shape = tuple(extent.__index__() for extent in shape)
    known = math.prod(extent for extent in shape if extent != -1)
    if shape.count(-1) == 1 and known > 0 and size % known == 0:
        shape = tuple(size // known if extent == -1 else extent for extent in shape)
    if min(shape, default=0) < 0 or math.prod(shape) != size:
        raise ValueError(f"cannot reshape array of size {size} into shape {shape}")
    return shape


def reshape(a, newshape=None, order="C", out=None, *, shape=None, copy=None):
    """An array with another shape and as many elements, a view of it.

    Parameters
    ----------
    a : array_like
    newshape, shape : int or tuple of int
        One extent may be -1, what remains.
    order : {'C', 'F', 'A'}
        ``'F'`` reads and writes the elements with the first index changing fastest.
    out : ndarray, optional
        The array that takes the result.
    copy : bool, optional
        True copies.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        When the numbers of elements differ.
    """
    array = as_array(a).as_np_ndarray()
    wanted = _new_shape(array.size, newshape if shape is None else shape)
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"reshape: order must be 'C', 'F' or 'A', got {order!r}")
    if order == "F" and array.ndim + len(wanted) > 2:
        turned = operate("_npi_transpose", array)
        return operate("_npi_transpose", reshape(turned, wanted[::-1]), out=out)
    if out is not None:
        return operate("_backward_reshape", array, shape=wanted, out=out)
    if copy:
        return operate("_backward_reshape", array, shape=wanted)
    view = array.view_as(wanted)
    if is_taped(array):
        record_view("_backward_reshape", array, view, shape=wanted)
    return view


def ravel(x, order="C"):
    """An array with one axis that holds the elements in order.

    Parameters
    ----------
    x : array_like
    order : {'C', 'F', 'A', 'K'}

    Returns
    -------
    ndarray
    """
    return reshape(x, (-1,) if as_array(x).size else (0,), order)


def concatenate(seq, axis=0, out=None):
    """Join arrays along an axis.

    Parameters
    ----------
    seq : sequence of array_like
        They may differ in their extent along the axis only.
    axis : int or None
        None joins the flattened arrays.
    out : ndarray, optional
        The array that takes the result.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        When there is no array.
    """
    arrays = promoted(seq)
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        arrays, axis = [ravel(array) for array in arrays], 0
    if any(array.ndim == 0 for array in arrays):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    return operate("Concat", *arrays, dim=axis.__index__(), out=out)


concat = concatenate


def stack(arrays, axis=0, out=None):
    """Join arrays of one shape along a new axis.

    Parameters
    ----------
    arrays : sequence of array_like
    axis : int
        Where the new axis is in the result.
    out : ndarray, optional
        The array that takes the result.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        When there is no array, or the shapes differ.
    """
    arrays = promoted(arrays)
    if not arrays:
        raise ValueError("need at least one array to stack")
    if len({array.shape for array in arrays}) > 1:
        raise ValueError("all input arrays must have the same shape")
    return operate("stack", *arrays, axis=axis.__index__(), out=out)
