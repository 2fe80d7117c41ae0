"""Construction of graphs node by node, for passes and gradient rules.

`Builder` appends nodes to a new graph and infers their shapes; `Value` is an entry with Python
operators; `Operators` (the ``F`` of gradient rules) offers every record as a function.
"""

from mxcy._base.errors import MXNetError
from mxcy.graph.graph import Graph, Node
from mxcy.graph.node import attrs_of
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.operators import METHODS, TABLE
from mxcy.ops.core.record import find

__all__ = ["Builder", "Operators", "Value"]


class Builder:
    """A graph under construction.

    Parameters
    ----------
    train : bool
        Whether operators run in training mode.
    """

    def __init__(self, train=False):
        self.nodes, self.specs, self.train = [], [], train
        self.values = Operators(self)
        self._inferred = {}
        self._names = {}

    def variable(self, name, spec, extra=None):
        """Append a variable and return its entry."""
        return self._append(Node(None, name, None, (), extra), [spec])

    def add(self, op, attrs, inputs, name=None, extra=None):
        """Append an operation and return the entry of its first output.

        Parameters
        ----------
        op : Op or str
        attrs : Attrs or dict
            A dict may hold attributes in any accepted form.
        inputs : sequence of (int, int)
        name : str, optional
            By default derived from the operator's name.
        """
        if isinstance(op, str):
            op = find(op)
        if isinstance(attrs, dict):
            if op.num_args is not None:
                attrs = {op.num_args: len(inputs), **attrs}
            attrs = attrs_of(op, attrs)
            if op.uses_mode:
                attrs = attrs.with_values(("train",), (self.train,))
        if name is None:
            count = self._names.get(op.name, 0)
            self._names[op.name] = count + 1
            name = f"{op.name.lstrip('_').lower()}_{count}"
        node = Node(op, name, attrs, inputs, extra)
        return self._append(node, self._infer(node))

    def append(self, node, inputs, specs):
        """Append a node of another graph with inputs of the same specs; return its entry."""
        return self._append(Node(node.op, node.name, node.attrs, inputs, node.extra), specs)

    def copy(self, graph):
        """Append all nodes of a graph with specs; return the offset of their numbers."""
        shift = len(self.nodes)
        for node, specs in zip(graph.nodes, graph.specs, strict=True):
            inputs = [(source + shift, index) for source, index in node.inputs] if shift else None
            moved = Node(node.op, node.name, node.attrs, inputs, node.extra) if inputs else node
            self.nodes.append(moved)
            self.specs.append(specs)
        return shift

    def spec(self, entry):
        """The Spec of an entry."""
        return self.specs[entry[0]][entry[1]]

    def value(self, entry):
        """Wrap an entry as a `Value`."""
        return Value(self, entry)

    def finish(self, outputs, forward=None):
        """Return the graph with these output entries."""
        return Graph(self.nodes, outputs, self.specs, forward)

    def _append(self, node, specs):
        self.nodes.append(node)
        self.specs.append(specs)
        return len(self.nodes) - 1, 0

    def _infer(self, node):
        ins = [self.specs[source][index] for source, index in node.inputs]
        key = (node.signature, tuple((s.shape, s.dtype) for s in ins))
        inferred = self._inferred.get(key)
        if inferred is None:
            copies = [Spec(s.shape, s.dtype) for s in ins]
            inferred = self._inferred[key] = node.op.infer(node.attrs, copies)
        return inferred


class Value:
    """An entry of a graph under construction; supports arithmetic and comparisons."""

    __slots__ = ("builder", "entry")
    __hash__ = None  # type: ignore[assignment]  # == creates a node

    def __init__(self, builder, entry):
        self.builder, self.entry = builder, entry

    @property
    def spec(self):
        """Shape and dtype."""
        return self.builder.spec(self.entry)

    @property
    def shape(self):
        """Tuple of the extents."""
        return self.spec.shape

    def __neg__(self):
        return self.builder.values._mul_scalar(self, scalar=-1.0)

    def __repr__(self):
        return f"Value({self.builder.nodes[self.entry[0]]}, {self.spec})"


def _method(arrays, number):
    def apply(self, other):
        F = self.builder.values
        if isinstance(other, Value):
            return getattr(F, arrays)(self, other)
        if isinstance(other, (int, float)):
            return getattr(F, number)(self, scalar=float(other))
        return NotImplemented

    return apply


for (_arrays, _number, _number_first), (_left, _right) in zip(TABLE, METHODS, strict=True):
    setattr(Value, _left, _method(_arrays, _number))
    if _right is not None:
        setattr(Value, _right, _method(_arrays, _number_first))


class Operators:
    """Records as functions of Values: inputs by position or name, attributes by name.

    The functions return a Value, or a list of the visible outputs.
    """

    def __init__(self, builder):
        self._builder = builder

    def __getattr__(self, name):
        try:
            op = find(name)
        except MXNetError as error:
            raise AttributeError(str(error)) from None
        function = self.function(op)
        self.__dict__[name] = function
        return function

    def function(self, op):
        """Make the function of a record, which need not be registered."""
        builder = self._builder
        names = () if op.variadic else op.inputs
        optional = op.optional

        def call(*args, **attributes):
            inputs = list(args)
            if len(inputs) > len(names) and names:
                for field, value in zip(op.schema.names, inputs[len(names) :], strict=False):
                    attributes[field] = value
                del inputs[len(names) :]
            for name in names[len(inputs) :]:
                inputs.append(attributes.pop(name, None))
            if names:
                inputs = [
                    value
                    for value, name in zip(inputs, names, strict=True)
                    if value is not None or name not in optional
                ]
                while inputs and inputs[-1] is None:
                    inputs.pop()
            number, _ = builder.add(op, attributes, [value.entry for value in inputs])
            visible = op.visible(builder.nodes[number].attrs)
            values = [Value(builder, (number, i)) for i in range(visible)]
            return values[0] if visible == 1 else values

        return call
