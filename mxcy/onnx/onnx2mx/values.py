"""ONNX values: constants, or outputs of the symbol's nodes."""

import numpy as np

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.ops.core.reference import narrow, widen

__all__ = ["Stepped", "UnknownValueError", "Value", "cast_array"]


class UnknownValueError(MXNetError):
    """A value required at import is only known at run time.

    Attributes
    ----------
    names : tuple of str
        Inputs of the graph that it is computed from.
    """

    def __init__(self, message, names):
        super().__init__(message)
        self.names = names


class Stepped:
    """A quantized constant: int8 values with one step, or one per position along an axis.

    Parameters
    ----------
    numbers, steps : Value
        Constants; `steps` is a vector.
    axis : int or None
        Axis of the steps; None for a single step.
    """

    __slots__ = ("numbers", "steps", "axis")

    def __init__(self, numbers, steps, axis):
        self.numbers, self.steps, self.axis = numbers, steps, axis

    def transposed(self):
        """Transpose the matrix."""
        numbers = self.numbers
        transposed = numbers.F.constant(np.ascontiguousarray(numbers.array.T))
        transposed.name = numbers.name and f"{numbers.name}_transposed"
        return Stepped(transposed, self.steps, None if self.axis is None else 1 - self.axis)

    def by_channel(self):
        """Values and steps per channel of the first axis, or None if on another axis."""
        if self.axis is None:
            count = len(self.numbers.array)
            every = self.steps.F.constant(np.repeat(self.steps.array, count), name=self.steps.name)
            return self.numbers, every
        return None if self.axis else (self.numbers, self.steps)

    def floats(self):
        """Dequantize to a NumPy array."""
        shape = [1] * self.numbers.ndim
        if self.axis is not None:
            shape[self.axis] = -1
        return self.numbers.array.astype(np.float32) * self.steps.array.reshape(shape)


class Value:
    """An ONNX value: a constant (`array`), or an `entry` of the symbol under construction.

    Attributes
    ----------
    spec : Spec
        Shape, possibly partial, and dtype.
    name : str or None
        Name, if it is an initializer.
    extents : tuple or None
        Extents with names for open ones, if known.
    stepped : Stepped or None
        8-bit integers that a constant was dequantized from.
    floats : Value or None
        The same integers as float32, if available.
    """

    __slots__ = ("F", "array", "entry", "spec", "name", "extents", "stepped", "floats")

    def __init__(self, F, spec, array=None, entry=None, name=None, extents=None):
        self.F, self.spec, self.array, self.entry, self.name = F, spec, array, entry, name
        self.extents, self.stepped, self.floats = extents, None, None

    @property
    def shape(self):
        """The extents, -1 for unknown ones.

        Raises
        ------
        UnknownValueError
            If the rank is unknown.
        """
        if self.spec.shape is None:
            raise UnknownValueError("the rank of an input must be known", self.sources())
        return self.spec.shape

    @property
    def full_shape(self):
        """The extents, which must all be known."""
        if -1 in self.shape:
            raise UnknownValueError(
                f"an input's shape must be known, not only {self.shape}", self.sources()
            )
        return self.shape

    @property
    def plane(self):
        """The extents after batch and channels, which must all be known."""
        if -1 in self.shape[2:]:
            return self.full_shape[2:]
        return self.shape[2:]

    @property
    def ndim(self):
        """The rank."""
        return len(self.shape)

    @property
    def dtype(self):
        """The NumPy dtype; bfloat16 is represented by its bits."""
        return dtypes.dtype_of(self.spec.dtype)

    @property
    def kind(self):
        """'f', 'i', 'u', 'b' or 'c'; bfloat16 is a float."""
        return "f" if dtypes.is_float(self.spec.dtype) else self.dtype.kind

    def numbers(self, what):
        """The constant as a NumPy array.

        Raises
        ------
        UnknownValueError
            If it is not a constant; `what` describes it.
        """
        if self.array is None:
            raise UnknownValueError(
                f"{what} must be known when the model is imported, but is computed from "
                f"{', '.join(self.sources()) or 'nothing known'}",
                self.sources(),
            )
        if self.F.open.has(self.array):
            raise self._open(what)
        return self.array

    def _open(self, what):
        listed = ", ".join(map(str, self.F.open.named(self.array)))
        return UnknownValueError(
            f"{what} is {listed}, which has to be known when the model is imported: "
            "give input_shapes",
            tuple(self.F.inputs),
        )

    @property
    def is_open(self):
        """Whether it is a constant that contains open extents."""
        return self.array is not None and self.F.open.has(self.array)

    def integers_or_names(self, what):
        """The constant as a tuple of Python ints, and names for open extents."""
        if self.array is not None and self.F.open.has(self.array):
            return self.F.open.named(self.array)
        return self.integers(what)

    def integers(self, what):
        """The constant as a tuple of Python ints."""
        return tuple(int(number) for number in self.numbers(what).reshape(-1))

    def sources(self):
        """Names of the variables that it is computed from."""
        if self.entry is None:
            return ()
        names, seen, stack = {}, set(), [self.entry[0]]
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if node.op is None:
                names[node.name] = None
            stack.extend(source for source, _ in node.inputs)
        return tuple(name for name in names if name in self.F.inputs)

    def astype(self, dtype):
        """Cast to a dtype given by mxcy's or NumPy's name."""
        code = dtypes.code_of(dtype)
        if code == self.spec.dtype:
            return self
        if self.array is not None and not self.is_open:
            with np.errstate(all="ignore"):
                return self.F.constant(cast_array(self.array, code), code)
        return self.F("Cast", self, dtype=dtypes.name_of(code))

    def reshape(self, *shape):
        """Reshape; one extent may be -1."""
        return self.F("_npi_reshape", self, newshape=tuple(shape))

    def transpose(self, *axes):
        """Permute the axes."""
        return self.F("_npi_transpose", self, axes=tuple(axes))

    def __getitem__(self, bounds):
        bounds = bounds if isinstance(bounds, tuple) else (bounds,)
        parts = [(s.start, s.stop, s.step) for s in bounds]
        begin, end, step = (tuple(column) for column in zip(*parts, strict=True))
        return self.F("slice", self, begin=begin, end=end, step=step)

    def __neg__(self):
        return self.F("_npi_negative", self)

    def __add__(self, other):
        return self.F.binary("add", self, other)

    def __sub__(self, other):
        return self.F.binary("subtract", self, other)

    def __rsub__(self, other):
        return self.F.binary("subtract", self.F.like(other, self), self)

    def __mul__(self, other):
        return self.F.binary("multiply", self, other)

    def __truediv__(self, other):
        return self.F.binary("true_divide", self, other)

    def __rtruediv__(self, other):
        return self.F.binary("true_divide", self.F.like(other, self), self)

    __radd__, __rmul__ = __add__, __mul__

    def __repr__(self):
        return f"<{'constant' if self.entry is None else self.entry[0]} {self.spec}>"


def cast_array(array, code):
    """Cast a NumPy array; bfloat16 is kept as rounded float32."""
    if code == dtypes.CODES["bfloat16"]:
        return widen(narrow(np.asarray(array, np.float32))).reshape(np.shape(array))
    return np.asarray(array).astype(dtypes.dtype_of(code))
