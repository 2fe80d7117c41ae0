"""Differences, gradients and interpolation."""

import operator

import numpy as onp

from mxcy._base.errors import InvalidValueError
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array, as_np_array
from mxcy.numpy._shape.manipulation import concatenate
from mxcy.numpy._statistics.averages import floating
from mxcy.ops.core.infer import normal_axis

__all__ = ["diff", "ediff1d", "gradient", "interp"]


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Compute the n-th discrete difference along an axis.

    Parameters
    ----------
    a : array_like
    n : int
        Number of times to take differences.
    axis : int
    prepend, append : array_like, optional
        Values to add at both ends of the axis first; a scalar is broadcast to a slice.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If `n` is negative.
    """
    a = as_array(a)
    if n < 0:
        raise InvalidValueError(f"diff: expected no negative n, got {n}")
    if n and (prepend is not None or append is not None):
        shape = list(a.shape)
        shape[axis] = 1
        parts = [_slice_of(x, shape) for x in (prepend, append)]
        parts.insert(1, a)
        a = concatenate([x for x in parts if x is not None], axis)
    return operate("_npi_diff", a, n=operator.index(n), axis=operator.index(axis))


def _slice_of(value, shape):
    """Convert a value to prepend or append, broadcasting a scalar to a slice."""
    if value is None:
        return None
    value = as_array(value)
    return value if value.ndim else operate("_npi_broadcast_to", value, shape=tuple(shape))


def gradient(f, *varargs, axis=None, edge_order=1):
    """Compute the gradient by central differences, one-sided at the boundaries.

    Parameters
    ----------
    f : array_like
        Values on a grid.
    *varargs : scalar or array_like
        Spacing of the values (1 by default), or their coordinates: one for all axes, or one for
        each.
    axis : int or tuple of int, optional
        The axes, by default all.
    edge_order : {1, 2}
        Order of the differences at the boundaries.

    Returns
    -------
    ndarray or list of ndarrays
        The derivatives along each axis.

    Raises
    ------
    ValueError
        If an axis has too few values, or coordinates of the wrong shape.
    TypeError
        If the numbers of spacings and axes differ.
    """
    f = floating(as_np_array(f))
    single = isinstance(axis, int) or (axis is None and f.ndim == 1)
    axes = range(f.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    axes = [normal_axis(number, f.ndim) for number in axes]
    steps = list(varargs) or [1.0]
    steps = steps * len(axes) if len(steps) == 1 else steps
    if len(steps) != len(axes):
        raise TypeError(f"gradient: expected {len(axes)} spacings, got {len(steps)}")
    if edge_order not in (1, 2):
        raise InvalidValueError(f"gradient: edge_order must be 1 or 2, got {edge_order!r}")
    slopes = [_slopes(f, *pair, edge_order) for pair in zip(axes, steps, strict=True)]
    return slopes[0] if single else slopes


def _slopes(f, axis, step, edge_order):
    """Compute the derivative along one axis, second-order accurate in the interior."""
    size = f.shape[axis]
    if size <= edge_order:
        raise InvalidValueError(
            f"gradient: axis {axis} has {size} values, at least {edge_order + 1} needed"
        )
    step = step.asnumpy() if hasattr(step, "asnumpy") else onp.asarray(step)
    if step.ndim > 1 or (step.ndim and len(step) != size):
        raise InvalidValueError(f"gradient: coordinates of shape {step.shape} for {size} values")
    widths = onp.diff(step) if step.ndim else onp.full(size - 1, step)
    shape = [1] * f.ndim
    shape[axis] = -1

    def part(begin, end):
        return f[(slice(None),) * axis + (slice(begin, end),)]

    def weighted(*weights):
        """Sum neighbours with weights along the axis."""
        count = size - len(weights) + 1
        terms = [
            part(i, i + count) * as_np_array(weight.astype(f.dtype).reshape(shape))
            for i, weight in enumerate(weights)
        ]
        return sum(terms[1:], terms[0])

    before, after = widths[:-1], widths[1:]
    inner = weighted(
        -after / (before * (before + after)),
        (after - before) / (before * after),
        before / (after * (before + after)),
    )
    ends = []
    for near, far, sign in ((0, 1, 1), (-1, -2, -1)):
        place = [part(i, i + 1 or None) for i in ((0, 1, 2) if sign > 0 else (-1, -2, -3))]
        h = widths[near]
        if edge_order == 1:
            ends.append((place[1] - place[0]) * float(sign / h))
            continue
        k = widths[far]
        weights = (-(2 * h + k) / (h * (h + k)), (h + k) / (h * k), -h / (k * (h + k)))
        terms = [x * float(sign * w) for x, w in zip(place, weights, strict=True)]
        ends.append(terms[0] + terms[1] + terms[2])
    return concatenate([ends[0], inner, ends[1]] if size > 2 else ends, axis)


def ediff1d(ary, to_end=None, to_begin=None):
    """Compute differences between consecutive elements of a flattened array.

    Parameters
    ----------
    ary : array_like
    to_end, to_begin : array_like, optional
        Values to append and prepend, in the dtype of `ary`.

    Returns
    -------
    ndarray
        1-D.
    """
    ary = as_array(ary)
    arrays, attrs = [ary], {}
    for name, value in (("to_begin", to_begin), ("to_end", to_end)):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            attrs[f"{name}_scalar"] = float(value)
        elif value is not None:
            arrays.append(as_array(value))
            attrs[f"{name}_arr_given"] = True
    return operate("_npi_ediff1d", *arrays, **attrs)


def interp(x, xp, fp, left=None, right=None, period=None):
    """Interpolate linearly between points; float64 and not differentiable.

    Parameters
    ----------
    x : array_like
    xp, fp : array_like
        Coordinates of the points; `xp` must be ascending.
    left, right : float, optional
        Values below and above all points; by default those of the first and last point.
    period : float, optional
        Period of the x-coordinates.

    Returns
    -------
    ndarray
    """
    arrays = [operate("Cast", as_array(array), dtype="float64") for array in (xp, fp, x)]
    return operate("_npi_interp", *arrays, left=left, right=right, period=period)
