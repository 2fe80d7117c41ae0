"""Operators whose form differs between opset versions."""

import numpy as np

__all__ = ["Versions"]

#: reductions -> the version from which their axes are an input
_AXES_AS_INPUT = {"Sum": 13}


class Versions:
    """Mixin of `Builder` that handles differences between opset versions."""

    def squeeze(self, x, axes):
        """Drop axes of size 1."""
        axes = sorted(axis % x.ndim for axis in axes)
        if not axes:
            return x
        shape = tuple(extent for i, extent in enumerate(x.shape) if i not in axes)
        if self.opset < 13:
            return self.op("Squeeze", x, axes=axes, shape=shape)
        return self.op("Squeeze", x, self.ints(*axes), shape=shape)

    def unsqueeze(self, x, axes):
        """Insert axes of size 1, at positions in the result."""
        if not axes:
            return x
        shape = None
        if x.shape is not None:
            ndim = x.ndim + len(axes)
            axes = sorted(axis % ndim for axis in axes)
            extents = iter(x.shape)
            shape = tuple(1 if i in axes else next(extents) for i in range(ndim))
        if self.opset < 13:
            return self.op("Unsqueeze", x, axes=list(axes), shape=shape)
        return self.op("Unsqueeze", x, self.ints(*axes), shape=shape)

    def transpose(self, x, order):
        """Permute axes."""
        order = list(order)
        if order == sorted(order):
            return x
        shape = None if x.shape is None else tuple(x.shape[i] for i in order)
        return self.op("Transpose", x, perm=order, shape=shape)

    def reduce(self, kind, x, axes=None, keepdims=False):
        """Reduce over axes, all of them by default: ``G.reduce("Sum", x, (0,))``."""
        axes = range(x.ndim) if axes is None else [axis % x.ndim for axis in axes]
        axes = sorted(axes)
        if not axes:
            return self.op("Identity", x) if kind not in ("L1", "L2") else self.op("Abs", x)
        shape = tuple(
            1 if i in axes else extent
            for i, extent in enumerate(x.shape)
            if keepdims or i not in axes
        )
        options = {"keepdims": int(keepdims), "shape": shape}
        if self.opset < _AXES_AS_INPUT.get(kind, 18):
            return self.op(f"Reduce{kind}", x, axes=axes, **options)
        return self.op(f"Reduce{kind}", x, self.ints(*axes), **options)

    def slice(self, x, starts, ends, axes, steps=None):
        """Slice along axes; starts and ends are extents."""
        if not axes:
            return x
        shape = None
        if x.shape is not None:
            shape = [-1 if i in axes else extent for i, extent in enumerate(x.shape)]
            for i, (start, end, axis) in enumerate(zip(starts, ends, axes, strict=True)):
                if isinstance(start, int) and isinstance(end, int) and x.shape[axis] != -1:
                    step = steps[i] if steps else 1
                    shape[axis] = len(range(x.shape[axis])[slice(start, _end(end), step)])
        bounds = [self.join(starts), self.join(ends), self.ints(*axes)]
        if steps is not None and any(step != 1 for step in steps):
            bounds.append(self.ints(*steps))
        return self.op("Slice", x, *bounds, shape=shape)

    def split(self, x, sizes, axis):
        """Split along an axis into parts of int sizes."""
        axis %= x.ndim
        if len(sizes) == 1:
            return [x]
        options = {"outputs": len(sizes), "axis": axis}
        if self.opset < 13:
            parts = self.op("Split", x, split=list(sizes), **options)
        else:
            parts = self.op("Split", x, self.ints(*sizes), **options)
        for part, size in zip(parts, sizes, strict=True):
            part.shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
        return parts

    def concat(self, values, axis):
        """Concatenate along an axis."""
        if len(values) == 1:
            return values[0]
        shape = None
        if all(x.shape is not None for x in values):
            axis %= values[0].ndim
            along = [x.shape[axis] for x in values]
            shape = [max(extents) for extents in zip(*(x.shape for x in values), strict=True)]
            shape[axis] = -1 if -1 in along else sum(along)
        return self.op("Concat", *values, axis=axis, shape=shape)

    def gather(self, x, indices, axis=0):
        """Gather along an axis by positions, which may be negative."""
        shape = None
        if x.shape is not None and indices.shape is not None:
            axis %= x.ndim
            shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
        return self.op("Gather", x, indices, axis=axis, shape=shape)

    def softmax(self, x, axis=-1, kind="Softmax"):
        """Softmax, LogSoftmax or Hardmax along one axis, which before version 13 must be last."""
        axis %= x.ndim
        if self.opset >= 13 or axis == x.ndim - 1:
            return self.op(kind, x, axis=axis, shape=x.shape)
        order = list(range(x.ndim))
        order[axis], order[-1] = order[-1], order[axis]
        result = self.op(kind, self.transpose(x, order), axis=x.ndim - 1)
        result.shape = tuple(x.shape[i] for i in order)
        return self.transpose(result, order)

    def pad(self, x, before, after, mode="constant", number=0):
        """Pad all axes."""
        fill = self.like(x, number) if mode == "constant" else None
        shape = tuple(
            -1 if n == -1 else n + b + a for n, b, a in zip(x.shape, before, after, strict=True)
        )
        return self.op("Pad", x, self.ints(*before, *after), fill, mode=mode, shape=shape)

    def resize(self, x, sizes=None, scales=None, **attributes):
        """Resize to extents or by factors; before opset 13 no input may be omitted."""
        none = np.zeros(0, np.float32) if self.opset < 13 else None
        return self.op("Resize", x, none, none if scales is None else scales, sizes, **attributes)

    def clip(self, x, low=None, high=None):
        """Clip elements to constant bounds."""
        bounds = [None if n is None else self.like(x, n) for n in (low, high)]
        return self.op("Clip", x, *bounds)

    def top(self, x, count, axis=-1, largest=True):
        """(values, positions) of the largest or smallest elements, in order."""
        options = {"axis": axis, "largest": int(largest), "sorted": 1}
        values, places = self.op("TopK", x, self.as_vector(count), outputs=2, **options)
        shape = list(x.shape)
        shape[axis] = count if isinstance(count, int) else -1
        values.shape = places.shape = tuple(shape)
        places.dtype = np.dtype(np.int64)
        return values, places


def _end(end):
    """Convert the end of a slice to Python's: the smallest int64 means before the first."""
    return None if end <= -(2**62) else end
