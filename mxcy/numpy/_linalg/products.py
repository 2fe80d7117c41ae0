"""Array products composed of other functions."""

import operator

import numpy as onp

from mxcy._base.errors import InvalidValueError
from mxcy._library import front
from mxcy.numpy._calls.by_numpy import as_onp
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array, is_complex
from mxcy.numpy._calls.symbolic import is_symbol
from mxcy.ops.core.infer import normal_axis

__all__ = ["cross", "einsum", "einsum_path", "inner", "matvec", "outer", "tensordot", "vdot"]
__all__ += ["vecdot", "vecmat"]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def flat(array):
    """Flatten an operand, as a view if possible."""
    array = as_array(array)
    if _is_traced(array) or not array.size:
        return operate("_npx_reshape", array, newshape=(-1,))
    return array if array.ndim == 1 else array.reshape((-1,))


def tensordot(a, b, axes=2):
    """Compute the tensor dot product: the sum of products over pairs of axes.

    Parameters
    ----------
    a, b : array_like
    axes : int or pair of int or sequence of int
        Number of last axes of `a` and first axes of `b` to sum over; or the axes of `a` and those
        of `b`.

    Returns
    -------
    ndarray
        The remaining axes of `a`, then those of `b`.
    """
    a, b = as_array(a), as_array(b)
    try:
        count = operator.index(axes)
    except TypeError:
        left, right = (
            (x,) if hasattr(x, "__index__") else tuple(map(operator.index, x)) for x in axes
        )
        return operate("_npi_tensordot", a, b, a_axes_summed=left, b_axes_summed=right)
    return operate("_npi_tensordot_int_axes", a, b, axes=count)


def inner(a, b):
    """Compute the inner product: the sum of products over the last axes.

    Parameters
    ----------
    a, b : array_like
        A scalar multiplies the other operand.

    Returns
    -------
    ndarray
    """
    a, b = as_array(a), as_array(b)
    if 0 in (a.ndim, b.ndim):
        return operate("_npi_multiply", a, b)
    if a.ndim == b.ndim == 1 and not _is_traced(a, b):
        return operate("_npi_dot", a, b)
    return operate("_npi_tensordot", a, b, a_axes_summed=(-1,), b_axes_summed=(-1,))


def outer(a, b):
    """Compute the outer product of two vectors.

    Parameters
    ----------
    a, b : array_like
        Flattened first.

    Returns
    -------
    ndarray
        Shape (a.size, b.size).
    """
    a, b = flat(a), flat(b)
    if _is_traced(a, b):
        return operate("_npi_tensordot_int_axes", a, b, axes=0)
    # a sum of one product would start from +0 and lose the sign of -0
    return operate("_npi_multiply", a.reshape((-1, 1)) if a.size else a[:, None], b)


def vdot(a, b):
    """Compute the dot product of two flattened arrays, conjugating `a`.

    Parameters
    ----------
    a, b : array_like
        Flattened first.

    Returns
    -------
    ndarray
    """
    a, b = _conjugated(flat(a)), flat(b)
    if _is_traced(a, b):
        return operate("_npi_tensordot_int_axes", a, b, axes=1)
    return operate("_npi_dot", a, b)


def _is_traced(*arrays):
    """Return whether operators are traced into a graph, where MXNet has other operators."""
    return front.is_deferred() or any(map(is_symbol, arrays))


def _conjugated(array):
    return operate("_mx_conj", array) if is_complex(array) else array


def vecdot(a, b, axis=-1):
    """Compute the vector dot product along an axis, conjugating `a`.

    Parameters
    ----------
    a, b : array_like
        Broadcast against each other.
    axis : int

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If the vectors differ in length.
    """
    a, b = as_array(a), as_array(b)
    if operator.index(axis) != -1:
        a, b = (_moved_last(x, axis) for x in (a, b))
    if 0 in (a.ndim, b.ndim) or a.shape[-1] != b.shape[-1]:
        raise InvalidValueError(f"vecdot: the vectors of {a.shape} and {b.shape} differ in length")
    a = _conjugated(a)
    return operate("_npi_einsum", a, b, num_args=2, subscripts="...i,...i->...")


def matvec(x1, x2):
    """Compute matrix-vector products.

    Parameters
    ----------
    x1 : array_like
        Of shape (..., m, n).
    x2 : array_like
        Of shape (..., n).

    Returns
    -------
    ndarray
        Of shape (..., m).
    """
    subscripts = "...ij,...j->...i"
    return operate("_npi_einsum", as_array(x1), as_array(x2), num_args=2, subscripts=subscripts)


def vecmat(x1, x2):
    """Compute vector-matrix products, conjugating the vectors.

    Parameters
    ----------
    x1 : array_like
        Of shape (..., n).
    x2 : array_like
        Of shape (..., n, m).

    Returns
    -------
    ndarray
        Of shape (..., m).
    """
    x1, subscripts = _conjugated(as_array(x1)), "...i,...ij->...j"
    return operate("_npi_einsum", x1, as_array(x2), num_args=2, subscripts=subscripts)


def _moved_last(array, axis):
    axis = normal_axis(axis, array.ndim)
    order = [i for i in range(array.ndim) if i != axis]
    return operate("_npi_transpose", array, axes=(*order, axis))


def einsum(*operands, out=None, optimize=False, **kwargs):
    """Evaluate the Einstein summation convention on the operands.

    Parameters
    ----------
    *operands : str and array_like
        Subscripts such as ``"ij,jk->ik"`` and the operands; or each operand followed by a list of
        axis labels, and optionally a list for the result at the end.
    out : ndarray, optional
        Array to write the result to.
    optimize : bool or str
        Ignored: the contraction order is always optimised.
    **kwargs
        `dtype`, `order` and `casting`, which must have their default values.

    Returns
    -------
    ndarray
    """
    usual = {"dtype": (None,), "order": ("K", "C"), "casting": ("safe", "same_kind")}
    for key, value in kwargs.items():
        if key not in usual:
            raise TypeError(f"einsum() got an unexpected keyword argument {key!r}")
        if value not in usual[key]:
            raise NotImplementedError(f"{key}={value} is not implemented for einsum")
    if not operands:
        raise InvalidValueError("einsum: expected subscripts and operands")
    subscripts, *arrays = operands if isinstance(operands[0], str) else _lettered(operands)
    arrays = list(map(as_array, arrays))
    if not arrays:
        raise InvalidValueError("einsum: expected an operand at least")
    return operate(
        "_npi_einsum",
        *arrays,
        num_args=len(arrays),
        subscripts=subscripts,
        optimize=int(bool(optimize)),
        out=out,
    )


def einsum_path(*operands, optimize="greedy"):
    """Return a contraction order for `einsum` and its cost; see `numpy.einsum_path`.

    Parameters
    ----------
    *operands : str and array_like
        See `einsum`.
    optimize : bool, str or list of tuple of int

    Returns
    -------
    (list, str)
    """
    return onp.einsum_path(*as_onp(operands), optimize=optimize)


def _lettered(operands):
    """Convert operands with lists of axis labels to subscripts and operands."""
    arrays, lists = operands[0 : len(operands) // 2 * 2 : 2], operands[1::2]
    text = ",".join(map(_letters, lists))
    if len(operands) % 2:
        text += "->" + _letters(operands[-1])
    return text, *arrays


def _letters(axes):
    return "".join("..." if axis is Ellipsis else _LETTERS[operator.index(axis)] for axis in axes)


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Compute the cross product of vectors with two or three components.

    Parameters
    ----------
    a, b : array_like
        Broadcast against each other.
    axisa, axisb : int
        Axes of the vectors in `a` and `b`.
    axisc : int
        Axis of the vectors in the result; ignored if all vectors have two components.
    axis : int, optional
        Sets all three.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If a vector has neither two nor three components.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = as_array(a), as_array(b)
    for vectors, place in ((a, axisa), (b, axisb)):
        if is_symbol(vectors):
            continue
        if vectors.shape[normal_axis(place, vectors.ndim)] not in (2, 3):
            raise InvalidValueError(f"cross: expected 2 or 3 components, got shape {vectors.shape}")
    return operate("_npi_cross", a, b, axisa=axisa, axisb=axisb, axisc=axisc)
