"""Products of arrays that are made of other functions."""

import operator

import numpy as onp

from mxcy._base.errors import InvalidValueError
from mxcy._library import front
from mxcy.numpy._calls.by_numpy import as_onp
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array, is_complex
from mxcy.numpy._calls.symbolic import is_symbol

__all__ = ["cross", "einsum", "einsum_path", "inner", "matvec", "outer", "tensordot", "vdot"]
__all__ += ["vecdot", "vecmat"]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def flat(array):
    """An operand as a vector, a view where that can be."""
    array = as_array(array)
    if _is_traced(array) or not array.size:
        return operate("_npx_reshape", array, newshape=(-1,))
    return array if array.ndim == 1 else array.reshape((-1,))


def tensordot(a, b, axes=2):
    """The sum of products over pairs of axes.

    Parameters
    ----------
    a, b : array_like
    axes : int or pair of int or sequence of int
        How many of the last axes of `a` meet as many of the first of `b`; or which axes of `a`, and
        which of `b`.

    Returns
    -------
    ndarray
        Of the other axes of `a`, then those of `b`.
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
    """The sum of products over the last axes.

    Parameters
    ----------
    a, b : array_like
        A number multiplies.

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
    """The products of all pairs of elements.

    Parameters
    ----------
    a, b : array_like
        They are flattened.

    Returns
    -------
    ndarray
        Of shape (a.size, b.size).
    """
    a, b = flat(a), flat(b)
    if _is_traced(a, b):
        return operate("_npi_tensordot_int_axes", a, b, axes=0)
    # sums of one product would begin with a zero, which takes the sign of negative ones
    return operate("_npi_multiply", a.reshape((-1, 1)) if a.size else a[:, None], b)


def vdot(a, b):
    """The sum of the products of elements at the same place, those of `a` conjugated.

    Parameters
    ----------
    a, b : array_like
        They are flattened.

    Returns
    -------
    ndarray
    """
    a, b = _conjugated(flat(a)), flat(b)
    if _is_traced(a, b):
        return operate("_npi_tensordot_int_axes", a, b, axes=1)
    return operate("_npi_dot", a, b)


def _is_traced(*arrays):
    """Whether operators are recorded, for whose names MXNet's files have others."""
    return front.is_deferred() or any(map(is_symbol, arrays))


def _conjugated(array):
    return operate("_mx_conj", array) if is_complex(array) else array


def vecdot(a, b, axis=-1):
    """The sum of products over one axis, the numbers of `a` conjugated.

    Parameters
    ----------
    a, b : array_like
        They broadcast.
    axis : int

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        When the vectors differ in length.
    """
    a, b = as_array(a), as_array(b)
    if operator.index(axis) != -1:
        a, b = (_moved_last(x, axis) for x in (a, b))
    if 0 in (a.ndim, b.ndim) or a.shape[-1] != b.shape[-1]:
        raise ValueError(f"vecdot: the vectors of {a.shape} and {b.shape} differ in length")
    a = _conjugated(a)
    return operate("_npi_einsum", a, b, num_args=2, subscripts="...i,...i->...")


def matvec(x1, x2):
    """The products of matrices and vectors.

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
    """The products of vectors, conjugated, and matrices.

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
    axis += array.ndim if axis < 0 else 0
    if not 0 <= axis < array.ndim:
        raise ValueError(f"axis {axis} is out of bounds for an array of shape {array.shape}")
    order = [i for i in range(array.ndim) if i != axis]
    return operate("_npi_transpose", array, axes=(*order, axis))


def einsum(*operands, out=None, optimize=False, **kwargs):
    """Einstein's summation: products of elements, summed over letters that the result lacks.

    Parameters
    ----------
    *operands : str and array_like
        Subscripts such as ``"ij,jk->ik"`` and the operands; or each operand with a list of numbers
        for its axes, and last, if given, a list for those of the result.
    out : ndarray, optional
        The array that takes the result.
    optimize : bool or str
        Has no effect on results: the order of the products is always chosen for speed.
    **kwargs
        `dtype`, `order` and `casting` may only be what they are by default.

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
        raise ValueError("einsum: expected subscripts and operands")
    subscripts, *arrays = operands if isinstance(operands[0], str) else _lettered(operands)
    arrays = list(map(as_array, arrays))
    if not arrays:
        raise ValueError("einsum: expected an operand at least")
    return operate(
        "_npi_einsum",
        *arrays,
        num_args=len(arrays),
        subscripts=subscripts,
        optimize=int(bool(optimize)),
        out=out,
    )


def einsum_path(*operands, optimize="greedy"):
    """An order for the products of `einsum`, and what it saves; see `numpy.einsum_path`.

    Parameters
    ----------
    *operands : str and array_like
        As `einsum` takes them.
    optimize : bool, str or list of tuple of int

    Returns
    -------
    (list, str)
    """
    return onp.einsum_path(*as_onp(operands), optimize=optimize)


def _lettered(operands):
    """Subscripts and operands of operands with lists of numbers."""
    arrays, lists = operands[0 : len(operands) // 2 * 2 : 2], operands[1::2]
    text = ",".join(map(_letters, lists))
    if len(operands) % 2:
        text += "->" + _letters(operands[-1])
    return text, *arrays


def _letters(axes):
    return "".join("..." if axis is Ellipsis else _LETTERS[operator.index(axis)] for axis in axes)


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The cross product of vectors.

    Parameters
    ----------
    a, b : array_like
        They broadcast.
    axisa, axisb : int
        Along which axes the vectors of two or three components lie.
    axisc : int
        Where they lie in the result; without meaning where all vectors have two components.
    axis : int, optional
        All three.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        When a vector has neither two nor three components.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = as_array(a), as_array(b)
    for vectors, place in ((a, axisa), (b, axisb)):
        if not is_symbol(vectors) and vectors.shape[place] not in (2, 3):
            raise InvalidValueError(f"cross: expected 2 or 3 components, got shape {vectors.shape}")
    return operate("_npi_cross", a, b, axisa=axisa, axisb=axisb, axisc=axisc)
