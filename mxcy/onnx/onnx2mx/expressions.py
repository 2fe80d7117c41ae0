"""`Expressions`, with which converters build the symbol; called ``F`` in them.

It adds a node per operator and infers its shape immediately. Operators on constants are evaluated
with NumPy by their definitions, so that shape arithmetic leaves no nodes.
"""

import json

import numpy as np

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.graph.extents import BY_EXTENTS, postfix
from mxcy.graph.node import SymbolNode
from mxcy.onnx.onnx2mx.open_extents import Extent, OpenExtents
from mxcy.onnx.onnx2mx.values import Value, cast_array
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import find
from mxcy.ops.core.reference import compute
from mxcy.ops.elementwise.constant import written
from mxcy.symbol.attributes import text_of

__all__ = ["Expressions"]

#: arrays up to this size in bytes are stored in the graph, larger ones are parameters
_WRITTEN = 4096
#: results of constants above this size in bytes are computed at run time
_FOLDED = 1 << 28

#: function -> operator of two arrays, with a scalar second operand, with a scalar first operand
_BINARY = {
    "add": ("broadcast_add", "_plus_scalar", "_plus_scalar"),
    "subtract": ("broadcast_sub", "_minus_scalar", "_rminus_scalar"),
    "multiply": ("broadcast_mul", "_mul_scalar", "_mul_scalar"),
    "true_divide": ("broadcast_div", "_div_scalar", "_rdiv_scalar"),
    "power": ("broadcast_power", "_power_scalar", "_rpower_scalar"),
    "maximum": ("broadcast_maximum", "_maximum_scalar", "_maximum_scalar"),
    "minimum": ("broadcast_minimum", "_minimum_scalar", "_minimum_scalar"),
}
#: likewise for arrays of equal shape, which layers can fuse
_OF_EQUALS = {
    "add": "elemwise_add",
    "subtract": "elemwise_sub",
    "multiply": "elemwise_mul",
    "true_divide": "elemwise_div",
}


class Expressions:
    """Builder of one symbol; applies operators to Values.

    Attributes
    ----------
    inputs : dict of str to Value
        The graph's own inputs.
    parameters : dict of str to numpy.ndarray
        Values of the variables that are not inputs.
    scope : str
        Prefix of the names of new nodes.
    """

    def __init__(self):
        self.inputs, self.parameters, self.scope = {}, {}, ""
        self.types = {}
        self.open = OpenExtents()
        self._names = set()
        self._made = {}

    def __call__(self, op, *inputs, **attrs):
        """Apply an operator; return a Value, or a list of all visible outputs.

        Inputs that are None are omitted. Attributes have any form that records accept.
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
            if value.entry[0].op is None:  # the consumer determines a variable's spec
                value.spec = spec
        node.name = self.unique(f"{self.scope}_{record.name.strip('_').lower()}")
        self._made[id(node)] = node
        visible = record.visible(parsed)
        named = self._named(record, parsed, values, outs)
        outputs = [
            Value(self, spec, entry=(node, i), extents=named[i])
            for i, spec in enumerate(outs[:visible])
        ]
        return outputs[0] if visible == 1 else outputs

    def _named(self, record, parsed, values, outs):
        """Extents of the outputs, with names passed through from inputs; None if unknown."""
        unknown = [None] * len(outs)
        if not any(v.extents for v in values) or not any(-1 in (o.shape or ()) for o in outs):
            return unknown
        inferred = []
        for attempt in (0, 1):
            specs = [
                Spec(self.open.probes(v.extents or v.spec.shape or (-1,), attempt), v.spec.dtype)
                for v in values
            ]
            if any(None in spec.shape or -1 in spec.shape for spec in specs):
                return unknown
            try:
                inferred.append(record.infer(parsed, specs))
            except MXNetError:
                return unknown
        return [
            self.open.recognized(first.shape, second.shape)
            if first.known and second.known and len(first.shape) == len(second.shape)
            else None
            for first, second in zip(*inferred, strict=True)
        ]

    def _fold(self, record, parsed, values):
        """Evaluate the outputs to constants; None if they are better computed at run time."""
        specs = [Spec(value.spec.shape, value.spec.dtype) for value in values]
        if sum(v.array.nbytes for v in values) > _FOLDED:
            return None
        outs = record.infer(parsed, specs)
        visible = record.visible(parsed)
        if record.eager is not None:
            return None if any(v.is_open for v in values) else self._waited(record, parsed, values)
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
                return None
        return [
            self.constant(cast_array(np.asarray(array).reshape(out.shape), out.dtype), out.dtype)
            for array, out in zip(arrays[:visible], outs[:visible], strict=True)
        ]

    def _waited(self, record, parsed, values):
        """Evaluate an operator whose shapes depend on values."""
        arrays = record.ref(parsed, np, *[value.array for value in values])
        arrays = arrays if isinstance(arrays, tuple | list) else (arrays,)
        codes = [
            out.dtype for out in record.infer(parsed, [Spec(None, v.spec.dtype) for v in values])
        ]
        return [self.constant(x, code) for x, code in zip(arrays, codes, strict=True)]

    def unique(self, name):
        """Return an unused name, similar to `name`."""
        candidate, count = name, 0
        while candidate in self._names:
            candidate, count = f"{name}{count}", count + 1
        self._names.add(candidate)
        return candidate

    def finish(self, name, values):
        """Name the node of a converter's first result after the ONNX node, if it is new."""
        if name and values and values[0].entry is not None and name not in self._names:
            node = self._made.get(id(values[0].entry[0]))
            if node is not None:
                self._names.discard(node.name)
                node.name = name
                self._names.add(name)
        self._made.clear()

    # --- values ---
    def constant(self, array, dtype=None, name=None):
        """Create a constant Value; `dtype` is a code for dtypes that NumPy lacks."""
        array = np.asarray(array)
        if array.dtype.name == "bfloat16":  # the type of ml_dtypes
            array, dtype = array.astype(np.float32), dtypes.CODES["bfloat16"]
        code = dtypes.code_of(array.dtype) if dtype is None else dtype
        return Value(self, Spec(array.shape, code), array=array, name=name)

    def like(self, number, value):
        """Create a scalar constant with the dtype of a value."""
        if isinstance(number, Value):
            return number
        return self.constant(cast_array(np.asarray(number), value.spec.dtype), value.spec.dtype)

    def variable(self, name, spec, extra=None):
        """Create a variable and return its Value."""
        if name in self._names:
            raise MXNetError(f"two tensors of the graph are named {name}")
        self._names.add(name)
        return Value(self, spec, entry=(SymbolNode(None, name, extra), 0))

    def entry(self, value):
        """Return the symbol entry of a value; constants become nodes or parameters."""
        if value.entry is None:
            if self.open.has(value.array):
                value.entry = self._computed_extents(value)
                return value.entry
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
        """Convert a constant value to a variable; other values are unchanged."""
        if value.entry is None:
            name = self.unique(value.name or f"{self.scope}_parameter")
            self.parameters[name] = value.array
            self.types[name] = value.spec.dtype
            value.entry = SymbolNode(None, name, {}), 0
        return value

    def layer_weight(self, weight, x):
        """Prepare a layer's weight: a constant becomes a variable.

        An 8-bit one is kept quantized, so that a layer with 8-bit data `x` can be quantized too.
        """
        if weight.array is None:
            return weight
        quantized = x.entry is not None and x.entry[0].op is find("_dequantize_linear")
        parts = weight.stepped.by_channel() if quantized and weight.stepped else None
        if parts is None:
            return self.parameter(weight)
        # Variables prevent folding: quantized layers need the integers.
        variables = [Value(self, p.spec, entry=self.parameter(p).entry) for p in parts]
        return self("_dequantize_filters", *variables)

    # --- shared by several converters ---
    def shaped(self, operator, inputs, attrs, *results):
        """Apply an operator whose attributes contain extents known only at run time.

        Parameters
        ----------
        operator : str
        inputs : sequence of Value
        attrs : dict
            Attributes, with `Extent`s in place of numbers.
        *results : (tuple, str)
            Shape and dtype of each output; shapes may contain `Extent`s and -1.

        Returns
        -------
        Value, or a list of them
        """
        sources, leaves = list(inputs), {}

        def leaf(tree):
            if isinstance(tree, tuple):
                leaf(tree[1])
                leaf(tree[2])
            elif isinstance(tree, str) and tree not in leaves:
                value, axis = self.open.homes[tree]
                places = [i for i, x in enumerate(sources) if x is value] or [len(sources)]
                sources.extend([value] * (places[0] == len(sources)))
                leaves[tree] = places[0], axis

        def noted(value):
            if isinstance(value, Extent):
                tree = self.open.tree(value)
                leaf(tree)
                return {"extent": postfix(tree, leaves)}
            return [noted(part) for part in value] if isinstance(value, tuple | list) else value

        texts = {
            "operator": operator,
            "attrs": json.dumps({k: noted(v) for k, v in attrs.items() if v is not None}),
            "results": json.dumps([[noted(shape), dtype] for shape, dtype in results]),
            "num_inputs": str(len(inputs)),
            "num_outputs": str(len(results)),
        }
        texts["num_args"] = str(len(sources))
        name = self.unique(f"{self.scope}_{operator.strip('_').lower()}")
        node = SymbolNode(BY_EXTENTS, name, texts, [self.entry(value) for value in sources])
        self._made[id(node)] = node
        outputs = []
        for place, (shape, dtype) in enumerate(results):
            closed = tuple(-1 if isinstance(n, str) else int(n) for n in shape)
            named = tuple(shape) if -1 not in shape else None
            spec = Spec(closed, dtypes.code_of(dtype))
            outputs.append(Value(self, spec, entry=(node, place), extents=named))
        return outputs[0] if len(outputs) == 1 else outputs

    def extents(self, x):
        """Return the extents of a value: ints, and names of open ones.

        Parameters
        ----------
        x : Value
        """
        if x.extents is None or len(x.extents) != x.ndim or None in x.extents:
            named = x.extents if x.extents and len(x.extents) == x.ndim else (None,) * x.ndim
            x.extents = tuple(
                self.open.of_axis(x, axis)
                if name is None
                else Extent(name)
                if isinstance(name, str)
                else name
                for axis, name in enumerate(named)
            )
        return x.extents

    def _computed_extents(self, value):
        """Entry of a constant that contains open extents, computed at run time."""
        parts = [
            self.shaped("_npi_full", [], {"shape": (1,), "int_value": n, "value_type": 0,
                                          "dtype": "int64"}, ((1,), "int64"))
            if isinstance(n, str) else self.constant(np.array([n], np.int64))
            for n in self.open.named(value.array)
        ]  # fmt: skip
        return self.concat(parts, 0).reshape(*value.array.shape).entry

    def reshaped(self, value, extents):
        """Reshape to a shape that may contain `Extent`s."""
        extents = tuple(extents)
        if not any(isinstance(n, str) for n in extents):
            return self("_npi_reshape", value, newshape=extents)
        word = dtypes.name_of(value.spec.dtype)
        return self.shaped("_npi_reshape", [value], {"newshape": extents}, (extents, word))

    def filled(self, shape, number):
        """Create a filled array whose shape may contain names.

        Parameters
        ----------
        shape : tuple of int and str
        number : Value
            A scalar.
        """
        word = dtypes.name_of(number.spec.dtype)
        return self.shaped("_npi_broadcast_to", [number], {"shape": shape}, (shape, word))

    def binary(self, name, left, right):
        """Apply a broadcasting binary function, in its scalar form if possible.

        Python numbers take the dtype of the other operand.
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
        """Select elements by a condition."""
        return self("_npi_where", condition, left, right)

    def part(self, value, axis, begin, end):
        """Slice from `begin` to `end` along an axis, possibly empty."""
        before = (None,) * axis
        return self("slice", value, begin=(*before, begin), end=(*before, end))

    def concat(self, values, axis):
        """Concatenate values along a non-negative axis."""
        return values[0] if len(values) == 1 else self("Concat", *values, dim=axis)

    def sum(self, value, axes=None, keepdims=False):
        """Sum along axes."""
        return self("_npi_sum", value, axis=axes, keepdims=keepdims)

    def mean(self, value, axes=None, keepdims=False):
        """Average along axes."""
        return self("_npi_mean", value, axis=axes, keepdims=keepdims)


def _is_number(value, other):
    """Whether a value is a single number that does not change the other operand's shape."""
    return value.array is not None and value.array.ndim == 0 and other.array is None
