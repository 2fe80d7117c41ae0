"""Index-based array constructors: `mgrid`, `ogrid`, `r_`, `c_`, `s_`."""

import numpy as onp

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_np_array, from_onp, is_array
from mxcy.numpy._creation.rules import default_type
from mxcy.numpy._shape.manipulation import concatenate, promoted
from mxcy.ops.core.result_types import with_number

__all__ = ["c_", "index_exp", "mgrid", "ogrid", "r_", "s_"]

s_, index_exp = onp.s_, onp.index_exp


def _spaced(values):
    """Convert NumPy's evenly spaced values: integers keep their dtype, floats get the default."""
    return from_onp(values, None if values.dtype.kind in "iu" else default_type(values.dtype))


class _Grid:
    """Grid coordinates from slices ``start:stop:step``, or ``start:stop:nj`` for n values."""

    def __init__(self, whole):
        self._whole = whole

    def __getitem__(self, key):
        if self._whole:
            return _spaced(onp.mgrid[key])
        values = onp.ogrid[key]
        return tuple(map(_spaced, values)) if isinstance(values, tuple) else _spaced(values)

    def __len__(self):
        return 0


class _Joined:
    """Concatenation of arrays, scalars and slices along an axis.

    Parameters
    ----------
    axis : int
        Axis of the concatenation.
    ndim : int
        Minimum number of axes of each item.
    first : int
        Position of an array's own axes among these; -1 puts them last.
    """

    def __init__(self, axis, ndim, first):
        self._defaults = axis, ndim, first

    def __getitem__(self, key):
        items = list(key) if isinstance(key, tuple) else [key]
        axis, ndim, first = self._defaults
        if items and isinstance(items[0], str):
            axis, ndim, first = self._directive(items.pop(0))
        numbers = [not is_array(item) and onp.ndim(item) == 0 for item in items]
        numbers = [
            flag and not isinstance(x, slice) for flag, x in zip(numbers, items, strict=True)
        ]
        parts = [
            None if flag else _raised(item, ndim, first)
            for flag, item in zip(numbers, items, strict=True)
        ]
        arrays = [part for part in parts if part is not None]
        meeting = promoted(arrays)[0].dtype_code if arrays else None
        parts = [
            _number(item, meeting, max(ndim, 1)) if part is None else part
            for part, item in zip(parts, items, strict=True)
        ]
        return concatenate(parts, axis)

    def _directive(self, text):
        """Parse a directive such as ``'0,2,1'`` into (axis, ndim, first)."""
        if text in ("r", "c"):
            raise ValueError(f"{text!r} asks for a matrix, which mx.np does not have")
        try:
            words = [int(word) for word in text.split(",")]
        except ValueError:
            raise ValueError(f"unknown special directive {text!r}") from None
        return (*words, *self._defaults[len(words) :])[:3]

    def __len__(self):
        return 0


def _raised(item, ndim, first):
    """Return an array or a slice with at least `ndim` axes."""
    array = _spaced(onp.r_[item]) if isinstance(item, slice) else as_np_array(item)
    if array.ndim >= ndim:
        return array
    added = ndim - array.ndim
    start = added if first == -1 else first  # the added axis before which the array's own axes go
    if start < 0:
        start += added + 1
    return array.reshape((1,) * start + array.shape + (1,) * (added - start))


def _number(value, meeting, ndim):
    """Return a scalar as an array, in the arrays' common dtype if that can hold it."""
    array = from_onp(onp.asarray(value))
    if meeting is not None and not isinstance(value, (bool, complex, onp.generic)):
        code = with_number(front.has_numpy_types(), meeting, isinstance(value, int))
        array = operate("Cast", array, dtype=dtypes.name_of(code))
    elif array.dtype.kind in "fc" and not isinstance(value, onp.generic):
        array = array.astype(default_type(array.dtype))
    return array.reshape((1,) * ndim)


mgrid, ogrid = _Grid(True), _Grid(False)
r_, c_ = _Joined(0, 1, -1), _Joined(-1, 2, 0)
