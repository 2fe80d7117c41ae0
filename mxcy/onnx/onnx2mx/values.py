"""What rows of the table compute with: ONNX values as constants or as outputs of symbols' nodes.

`Expressions`, the ``F`` of rows, makes a node per operator and infers its shape at once. Operators
over constants alone are computed by their definitions with NumPy, so that shape arithmetic leaves
no nodes.
"""

import numpy as np

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.graph.node import SymbolNode
from mxcy.onnx.onnx2mx.open_extents import OpenExtents
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import find
from mxcy.ops.core.reference import compute, narrow, widen
from mxcy.ops.elementwise.constant import written
from mxcy.symbol.attributes import text_of

__all__ = ["Expressions", "UnknownValueError", "Value"]

#: arrays of up to this many bytes are written into the graph, others are parameters
_WRITTEN = 4096
#: results of constants above this many bytes are computed when the graph runs
_FOLDED = 1 << 28


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


class Value:
    """One ONNX value: a constant (`array`), or an `entry` of the symbol under construction.

    Attributes
    ----------
    spec : Spec
        Its shape, maybe partial, and its element type.
    name : str or None
        Of the initializer that it is.
    """

    __slots__ = ("F", "array", "entry", "spec", "name")

    def __init__(self, F, spec, array=None, entry=None, name=None):
        self.F, self.spec, self.array, self.entry, self.name = F, spec, array, entry, name

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
        told = ", ".join(map(str, self.F.open.told(self.array)))
        return UnknownValueError(
            f"{what} is {told}, which has to be known when the model is imported: "
            "give input_shapes",
            tuple(self.F.inputs),
        )

    def extents(self, what):
        """The constant as a tuple of Python ints, and names for extents that are open."""
        if self.array is not None and self.F.open.has(self.array):
            return self.F.open.told(self.array)
        return self.integers(what)

    def integers(self, what):
        """The constant as a tuple of Python ints."""
        return tuple(int(number) for number in self.numbers(what).reshape(-1))

    def sources(self):
        """The names of the variables that it is computed from."""
        if self.entry is None:
            return ()
        found, seen, stack = {}, set(), [self.entry[0]]
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if node.op is None:
                found[node.name] = None
            stack.extend(source for source, _ in node.inputs)
        return tuple(name for name in found if name in self.F.inputs)

    def astype(self, dtype):
        """The value cast to a type of mxcy's or NumPy's name."""
        code = dtypes.code_of(dtype)
        if code == self.spec.dtype:
            return self
        if self.array is not None:
            if self.F.open.has(self.array):
                raise self._open("what is cast")
            with np.errstate(all="ignore"):
                return self.F.constant(_cast(self.array, code), code)
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


def _cast(array, code):
    """NumPy's cast, with bfloat16 kept as rounded float32."""
    if code == dtypes.CODES["bfloat16"]:
        return widen(narrow(np.asarray(array, np.float32))).reshape(np.shape(array))
    return np.asarray(array).astype(dtypes.dtype_of(code))


#: function -> the operator of two arrays, that with a number second, that with a number first
_BINARY = {
    "add": ("broadcast_add", "_plus_scalar", "_plus_scalar"),
    "subtract": ("broadcast_sub", "_minus_scalar", "_rminus_scalar"),
    "multiply": ("broadcast_mul", "_mul_scalar", "_mul_scalar"),
    "true_divide": ("broadcast_div", "_div_scalar", "_rdiv_scalar"),
    "power": ("broadcast_power", "_power_scalar", "_rpower_scalar"),
    "maximum": ("broadcast_maximum", "_maximum_scalar", "_maximum_scalar"),
    "minimum": ("broadcast_minimum", "_minimum_scalar", "_minimum_scalar"),
}
#: the same of arrays of one shape, which layers take into themselves
_OF_EQUALS = {
    "add": "elemwise_add",
    "subtract": "elemwise_sub",
    "multiply": "elemwise_mul",
    "true_divide": "elemwise_div",
}


class Expressions:
    """Makes the nodes of one symbol; every operator of ours as a function of Values.

    Attributes
    ----------
    inputs : dict of str to Value
        The graph's own inputs.
    parameters : dict of str to numpy.ndarray
        What the variables that are no inputs hold.
    scope : str
        What new nodes are named after.
    """

    def __init__(self):
        self.inputs, self.parameters, self.scope = {}, {}, ""
        self.types = {}
        self.open = OpenExtents()
        self._names = set()
        self._made = {}

    def __call__(self, op, *inputs, **attrs):
        """Apply an operator; returns a Value, or a list of all visible outputs.

        Inputs that are None are left out. Attributes are given in any form that records accept.
        """
        record = find(op)
        values = [value for value in inputs if value is not None]
        texts = {
            name: text_of(record.schema.by_name[name], value)
            for name, value in attrs.items()
            if value is not None
        }
        if record.num_args is not None:
            texts.setdefault(record.num_args, str(len(values)))
        node = SymbolNode(record, "", texts)
        parsed = node.parsed
        if record.uses_mode:
            parsed = parsed.with_values(("train",), (False,))
        if all(value.array is not None for value in values) and not record.draws(parsed):
            folded = self._fold(record, parsed, values)
            if folded is not None:
                return folded[0] if len(folded) == 1 else folded
        node.inputs = [self.entry(value) for value in values]
        specs = [Spec(value.spec.shape, value.spec.dtype) for value in values]
        if specs and all(spec.shape is None for spec in specs):
            outs = [Spec(None, spec.dtype) for spec in record.infer(parsed, specs)]
        else:
            outs = record.infer(parsed, specs)
        for value, spec in zip(values, specs, strict=True):
            if value.entry[0].op is None:  # what a variable's user tells about it
                value.spec = spec
        node.name = self.unique(f"{self.scope}_{record.name.strip('_').lower()}")
        self._made[id(node)] = node
        visible = record.visible(parsed)
        found = [Value(self, spec, entry=(node, i)) for i, spec in enumerate(outs[:visible])]
        return found[0] if visible == 1 else found

    def _fold(self, record, parsed, values):
        """The outputs as constants, or None where they are better computed when the graph runs."""
        specs = [Spec(value.spec.shape, value.spec.dtype) for value in values]
        if record.eager is not None or sum(v.array.nbytes for v in values) > _FOLDED:
            return None
        outs = record.infer(parsed, specs)
        visible = record.visible(parsed)
        if not all(out.known for out in outs) or sum(out.nbytes for out in outs) > _FOLDED:
            return None
        try:
            arrays = compute(record, parsed, [value.array for value in values])
        except MXNetError:
            return None
        if any(self.open.has(value.array) for value in values):
            probes = [self.open.probed(value.array) for value in values]
            again = compute(record, parsed, probes)
            if not all(map(self.open.moved, map(np.asarray, arrays), map(np.asarray, again))):
                raise next(v for v in values if self.open.has(v.array))._open("an input")
        return [
            self.constant(_cast(np.asarray(array).reshape(out.shape), out.dtype), out.dtype)
            for array, out in zip(arrays[:visible], outs[:visible], strict=True)
        ]

    def unique(self, name):
        """A name that no node has yet, like `name`."""
        found, count = name, 0
        while found in self._names:
            found, count = f"{name}{count}", count + 1
        self._names.add(found)
        return found

    def finish(self, name, values):
        """Name the node of a row's first result after the ONNX node where it is new."""
        if name and values and values[0].entry is not None and name not in self._names:
            node = self._made.get(id(values[0].entry[0]))
            if node is not None:
                self._names.discard(node.name)
                node.name = name
                self._names.add(name)
        self._made.clear()

    # --- values ---
    def constant(self, array, dtype=None, name=None):
        """A constant Value; `dtype` is a code where NumPy has no such type."""
        array = np.asarray(array)
        if array.dtype.name == "bfloat16":  # the type of ml_dtypes
            array, dtype = array.astype(np.float32), dtypes.CODES["bfloat16"]
        code = dtypes.code_of(array.dtype) if dtype is None else dtype
        return Value(self, Spec(array.shape, code), array=array, name=name)

    def like(self, number, value):
        """A number as a constant of a value's element type."""
        if isinstance(number, Value):
            return number
        return self.constant(_cast(np.asarray(number), value.spec.dtype), value.spec.dtype)

    def variable(self, name, spec, extra=None):
        """The Value of a new variable."""
        if name in self._names:
            raise MXNetError(f"two tensors of the graph are named {name}")
        self._names.add(name)
        return Value(self, spec, entry=(SymbolNode(None, name, extra), 0))

    def entry(self, value):
        """The entry of a value in the symbol; constants become nodes or parameters."""
        if value.entry is None:
            if self.open.has(value.array):
                raise value._open("an input")
            small = value.array.nbytes <= _WRITTEN
            if small and (value.name is None or value.kind != "f" or value.ndim == 0):
                value.entry = self._written(value)
            else:
                self.parameter(value)
        return value.entry

    def _written(self, value):
        code = value.spec.dtype
        bf16 = code == dtypes.CODES["bfloat16"]
        node = SymbolNode(find("_constant"), self.unique(value.name or f"{self.scope}_constant"))
        node.attrs = {k: str(v) for k, v in written(value.array).items()}
        if not bf16:
            return node, 0
        return SymbolNode(find("Cast"), node.name + "_cast", {"dtype": "bfloat16"}, [(node, 0)]), 0

    def parameter(self, value):
        """The value itself, made a variable if it is a constant."""
        if value.entry is None:
            name = self.unique(value.name or f"{self.scope}_parameter")
            self.parameters[name] = value.array
            self.types[name] = value.spec.dtype
            value.entry = SymbolNode(None, name, {}), 0
        return value

    # --- operators that rows need in more than one place ---
    def filled(self, told, number, what):
        """An array of one number whose shape has a named extent, made from who has that extent.

        Parameters
        ----------
        told : tuple of int and str
        number : Value
            A scalar.
        what : Value
            The shape, for messages.
        """
        names = [n for n in told if isinstance(n, str)]
        if len(names) != 1 or names[0] not in self.open.homes or 0 in told:
            raise what._open("a shape")
        value, axis = self.open.homes[names[0]]
        ends = [None if i == axis else 1 for i in range(value.ndim)]
        column = self("slice", value, begin=(None,) * value.ndim, end=tuple(ends))
        column = self("zeros_like", column.astype(number.dtype))
        shape = tuple(-1 if isinstance(n, str) else 1 for n in told)
        zeros = self("_npi_reshape", column, newshape=shape)
        whole = tuple(0 if isinstance(n, str) else n for n in told)
        return self.binary("add", self("broadcast_to", zeros, shape=whole), number)

    def binary(self, name, left, right):
        """A function of two values that meet by broadcasting, in its form with a number if can be.

        The numbers of rows are taken in the type of the other operand.
        """
        if not isinstance(left, Value):
            left = self.like(left, right)
        if not isinstance(right, Value):
            right = self.like(right, left)
        if name not in _BINARY:
            return self(f"_npi_{name}", left, right)
        arrays, number, number_first = _BINARY[name]
        if left.kind == "f":
            if _is_number(right, left):
                return self(number, left, scalar=float(right.array))
            if _is_number(left, right):
                return self(number_first, right, scalar=float(left.array))
        if left.spec.known and left.spec.shape == right.spec.shape:
            arrays = _OF_EQUALS.get(name, arrays)
        return self(arrays, left, right)

    def where(self, condition, left, right):
        """Elements of the one or the other."""
        return self("_npi_where", condition, left, right)

    def part(self, value, axis, begin, end):
        """The elements from `begin` to `end` along an axis, maybe none."""
        before = (None,) * axis
        return self("slice", value, begin=(*before, begin), end=(*before, end))

    def concat(self, values, axis):
        """Values one behind the other along an axis that is not negative."""
        return values[0] if len(values) == 1 else self("Concat", *values, dim=axis)

    def sum(self, value, axes=None, keepdims=False):
        """Sums along axes."""
        return self("_npi_sum", value, axis=axes, keepdims=keepdims)

    def mean(self, value, axes=None, keepdims=False):
        """Means along axes."""
        return self("_npi_mean", value, axis=axes, keepdims=keepdims)


def _is_number(value, other):
    """Whether a value is one number that leaves the other operand's shape as it is."""
    return value.array is not None and value.array.ndim == 0 and other.array is None
