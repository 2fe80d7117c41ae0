"""Arithmetic of extents, some of which are known only at run time.

An extent is an int, or a Value: an int64 vector of one element.
"""

import numpy as np

from mxcy.onnx.mx2onnx.values import Value

__all__ = ["Dims"]


class Dims:
    """Mixin of `Builder` for computing with shapes."""

    def shape(self, x):
        """The shape as an int64 vector."""
        if x.static:
            return self.ints(*x.shape)
        return self.op("Shape", x, shape=None if x.shape is None else (x.ndim,))

    def dim(self, x, axis):
        """One extent."""
        if x.shape[axis] != -1:
            return x.shape[axis]
        return self.op("Gather", self.shape(x), self.ints(axis % x.ndim), shape=(1,))

    def dims(self, x):
        """All extents."""
        if x.static:
            return list(x.shape)
        shape = None
        extents = []
        for axis, extent in enumerate(x.shape):
            if extent == -1:
                shape = shape or self.shape(x)
                extent = self.op("Gather", shape, self.ints(axis), shape=(1,))
            extents.append(extent)
        return extents

    def as_vector(self, extent):
        """Convert an extent to an int64 vector of one element."""
        return extent if isinstance(extent, Value) else self.ints(extent)

    def join(self, extents):
        """Concatenate extents to a vector."""
        if not any(isinstance(extent, Value) for extent in extents):
            return self.ints(*extents)
        parts, run = [], []
        for extent in extents:
            if isinstance(extent, Value):
                if run:
                    parts.append(self.ints(*run))
                    run = []
                parts.append(extent)
            else:
                run.append(extent)
        if run:
            parts.append(self.ints(*run))
        if len(parts) == 1:
            return parts[0]
        return self.op("Concat", *parts, axis=0, shape=(len(extents),))

    def times(self, *extents):
        """The product of extents."""
        number, product = 1, None
        for extent in extents:
            if isinstance(extent, Value):
                product = extent if product is None else self.op("Mul", product, extent)
            else:
                number *= extent
        if product is None or number == 0:
            return number
        return product if number == 1 else self.op("Mul", product, self.ints(number))

    def sum_of(self, *extents):
        """The sum of extents."""
        number, total = 0, None
        for extent in extents:
            if isinstance(extent, Value):
                total = extent if total is None else self.op("Add", total, extent)
            else:
                number += extent
        if total is None:
            return number
        return total if number == 0 else self.op("Add", total, self.ints(number))

    def minus(self, extent, other):
        """The difference of two extents."""
        if isinstance(extent, Value) or isinstance(other, Value):
            return self.op("Sub", self.as_vector(extent), self.as_vector(other))
        return extent - other

    def over(self, extent, other):
        """The quotient of two extents, rounded down."""
        if isinstance(extent, Value) or isinstance(other, Value):
            if other is extent:
                return 1
            return self.op("Div", self.as_vector(extent), self.as_vector(other))
        return extent // other

    @staticmethod
    def known(extents):
        """Convert extents to a Value's shape."""
        return tuple(-1 if isinstance(extent, Value) else extent for extent in extents)

    def reshape(self, x, extents):
        """Reshape a value; one extent may be -1, to be inferred."""
        extents = list(extents)
        unknown = [i for i, extent in enumerate(extents) if isinstance(extent, Value)]
        shape = self.known(extents)
        if x.shape is not None and x.shape == shape and x.static:
            return x
        if 0 in shape:
            if self.opset < 14:
                return self.full(extents, 0, x.dtype)
            return self.op("Reshape", x, self.join(extents), shape=shape, allowzero=1)
        if len(unknown) == 1 and shape.count(-1) == 1:
            extents[unknown[0]] = -1
        elif unknown and shape.count(-1) == len(unknown) and self.opset >= 14:
            return self.op("Reshape", x, self.join(extents), shape=shape, allowzero=1)
        if -1 in shape and x.static and shape.count(-1) == 1:
            quotient = int(np.prod(x.shape)) // max(1, -int(np.prod(shape)))
            shape = tuple(quotient if extent == -1 else extent for extent in shape)
        return self.op("Reshape", x, self.join(extents), shape=shape)

    def flat(self, x):
        """Flatten a value to a vector."""
        return self.reshape(x, [int(np.prod(x.shape, dtype=np.int64)) if x.static else -1])

    def expand(self, x, extents):
        """Broadcast a value to a shape."""
        shape = self.known(extents)
        if x.static and x.shape == shape:
            return x
        if 0 in shape:  # ONNX Runtime does not expand extents of 1 to 0
            return self.full(extents, 0, x.dtype)
        return self.op("Expand", x, self.join(extents), shape=shape)

    def full(self, extents, number, dtype):
        """Create an array filled with a number."""
        dtype = np.dtype(dtype)
        shape = self.known(extents)
        if -1 not in shape and np.prod(shape, dtype=np.int64) <= 64:
            return self.const(np.full(shape, number, dtype))
        fill = self.const(np.full((), number, dtype))
        return self.op("Expand", fill, self.join(extents), shape=shape)

    def arange(self, start, limit, step=1):
        """Create an int64 range; bounds may be extents."""
        if not any(isinstance(n, Value) for n in (start, limit, step)):
            return self.const(np.arange(start, limit, step, dtype=np.int64))
        bounds = [
            self.squeeze(n, (0,)) if isinstance(n, Value) else self.const(np.int64(n))
            for n in (start, limit, step)
        ]
        return self.op("Range", *bounds, shape=(-1,))
