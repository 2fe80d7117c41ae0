"""`Builder`, the ONNX graph under construction, called `G` in converters."""

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
#: operators whose result has the broadcast shape of their operands
_ELEMENTWISE = _BOOLS | frozenset(
    "Abs Acos Acosh Add Asin Asinh Atan Atanh Cast Ceil Clip Cos Cosh Div Elu Erf Exp Floor"
    " HardSigmoid Identity LeakyRelu Log Max Min Mod Mul Neg Pow Reciprocal Relu Round Selu"
    " Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Sub Tan Tanh Where".split()
)


class Builder(Versions, Dims):
    """Collects nodes and constants; ONNX operators are its methods: ``G.Conv(x, w, group=2)``.

    Parameters
    ----------
    opset : int
        Opset version to write.
    names : iterable of str
        Reserved names.

    Attributes
    ----------
    nodes : list of Node
        Nodes of the current graph or body.
    constants : dict of str to (Value, numpy.ndarray)
    node : Node of mxcy.graph
        The node that is being converted.
    outs : list of Value
        Expected results: shapes and dtypes.
    """

    def __init__(self, opset, names=()):
        self.opset, self._reserved = opset, set(names)
        self._names = set(self._reserved)
        self.nodes, self.constants, self._known = [], {}, {}
        self.node, self.outs = None, []
        self.options, self.sources, self.tied = {}, {}, lambda node: {}

    @property
    def out(self):
        """Expected shape and dtype of the first result."""
        return self.outs[0]

    # --- names and nodes -------------------------------------------------------------------------
    def unique(self, name_hint):
        """Return a new unique name."""
        name, count = name_hint, 0
        while name in self._names:
            count += 1
            name = f"{name_hint}_{count}"
        self._names.add(name)
        return name

    def claim(self, name_hint):
        """Return a name reserved for a node, or a similar one if it is already in use."""
        if name_hint in self._reserved:
            self._reserved.discard(name_hint)
            return name_hint
        return self.unique(name_hint)

    def value(self, name_hint, shape=None, dtype=None, array=None):
        """Create a value without a node: an input, or a result of users' nodes."""
        return Value(self, self.unique(name_hint), shape, dtype, array)

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
            Inputs; an array becomes a constant, None is an omitted input.
        outputs : int
        shape, dtype
            Shape and dtype of the first output, if they cannot be inferred.
        **attrs
            Attributes; None is omitted.

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
        elif op_type in _RANDOM:  # these have attributes named shape and dtype
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
        """Add a node with two operands of the same dtype, one of which may be a number."""
        other = y if isinstance(y, Value) else x
        x, y = (v if isinstance(v, Value) else self.like(other, v) for v in (x, y))
        return self.op(op_type, x, y)

    # --- constants -------------------------------------------------------------------------------
    def const(self, array, dtype=None, name=None):
        """Add a constant; small equal ones are shared."""
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
        """Add an int64 vector constant."""
        return self.const(np.array(numbers, np.int64))

    def like(self, x, number):
        """Add a scalar constant with the dtype of a value."""
        return self.const(np.asarray(number).astype(x.dtype))

    # --- types -----------------------------------------------------------------------------------
    def cast(self, x, dtype):
        """Cast a value to a dtype."""
        dtype = np.dtype(dtype)
        if x.dtype == dtype:
            return x
        if x._array is not None and x._array.size <= 64 and dtypes.bfloat16 not in (x.dtype, dtype):
            return self.const(x._array.astype(dtype))
        return self.op("Cast", x, dtype=dtype, to=dtype)

    def to_bool(self, x):
        """Return whether elements are nonzero (nan is)."""
        return x if x.dtype == bool else self.cast(x, bool)

    def is_float(self, x):
        """Return whether a value has a floating dtype."""
        return x.dtype.kind == "f" or x.dtype == dtypes.bfloat16

    def meet(self, *values):
        """Cast values to a common dtype: a floating one, if there is any."""
        kinds = {x.dtype for x in values}
        if len(kinds) > 1:
            floats = {x.dtype for x in values if x.dtype.kind == "f"}
            common = np.result_type(*(floats or kinds))
            values = [self.cast(x, common) for x in values]
        return list(values)

    def tied_extents(self):
        """Extents of the node's result, inferred from its consumers."""
        places = self.tied(self.node)
        extents = []
        for axis, extent in enumerate(self.out.shape):
            if extent == -1:
                if axis not in places:
                    self.unsupported(f"extent {axis} of its result depends on its consumers")
                name, place = places[axis]
                extent = self.dim(self.sources[name], place)
            extents.append(extent)
        return extents

    def unsupported(self, reason):
        """Raise an error: the call cannot be expressed in ONNX.

        Raises
        ------
        UnsupportedError
        """
        raise UnsupportedError(reason)

    # --- bodies ----------------------------------------------------------------------------------
    def body(self, name, inputs, make):
        """Create a graph attribute of a node.

        Parameters
        ----------
        name : str
        inputs : list of Value
            Inputs created by `value`.
        make : callable
            ``make(*inputs)`` returns the results.
        """
        outer, self.nodes = self.nodes, []
        try:
            # Outputs must be distinct results of the body's own nodes.
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
