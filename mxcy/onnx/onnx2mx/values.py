"""ONNX values: constants, or outputs of the symbol's nodes."""

import numpy as np

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.ops.core.reference import narrow, widen

__all__ = ["Stepped", "UnknownValueError", "Value", "cast_array"]


class UnknownValueError(MXNetError):
    """A value that importing depends on is told only when the graph runs.

    Attributes
    ----------
    names : tuple of str
        The graph's inputs that it is computed from.
    """

    def __init__(self, message, names):
        super().__init__(message)
        self.names = names


class Stepped:
    """A constant as int8 numbers, with one step or one for each place along an axis.

    Parameters
    ----------
    numbers, steps : Value
        Constants; `steps` has one dimension.
    axis : int or None
        Along which there are steps; None: there is one.
    """

    __slots__ = ("numbers", "steps", "axis")

    def __init__(self, numbers, steps, axis):
        self.numbers, self.steps, self.axis = numbers, steps, axis

    def transposed(self):
        """The same of the transposed matrix."""
        numbers = self.numbers
        turned = numbers.F.constant(np.ascontiguousarray(numbers.array.T))
        turned.name = numbers.name and f"{numbers.name}_transposed"
        return Stepped(turned, self.steps, None if self.axis is None else 1 - self.axis)

    def by_channel(self):
        """The numbers and the steps of the first axis' channels, or None where others have them."""
        if self.axis is None:
            count = len(self.numbers.array)
            every = self.steps.F.constant(np.repeat(self.steps.array, count), name=self.steps.name)
            return self.numbers, every
        return None if self.axis else (self.numbers, self.steps)

    def floats(self):
        """The floats, a NumPy array."""
        shape = [1] * self.numbers.ndim
        if self.axis is not None:
            shape[self.axis] = -1
        return self.numbers.array.astype(np.float32) * self.steps.array.reshape(shape)


class Value:
    """One ONNX value: a constant (`array`), or an `entry` of the symbol under construction.

    Attributes
    ----------
    spec : Spec
        Its shape, maybe partial, and its element type.
    name : str or None
        Of the initializer that it is.
    extents : tuple or None
        Its extents with the names of those that are open, where they are known.
    stepped : Stepped or None
        The 8-bit integers that it was dequantized from, if it is a constant.
    floats : Value or None
        The same integers as float32, where these are at hand.
    """

    __slots__ = ("F", "array", "entry", "spec", "name", "extents", "stepped", "floats")

    def __init__(self, F, spec, array=None, entry=None, name=None, extents=None):
        self.F, self.spec, self.array, self.entry, self.name = F, spec, array, entry, name
        self.extents, self.stepped, self.floats = extents, None, None

    @property
    def shape(self):
        """The extents, -1 where one is not known.

        Raises
        ------
        UnknownValueError
            When not even the rank is known.
        """
        if self.spec.shape is None:
            raise UnknownValueError("the rank of an input has to be known", self.sources())
        return self.spec.shape

    @property
    def full_shape(self):
        """The extents, all of which have to be known."""
        if -1 in self.shape:
            raise UnknownValueError(
                f"an input's shape has to be known, not only {self.shape}", self.sources()
            )
        return self.shape

    @property
    def plane(self):
        """The extents behind batch and channels, all of which have to be known."""
        if -1 in self.shape[2:]:
            return self.full_shape[2:]
        return self.shape[2:]

    @property
    def ndim(self):
        """The rank."""
        return len(self.shape)

    @property
    def dtype(self):
        """NumPy's type; bfloat16 is a record of bits."""
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
            When it is none; `what` tells what it is.
        """
        if self.array is None:
            raise UnknownValueError(
                f"{what} has to be known when the model is imported, but is computed from "
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
        """Whether it is a constant in which numbers stand for extents that are open."""
        return self.array is not None and self.F.open.has(self.array)

    def integers_or_names(self, what):
        """The constant as a tuple of Python ints, and names for extents that are open."""
        if self.array is not None and self.F.open.has(self.array):
            return self.F.open.named(self.array)
        return self.integers(what)

    def integers(self, what):
        """The constant as a tuple of Python ints."""
        return tuple(int(number) for number in self.numbers(what).reshape(-1))

    def sources(self):
        """The names of the variables that it is computed from."""
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
        """The value cast to a type of mxcy's or NumPy's name."""
        code = dtypes.code_of(dtype)
        if code == self.spec.dtype:
            return self
        if self.array is not None and not self.is_open:
            with np.errstate(all="ignore"):
                return self.F.constant(cast_array(self.array, code), code)
        return self.F("Cast", self, dtype=dtypes.name_of(code))

    def reshape(self, *shape):
        """The elements in another shape; one extent may be -1."""
        return self.F("_npi_reshape", self, newshape=tuple(shape))

    def transpose(self, *axes):
        """The axes in another order."""
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
    """NumPy's cast, with bfloat16 kept as rounded float32."""
    if code == dtypes.CODES["bfloat16"]:
        return widen(narrow(np.asarray(array, np.float32))).reshape(np.shape(array))
    return np.asarray(array).astype(dtypes.dtype_of(code))
