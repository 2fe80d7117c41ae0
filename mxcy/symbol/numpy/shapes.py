"""Functions of `mx.sym.np` that give arrays other shapes, join them and cut them.

Those of `mx.np` look at shapes, which symbols do not tell.
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
    """An array with another shape and as many elements.

    Parameters
    ----------
    a : Symbol
    newshape, shape : int or tuple of int
        One extent may be -1, what remains.
    order : {'C'}

    Returns
    -------
    Symbol
    """
    if order != "C":
        raise NotImplementedError(f"reshape: symbols are in order 'C', got {order!r}")
    shape = newshape if shape is None else shape
    shape = (shape,) if hasattr(shape, "__index__") else tuple(shape)
    return operate("_npx_reshape", a, newshape=tuple(n.__index__() for n in shape))


def ravel(x, order="C"):
    """An array with one axis that holds the elements in order.

    Parameters
    ----------
    x : Symbol
    order : {'C'}

    Returns
    -------
    Symbol
    """
    if order != "C":
        raise NotImplementedError(f"ravel: symbols are in order 'C', got {order!r}")
    return operate("_npx_reshape", x, newshape=(-1,))


def expand_dims(a, axis):
    """An array with a new axis of extent 1.

    Parameters
    ----------
    a : Symbol
    axis : int
        Where it is in the result.

    Returns
    -------
    Symbol
    """
    return operate("expand_dims", a, axis=axis.__index__())


def concatenate(seq, axis=0, out=None):
    """Join arrays of one element type along an axis.

    Parameters
    ----------
    seq : sequence of Symbol
    axis : int or None
        None joins the flattened arrays.
    out : optional
        Has no effect.

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
    """Join two arrays along an axis, flattened by default."""
    return concatenate((arr, values), axis)


def stack(arrays, axis=0, out=None):
    """Join arrays of one shape along a new axis.

    Parameters
    ----------
    arrays : sequence of Symbol
    axis : int
        Where the new axis is in the result.
    out : optional
        Has no effect.

    Returns
    -------
    Symbol
    """
    arrays = list(arrays)
    if not arrays:
        raise ValueError("need at least one array to stack")
    return operate("stack", *arrays, axis=axis.__index__())


def broadcast_arrays(*args):
    """Arrays brought to the shape to which they broadcast together.

    Parameters
    ----------
    *args : Symbol

    Returns
    -------
    list of Symbols
    """
    whole = operate("_npi_ones_like", args[0])
    for other in args[1:]:
        whole = whole * operate("_npi_ones_like", other)
    return [operate("_npi_where", whole, x, x) for x in args]


def _split(name, array, indices_or_sections, axis):
    parts = operate(
        name, array, axis=axis.__index__(), squeeze_axis=False, **cuts_of(indices_or_sections)
    )
    return parts if isinstance(parts, list) else [parts]


def split(ary, indices_or_sections, axis=0):
    """Cut an array into equal parts, or where indices say.

    Parameters
    ----------
    ary : Symbol
    indices_or_sections : int or sequence of int
        The number of parts, or the positions where parts begin but for the first.
    axis : int
        Which axis to cut.

    Returns
    -------
    list of Symbols
    """
    return _split("_split_v2", ary, indices_or_sections, axis)


array_split = split


def vsplit(ary, indices_or_sections):
    """Cut an array along its first axis; see `split`."""
    return _split("_split_v2", ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    """Cut an array along its third axis; see `split`."""
    return _split("_split_v2", ary, indices_or_sections, 2)


def hsplit(ary, indices_or_sections):
    """Cut an array along its second axis, a vector along its only one; see `split`."""
    return _split("_npi_hsplit", ary, indices_or_sections, 1)
