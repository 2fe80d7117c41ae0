"""Shape inference of NDArray's views and broadcasts."""

import functools
import math
import operator

from mxcy.base import MXNetError
from mxcy.ops.shape import reshape as ops_shape

__all__ = ["broadcastable", "expanded", "reshape_arguments", "reshaped", "squeezed"]


def reshape_arguments(shape, kwargs):
    """Parse the arguments of `NDArray.reshape`: (shape, reverse)."""
    unknown = [name for name in kwargs if name not in ("shape", "reverse")]
    if unknown:
        raise TypeError(
            f"Got unknown keywords in reshape: {', '.join(unknown)}. Accepted keyword arguments "
            "are 'shape' and 'reverse'."
        )
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = shape[0]
    elif not shape:
        shape = kwargs.get("shape")
        assert shape, "Shape must be provided."
    return tuple(map(operator.index, shape)), bool(kwargs.get("reverse", False))


@functools.lru_cache(4096)
def reshaped(shape, wanted, reverse=False):
    """Infer the shape of `reshape`, with the special values 0, -1, -2, -3 and -4.

    Raises
    ------
    ValueError
        If the new shape has fewer elements.
    MXNetError
        If it has more, or a special value is invalid.
    """
    try:
        return ops_shape.reshaped(shape, wanted, reverse)
    except MXNetError as error:
        size = math.prod(shape)
        if min(wanted) >= -1 and 0 < abs(math.prod(wanted)) < size and wanted.count(-1) < 2:
            text = f"reshape: cannot reshape an array of size {size} into shape {wanted}"
            raise ValueError(text) from None
        raise MXNetError(f"reshape: {error}") from None


def expanded(shape, axis):
    """Insert an axis of size 1 before `axis`."""
    ndim = len(shape)
    assert -ndim - 1 <= axis <= ndim, f"axis {axis} is out of range for {ndim}d array"
    axis = axis + ndim + 1 if axis < 0 else axis
    return (*shape[:axis], 1, *shape[axis:])


def squeezed(shape, axis=None):
    """Remove all or some axes of size 1; at least one axis is kept."""
    if axis is None:
        return tuple(extent for extent in shape if extent != 1) or (1,)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    gone = set()
    for each_axis in axes:
        place = each_axis + len(shape) if each_axis < 0 else each_axis
        assert 0 <= place < len(shape), f"axis {each_axis} is out of range for {len(shape)}d array"
        assert shape[place] == 1, (
            f"Squeeze target axis {each_axis} must be size 1, got {shape[place]}."
        )
        assert place not in gone, f"axis {each_axis} is given twice"
        gone.add(place)
    return tuple(extent for i, extent in enumerate(shape) if i not in gone) or (1,)


def broadcastable(shape, target):
    """Prepend axes of size 1 to `shape` up to the number of axes of `target`.

    Raises
    ------
    ValueError
        If it cannot be broadcast to `target`.
    """
    padded = (1,) * (len(target) - len(shape)) + shape
    if len(padded) != len(target) or any(
        extent not in (1, wanted) and wanted != 0
        for extent, wanted in zip(padded, target, strict=True)
    ):
        raise ValueError(
            "operands could not be broadcast together with remapped shapes[original->remapped]: "
            f"{shape} and requested shape {tuple(target)}"
        )
    return padded
