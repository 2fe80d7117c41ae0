"""`mx.np.pad`."""

import numpy as onp

from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array
from mxcy.numpy._calls.symbolic import is_symbol

__all__ = ["pad"]

_MODES = ("constant", "edge", "maximum", "minimum", "reflect", "symmetric")


def pad(x, pad_width=None, mode="constant", **kwargs):
    """An array with margins.

    Parameters
    ----------
    x : array_like
    pad_width : int, pair of int, or sequence of pairs
        How many elements to add before and after, for all axes or for each.
    mode : {'constant', 'edge', 'reflect', 'symmetric', 'maximum', 'minimum'}
        What they are: a number, the nearest element, elements mirrored at the last one or behind
        it, the largest or the smallest along the axis. The last two have no gradient.
    **kwargs
        ``constant_values``, a number or numbers as `pad_width` has them; ``reflect_type``,
        which may be ``'even'``.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        When there is no such mode, or a keyword does not belong to it.
    """
    if mode not in _MODES:
        raise ValueError(f"mode {mode!r} is not supported")
    allowed = {
        "constant": "constant_values",
        "reflect": "reflect_type",
        "symmetric": "reflect_type",
    }
    for key, value in kwargs.items():
        if key != allowed.get(mode):
            raise ValueError(f"unsupported keyword arguments for mode '{mode}': {key}")
        if key == "reflect_type" and value != "even":
            raise ValueError(f"unsupported reflect_type {value!r}")
    array = as_array(x)
    whole = is_symbol(array) and all(hasattr(pair, "__len__") for pair in pad_width)
    ndim = len(pad_width) if whole else array.ndim
    widths = _pairs(pad_width, ndim, "pad_width")
    if any(not isinstance(n, int) for pair in widths for n in pair):
        raise TypeError("`pad_width` must be of integral type.")
    if any(n < 0 for pair in widths for n in pair):
        raise ValueError("index can't contain negative values")
    value = kwargs.get("constant_values", 0)
    if not hasattr(value, "__len__"):
        return operate("_npi_pad", array, pad_width=widths, mode=mode, constant_values=float(value))
    for axis, pair in enumerate(_pairs(value, ndim, "constant_values")):
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


def _pairs(value, ndim, name):
    """A pair for each axis, of what stands for all of them."""
    if type(value) is int:
        return ((value, value),) * ndim
    try:
        return tuple(map(tuple, onp.broadcast_to(value, (ndim, 2)).tolist()))
    except ValueError:
        raise ValueError(f"{name}: {value} does not fit {ndim} axes") from None
