"""Tensors and nodes of the ONNX graph under construction."""

import numpy as np

__all__ = ["Body", "Node", "Value"]


class Value:
    """A tensor of the graph under construction.

    Python operators on values and numbers add ONNX nodes; numbers take the value's dtype.

    Attributes
    ----------
    name : str
    shape : tuple of int or None
        -1 for extents known only at run time; None if the rank is unknown.
    dtype : numpy.dtype or None
    real : Value or None
        Dequantized floats of an int32 value, if available.
    """

    __slots__ = ("name", "shape", "dtype", "real", "_builder", "_array", "_compute")
    __array_ufunc__ = None  # NumPy scalars defer to our operators

    def __init__(self, builder, name, shape=None, dtype=None, array=None, compute=None):
        self.name, self.dtype = name, None if dtype is None else np.dtype(dtype)
        self.shape = None if shape is None else tuple(int(extent) for extent in shape)
        self._builder, self._array, self._compute = builder, array, compute
        self.real = None

    @property
    def array(self):
        """The elements as a NumPy array if known at export, else None."""
        if self._array is None and self._compute is not None:
            self._array, self._compute = self._compute(), None
        return self._array

    @property
    def ndim(self):
        """The rank."""
        return len(self.shape)

    @property
    def static(self):
        """Whether the whole shape is known."""
        return self.shape is not None and -1 not in self.shape

    def __repr__(self):
        return f"<{self.name}: {self.dtype} {self.shape}>"

    def __add__(self, other):
        return self._builder.two("Add", self, other)

    def __sub__(self, other):
        return self._builder.two("Sub", self, other)

    def __mul__(self, other):
        return self._builder.two("Mul", self, other)

    def __truediv__(self, other):
        return self._builder.two("Div", self, other)

    def __radd__(self, other):
        return self._builder.two("Add", other, self)

    def __rsub__(self, other):
        return self._builder.two("Sub", other, self)

    def __rmul__(self, other):
        return self._builder.two("Mul", other, self)

    def __rtruediv__(self, other):
        return self._builder.two("Div", other, self)

    def __neg__(self):
        return self._builder.Neg(self)

    def __lt__(self, other):
        return self._builder.two("Less", self, other)

    def __gt__(self, other):
        return self._builder.two("Greater", self, other)

    def __and__(self, other):
        return self._builder.two("And", self, other)

    def __or__(self, other):
        return self._builder.two("Or", self, other)


class Node:
    """An ONNX node, with input and output values."""

    __slots__ = ("op_type", "inputs", "outputs", "attrs", "proto")

    def __init__(self, op_type, inputs, outputs, attrs=None, proto=None):
        self.op_type, self.inputs, self.outputs = op_type, list(inputs), list(outputs)
        self.attrs = attrs or {}
        self.proto = proto  # NodeProto created by a user's converter

    def bodies(self):
        """The graphs among the attributes."""
        return [value for value in self.attrs.values() if isinstance(value, Body)]


class Body:
    """A graph inside a node: the body of a loop, or a branch."""

    __slots__ = ("nodes", "inputs", "outputs", "name")

    def __init__(self, name, nodes, inputs, outputs):
        self.name, self.nodes, self.inputs, self.outputs = name, nodes, inputs, outputs
