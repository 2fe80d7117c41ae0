"""The flat graph on which passes work: nodes in topological order, numbered."""

from mxcy.graph.node import topological

__all__ = ["Node", "Graph", "from_entries"]


class Node:
    """An immutable node of a `Graph`.

    Attributes
    ----------
    op : Op or None
        None for a variable.
    name : str
    attrs : Attrs or None
        Complete attributes, including dynamic ones and, if the mode matters, ``train``.
    inputs : tuple of (int, int)
        Entries: (number of a node, output index).
    extra : dict of str to str
        The user's attributes, such as ``__force_mirroring__``.
    """

    __slots__ = ("op", "name", "attrs", "inputs", "extra", "_signature")

    def __init__(self, op, name, attrs, inputs=(), extra=None):
        self.op, self.name, self.attrs = op, name, attrs
        self.inputs, self.extra = tuple(inputs), extra or {}
        self._signature = None

    @property
    def signature(self):
        """The key that equal operations share: operator, attributes, mode."""
        if self._signature is None:
            a, op = self.attrs, self.op
            numbers = tuple([getattr(a, name) for name in op.schema.dynamic_names])
            self._signature = op, a.key, numbers, op.uses_mode and a.train
        return self._signature

    @property
    def count(self):
        """The number of outputs, including hidden ones."""
        return 1 if self.op is None else len(self.op.outputs(self.attrs))

    def mutates(self):
        """The input entries that the operator writes."""
        if self.op is None or not self.op.writes:
            return ()
        return tuple(self.inputs[i] for i in self.op.mutated(len(self.inputs)))

    def __repr__(self):
        return f"<{'variable' if self.op is None else self.op.name} {self.name} {self.inputs}>"


class Graph:
    """Nodes in topological order, output entries, and the inferred specs of all entries.

    Attributes
    ----------
    nodes : list of Node
    outputs : list of (int, int)
    specs : list of list of Spec, or None
        Specs of each node's outputs.
    forward : int
        The number of leading nodes that form the forward pass; all if there is no backward.
    """

    def __init__(self, nodes, outputs, specs=None, forward=None):
        self.nodes, self.outputs, self.specs = nodes, list(outputs), specs
        self.forward = len(nodes) if forward is None else forward

    def variables(self):
        """The numbers of the variables, in order."""
        return [i for i, node in enumerate(self.nodes) if node.op is None]

    def spec(self, entry):
        """The Spec of an entry."""
        return self.specs[entry[0]][entry[1]]

    def count_ops(self):
        """{operator name: number of nodes}, for reports and tests."""
        counts = {}
        for node in self.nodes:
            if node.op is not None:
                counts[node.op.name] = counts.get(node.op.name, 0) + 1
        return counts


def from_entries(entries, train=False):
    """Make the Graph of linked nodes (see `mxcy.graph.node`).

    Parameters
    ----------
    entries : list of (SymbolNode, int)
        The outputs.
    train : bool
        Whether operators run in training mode.
    """
    order = topological(entries)
    number = {id(node): i for i, node in enumerate(order)}
    nodes = []
    for node in order:
        attrs = None
        if node.op is not None:
            attrs = node.parsed
            if node.op.uses_mode:
                attrs = attrs.with_values(("train",), (train,))
        inputs = [(number[id(source)], index) for source, index in node.inputs]
        nodes.append(Node(node.op, node.name, attrs, inputs, node.extra))
    return Graph(nodes, [(number[id(node)], index) for node, index in entries])
