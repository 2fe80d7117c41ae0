"""The ONNX graph under construction: `G` of converters."""

from functools import partial

import numpy as np

from mxcy._base import dtypes
from mxcy.onnx.errors import UnsupportedError
from mxcy.onnx.mx2onnx.dims import Dims
from mxcy.onnx.mx2onnx.values import Body, Node, Value
from mxcy.onnx.mx2onnx.versions import Versions
from mxcy.ops.core.infer import InferError, broadcast_shapes

__all__ = ["Builder"]

_BOOLS = frozenset(
    "Equal Less Greater LessOrEqual GreaterOrEqual And Or Xor Not IsNaN IsInf".split()
)
_LONGS = frozenset("Shape Size ArgMax ArgMin NonZero NonMaxSuppression".split())
_RANDOM = frozenset(("RandomUniform", "RandomNormal", "Multinomial"))
#: operators whose result has the shape of their operands' broadcast
_ELEMENTWISE = _BOOLS | frozenset(
    "Abs Acos Acosh Add Asin Asinh Atan Atanh Cast Ceil Clip Cos Cosh Div Elu Erf Exp Floor"
    " HardSigmoid Identity LeakyRelu Log Max Min Mod Mul Neg Pow Reciprocal Relu Round Selu"
    " Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Sub Tan Tanh Where".split()
)


class Builder(Versions, Dims):
    """Collects nodes and constants; operators of ONNX are its methods: ``G.Conv(x, w, group=2)``.

    Parameters
    ----------
    opset : int
        The version of ONNX' operators to write.
    names : iterable of str
        Names that are taken.

    Attributes
    ----------
    nodes : list of Node
        Those of the graph, or of the body, that is being made.
    constants : dict of str to (Value, numpy.ndarray)
    node : Node of mxcy.graph
        The node that is being converted.
    outs : list of Value
        What it has to become: shapes and dtypes.
    """

    def __init__(self, opset, names=()):
        self.opset, self._reserved = opset, set(names)
        self._names = set(self._reserved)
        self.nodes, self.constants, self._known = [], {}, {}
        self.node, self.outs = None, []
        self.options, self.sources, self.tied = {}, {}, lambda node: {}

    @property
    def out(self):
        """Shape and dtype of the first result."""
        return self.outs[0]

    # --- names and nodes -------------------------------------------------------------------------
    def unique(self, wish):
        """A name that nobody has, and nobody else gets."""
        name, count = wish, 0
        while name in self._names:
            count += 1
            name = f"{wish}_{count}"
        self._names.add(name)
        return name

    def claim(self, wish):
        """A name that was reserved for a node, or one like it if it is in use by now."""
        if wish in self._reserved:
            self._reserved.discard(wish)
            return wish
        return self.unique(wish)

    def value(self, wish, shape=None, dtype=None, array=None):
        """A new value that no node makes: an input, or a result of users' nodes."""
        return Value(self, self.unique(wish), shape, dtype, array)

    def __getattr__(self, op_type):
        if not op_type[:1].isupper():
            raise AttributeError(op_type)
        return partial(self.op, op_type)

    def op(self, op_type, *inputs, outputs=1, shape=None, dtype=None, **attrs):
        """Add a node.

        Parameters
        ----------
        op_type : str
        *inputs : Value or numpy.ndarray or None
            An array becomes a constant; None is an input left out.
        outputs : int
        shape, dtype
            Of the first output, where they do not follow from the inputs.
        **attrs
            Those that are None are left out.

        Returns
        -------
        Value, or a list of them
        """
        ins = [self.const(x) if isinstance(x, np.ndarray | np.generic) else x for x in inputs]
        while ins and ins[-1] is None:
            ins.pop()
        stem = f"{self.node.name if self.node else 'graph'}_{op_type.lower()}"
        if dtype is None:
            dtype = self._dtype(op_type, ins)
        elif op_type in _RANDOM:  # they have attributes of these names
            attrs.update(dtype=np.dtype(dtype), shape=shape)
        if shape is None and op_type in _ELEMENTWISE:
            shape = _broadcast([x.shape for x in ins if x is not None])
        outs = [Value(self, self.unique(stem), shape, dtype) for _ in range(outputs)]
        present = {name: value for name, value in attrs.items() if value is not None}
        self.nodes.append(Node(op_type, ins, outs, present))
        return outs[0] if outputs == 1 else outs

    @staticmethod
    def _dtype(op_type, ins):
        if op_type in _BOOLS:
            return np.dtype(bool)
        if op_type in _LONGS:
            return np.dtype(np.int64)
        tensors = ins[1:] if op_type == "Where" else ins
        return next((x.dtype for x in tensors if x is not None and x.dtype is not None), None)

    def two(self, op_type, x, y):
        """A node of two operands of one element type, one of which may be a number."""
        other = y if isinstance(y, Value) else x
        x, y = (v if isinstance(v, Value) else self.like(other, v) for v in (x, y))
        return self.op(op_type, x, y)

    # --- constants -------------------------------------------------------------------------------
    def const(self, array, dtype=None, name=None):
        """A constant; equal small ones are one."""
        array = np.asarray(array, dtype)
        key = (array.dtype.str, array.shape, array.tobytes()) if array.size <= 64 else None
        if name is None and key in self._known:
            return self._known[key]
        stem = name or f"{self.node.name if self.node else 'graph'}_const"
        constant = Value(self, self.unique(stem), array.shape, array.dtype, array)
        self.constants[constant.name] = constant, array
        if key is not None and name is None:
            self._known[key] = constant
        return constant

    def ints(self, *numbers):
        """A vector of int64."""
        return self.const(np.array(numbers, np.int64))

    def like(self, x, number):
        """A number with the element type of a value."""
        return self.const(np.asarray(number).astype(x.dtype))

    # --- types -----------------------------------------------------------------------------------
    def cast(self, x, dtype):
        """A value in an element type."""
        dtype = np.dtype(dtype)
        if x.dtype == dtype:
            return x
        if x._array is not None and x._array.size <= 64 and dtypes.bfloat16 not in (x.dtype, dtype):
            return self.const(x._array.astype(dtype))
        return self.op("Cast", x, dtype=dtype, to=dtype)

    def to_bool(self, x):
        """Whether elements differ from zero, where nan does."""
        return x if x.dtype == bool else self.cast(x, bool)

    def is_float(self, x):
        """Whether a value has floating point numbers."""
        return x.dtype.kind == "f" or x.dtype == dtypes.bfloat16

    def meet(self, *values):
        """Values in the element type in which they meet: a floating one wins."""
        kinds = {x.dtype for x in values}
        if len(kinds) > 1:
            floats = {x.dtype for x in values if x.dtype.kind == "f"}
            common = np.result_type(*(floats or kinds))
            values = [self.cast(x, common) for x in values]
        return list(values)

    def tied_extents(self):
        """The extents of the node's result where its users tell them: some are inputs' extents."""
        places = self.tied(self.node)
        extents = []
        for axis, extent in enumerate(self.out.shape):
            if extent == -1:
                if axis not in places:
                    self.unsupported(f"extent {axis} of its result depends on its users")
                name, place = places[axis]
                extent = self.dim(self.sources[name], place)
            extents.append(extent)
        return extents

    def unsupported(self, reason):
        """Refuse the call: it has no counterpart in ONNX.

        Raises
        ------
        UnsupportedError
        """
        raise UnsupportedError(reason)

    # --- bodies ----------------------------------------------------------------------------------
    def body(self, name, inputs, make):
        """A graph inside a node.

        Parameters
        ----------
        name : str
        inputs : list of Value
            Made by `value`.
        make : callable
            ``make(*inputs)`` returns the results.
        """
        outer, self.nodes = self.nodes, []
        try:
            # What comes in, or from outside, cannot go out as it is; nor twice.
            results = [self.Identity(x) for x in make(*inputs)]
            return Body(self.unique(name), self.nodes, list(inputs), results)
        finally:
            self.nodes = outer


def _broadcast(shapes):
    extents = () if shapes else None
    for shape in shapes:
        if shape is None:
            return None
        try:
            extents = broadcast_shapes(extents, shape)
        except InferError:
            return None
    return extents
