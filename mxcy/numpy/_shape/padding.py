"""`mx.np.pad`."""

import numpy as onp

from mxcy._base import dtypes
from mxcy._base.errors import InvalidValueError
from mxcy.numpy._arrays.operators import function
from mxcy.numpy._calls.by_numpy import by_numpy
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array, from_onp
from mxcy.numpy._calls.symbolic import is_symbol
from mxcy.numpy._shape.manipulation import concatenate

__all__ = ["pad"]

#: mode -> its keyword argument, or None
_KEYWORDS = {
    "constant": "constant_values",
    "edge": None,
    "empty": None,
    "linear_ramp": "end_values",
    "maximum": "stat_length",
    "mean": "stat_length",
    "median": "stat_length",
    "minimum": "stat_length",
    "reflect": "reflect_type",
    "symmetric": "reflect_type",
    "wrap": None,
}
#: modes supported by the operator, besides ``'constant'``
_OPERATORS = ("edge", "maximum", "minimum", "reflect", "symmetric")


def pad(x, pad_width=None, mode="constant", **kwargs):
    """Pad an array.

    Parameters
    ----------
    x : array_like
    pad_width : int, pair of int, sequence of pairs, or dict of int to these
        Number of elements to add before and after, for all axes or for each.
    mode : str or callable
        Padding values: a constant (``'constant'``), the edge element (``'edge'``), a reflection
        without (``'reflect'``) or with the edge element (``'symmetric'``), the opposite end
        (``'wrap'``), a linear ramp to an end value (``'linear_ramp'``), the ``'mean'``,
        ``'median'``, ``'maximum'`` or ``'minimum'`` along the axis, undefined (``'empty'``), or
        those written by a padding function, which NumPy calls. ``'maximum'`` and ``'minimum'`` of
        whole axes have no gradient.
    **kwargs
        Options of the mode: ``constant_values`` and ``end_values``, in one of the forms of
        `pad_width`; ``stat_length``, the number of elements at each end to use;
        ``reflect_type``, ``'even'``, or ``'odd'`` to reflect values about the edge value as well.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If the mode is unknown, or a keyword does not belong to it.
    """
    if callable(mode):
        return by_numpy(onp.pad, "pad", (x, pad_width, mode), kwargs)
    if mode not in _KEYWORDS:
        raise InvalidValueError(f"mode {mode!r} is not supported")
    for key in kwargs:
        if key != _KEYWORDS[mode]:
            raise InvalidValueError(f"unsupported keyword arguments for mode '{mode}': {key}")
    kind = kwargs.get("reflect_type", "even")
    if kind not in ("even", "odd"):
        raise InvalidValueError(f"unsupported reflect_type {kind!r}")
    array = as_array(x)
    widths = _widths(array, pad_width)
    if mode == "constant":
        return _with_constants(array, widths, kwargs.get("constant_values", 0))
    if mode == "empty":
        return _with_constants(array, widths, 0)
    if mode in _OPERATORS and kind == "even" and kwargs.get("stat_length") is None:
        return operate("_npi_pad", array, pad_width=widths, mode=mode)
    if is_symbol(array):
        raise NotImplementedError(f"pad: mode {mode!r} needs the shape of a symbol")
    return _with_parts(array.as_np_ndarray(), widths, mode, kwargs)


def _widths(array, pad_width):
    """Return the pad widths (before, after) of each axis."""
    if isinstance(pad_width, dict):
        by_axis = {axis % array.ndim: pair for axis, pair in pad_width.items()}
        pairs = (_pairs(by_axis.get(axis, 0), 1, "pad_width") for axis in range(array.ndim))
        widths = tuple(pair for (pair,) in pairs)
    else:
        per_axis = is_symbol(array) and all(hasattr(pair, "__len__") for pair in pad_width)
        ndim = len(pad_width) if per_axis else array.ndim
        widths = _pairs(pad_width, ndim, "pad_width")
    if any(not isinstance(n, int) for pair in widths for n in pair):
        raise TypeError("`pad_width` must be of integral type.")
    if any(n < 0 for pair in widths for n in pair):
        raise InvalidValueError("index can't contain negative values")
    return widths


def _pairs(value, ndim, name):
    """Broadcast a value to a pair per axis."""
    if type(value) is int:
        return ((value, value),) * ndim
    try:
        return tuple(map(tuple, onp.broadcast_to(value, (ndim, 2)).tolist()))
    except ValueError:
        raise InvalidValueError(f"{name}: {value} does not fit {ndim} axes") from None


def _with_constants(array, widths, value):
    if not hasattr(value, "__len__"):
        return operate("_npi_pad", array, pad_width=widths, constant_values=float(value))
    for axis, pair in enumerate(_pairs(value, len(widths), "constant_values")):
        for side in (0, 1):
            margins = [[0, 0] for _ in widths]
            margins[axis][side] = widths[axis][side]
            array = operate(
                "_npi_pad",
                array,
                pad_width=tuple(map(tuple, margins)),
                constant_values=float(pair[side]),
            )
    return array


def _with_parts(array, widths, mode, kwargs):
    """Pad an array one axis after the other by concatenation."""
    (option,) = kwargs.values() or (None,)
    options = [(option, option)] * array.ndim
    if mode in ("linear_ramp", "mean", "median", "maximum", "minimum"):
        setting = 0 if option is None and mode == "linear_ramp" else option
        if setting is not None:
            options = _pairs(setting, array.ndim, _KEYWORDS[mode])
    for axis, (pair, own) in enumerate(zip(widths, options, strict=True)):
        if not any(pair):
            continue
        if not array.shape[axis]:
            raise InvalidValueError(
                f"can't extend empty axis {axis} using modes other than 'constant'"
            )
        if mode == "wrap":
            places = onp.arange(-pair[0], array.shape[axis] + pair[1]) % array.shape[axis]
            array = function("take")(array, from_onp(places), axis)
        elif mode == "linear_ramp":
            array = _joined(_ramp, array, axis, pair, own)
        elif mode in ("reflect", "symmetric"):
            array = _mirrored(array, axis, pair, mode == "symmetric")
        else:
            array = _joined(_STATISTICS[mode], array, axis, pair, own)
    return array


def _part(array, axis, start, stop):
    return array[(slice(None),) * axis + (slice(start, stop),)]


def _joined(margin, array, axis, pair, options):
    """Pad one axis with ``margin(array, axis, extent, option)``, defined for the left end."""
    flip = function("flip")
    parts = [array]
    if pair[0]:
        parts.insert(0, margin(array, axis, pair[0], options[0]))
    if pair[1]:
        parts.append(flip(margin(flip(array, axis), axis, pair[1], options[1]), axis))
    return concatenate(parts, axis)


def _ramp(array, axis, extent, end):
    edge = _part(array, axis, 0, 1)
    integral = array.dtype.kind in "biu"
    if integral:
        edge = operate("Cast", edge, dtype="float64")
    shape = [extent if i == axis else 1 for i in range(array.ndim)]
    shares = from_onp((onp.arange(extent) / extent).reshape(shape), edge.dtype)
    values = (edge - end) * shares + end
    if integral:
        values = operate("Cast", function("floor")(values), dtype=array.dtype.name)
    return values


def _statistic(name):
    """Return a margin function: a statistic of `count` elements per line, None for all."""

    def margin(array, axis, extent, count):
        count = array.shape[axis] if count is None else min(count, array.shape[axis])
        if count < 1:
            raise InvalidValueError("stat_length of 0 yields no value for padding")
        value = function(name)(_part(array, axis, 0, count), axis, keepdims=True)
        if value.dtype != array.dtype:
            value = function("rint")(value) if array.dtype.kind in "biu" else value
            value = operate("Cast", value, dtype=dtypes.name_of(array.dtype_code))
        shape = list(array.shape)
        shape[axis] = extent
        return operate("_npi_broadcast_to", value, shape=tuple(shape))

    return margin


_STATISTICS = {
    "maximum": _statistic("max"),
    "mean": _statistic("mean"),
    "median": _statistic("median"),
    "minimum": _statistic("min"),
}


def _mirrored(array, axis, pair, repeats_edge):
    """Pad with elements and values reflected at both ends, repeatedly if needed."""
    first = 0 if repeats_edge else 1  # start of the part to reflect
    period = array.shape[axis] - first
    if not period:
        return operate("_npi_pad", array, pad_width=_along(array, axis, pair), mode="edge")
    before, after = pair
    while before or after:
        extent = array.shape[axis]
        reach = (extent - first) // period * period
        left, right = min(before, reach), min(after, reach)
        parts = [array]
        if left:
            edge = _part(array, axis, 0, 1)
            part = _part(array, axis, first, first + left)
            parts.insert(0, 2 * edge - function("flip")(part, axis))
        if right:
            end = extent - first
            edge = _part(array, axis, extent - 1, extent)
            part = _part(array, axis, end - right, end)
            parts.append(2 * edge - function("flip")(part, axis))
        array = concatenate(parts, axis)
        before, after = before - left, after - right
    return array


def _along(array, axis, pair):
    return tuple(pair if i == axis else (0, 0) for i in range(array.ndim))
