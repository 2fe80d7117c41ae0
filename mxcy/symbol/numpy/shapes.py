"""Reshaping, joining and splitting functions of `mx.sym.np`.

Their counterparts in `mx.np` inspect shapes, which symbols do not know.
"""

from mxcy.numpy._calls.general import operate
from mxcy.numpy._shape.splitting import cuts_of

__all__ = [
    "append",
    "array_split",
    "broadcast_arrays",
    "concat",
    "concatenate",
    "dsplit",
    "expand_dims",
    "hsplit",
    "ravel",
    "reshape",
    "split",
    "stack",
    "vsplit",
]


def reshape(a, newshape=None, order="C", *, shape=None):
    """Reshape an array.

    Parameters
    ----------
    a : Symbol
    newshape, shape : int or tuple of int
        The new shape, in which one dimension may be -1, to be inferred.
    order : {'C'}

    Returns
    -------
    Symbol
    """
    if order != "C":
        raise NotImplementedError(f"reshape: symbols only support order 'C', got {order!r}")
    shape = newshape if shape is None else shape
    shape = (shape,) if hasattr(shape, "__index__") else tuple(shape)
    return operate("_npx_reshape", a, newshape=tuple(n.__index__() for n in shape))


def ravel(x, order="C"):
    """Flatten an array.

    Parameters
    ----------
    x : Symbol
    order : {'C'}

    Returns
    -------
    Symbol
    """
    if order != "C":
        raise NotImplementedError(f"ravel: symbols only support order 'C', got {order!r}")
    return operate("_npx_reshape", x, newshape=(-1,))


def expand_dims(a, axis):
    """Insert an axis of size 1.

    Parameters
    ----------
    a : Symbol
    axis : int
        Position of the new axis in the result.

    Returns
    -------
    Symbol
    """
    return operate("expand_dims", a, axis=axis.__index__())


def concatenate(seq, axis=0, out=None):
    """Join arrays of equal dtype along an axis.

    Parameters
    ----------
    seq : sequence of Symbol
    axis : int or None
        None joins the flattened arrays.
    out : optional
        Ignored.

    Returns
    -------
    Symbol
    """
    arrays = list(seq)
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        arrays, axis = [ravel(array) for array in arrays], 0
    return operate("Concat", *arrays, dim=axis.__index__())


concat = concatenate


def append(arr, values, axis=None):
    """Join two arrays along an axis, by default flattened."""
    return concatenate((arr, values), axis)


def stack(arrays, axis=0, out=None):
    """Join arrays of equal shape along a new axis.

    Parameters
    ----------
    arrays : sequence of Symbol
    axis : int
        Position of the new axis in the result.
    out : optional
        Ignored.

    Returns
    -------
    Symbol
    """
    arrays = list(arrays)
    if not arrays:
        raise ValueError("need at least one array to stack")
    return operate("stack", *arrays, axis=axis.__index__())


def broadcast_arrays(*args):
    """Broadcast arrays against each other.

    Parameters
    ----------
    *args : Symbol

    Returns
    -------
    list of Symbols
    """
    ones = operate("_npi_ones_like", args[0])
    for other in args[1:]:
        ones = ones * operate("_npi_ones_like", other)
    return [operate("_npi_where", ones, x, x) for x in args]


def _split(name, array, indices_or_sections, axis):
    parts = operate(
        name, array, axis=axis.__index__(), squeeze_axis=False, **cuts_of(indices_or_sections)
    )
    return parts if isinstance(parts, list) else [parts]


def split(ary, indices_or_sections, axis=0):
    """Split an array into equal parts, or at indices.

    Parameters
    ----------
    ary : Symbol
    indices_or_sections : int or sequence of int
        The number of parts, or the indices to split at.
    axis : int
        The axis to split along.

    Returns
    -------
    list of Symbols
    """
    return _split("_split_v2", ary, indices_or_sections, axis)


array_split = split


def vsplit(ary, indices_or_sections):
    """Split an array along its first axis; see `split`."""
    return _split("_split_v2", ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    """Split an array along its third axis; see `split`."""
    return _split("_split_v2", ary, indices_or_sections, 2)


def hsplit(ary, indices_or_sections):
    """Split an array along its second axis, a vector along its only one; see `split`."""
    return _split("_npi_hsplit", ary, indices_or_sections, 1)
