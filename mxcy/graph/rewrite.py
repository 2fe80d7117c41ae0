"""Copy a graph with changes: what most passes are made of."""

from mxcy.graph.builder import Builder
from mxcy.graph.passes import dce

__all__ = ["Rewrite"]


class Rewrite:
    """A new graph that grows along the nodes of an old one.

    A pass goes through `visit` and either keeps a node, or tells which new entry takes the place of
    an old one. Nodes that nothing refers to any more are left out by `finish`.

    Parameters
    ----------
    graph : Graph
        With specs.
    """

    def __init__(self, graph):
        self.graph, self.builder = graph, Builder()
        self.changed = False
        self._moved = {}  # old entry -> new entry
        self._forward = None  # new nodes of the forward pass, once all of them are there

    def visit(self):
        """The old nodes in order, as (number, node)."""
        for number, node in enumerate(self.graph.nodes):
            if number == self.graph.forward:
                self._forward = len(self.builder.nodes)
            yield number, node

    def entry(self, old):
        """The new entry of an old one."""
        return self._moved[old]

    def inputs(self, node):
        """The new entries of an old node's inputs."""
        return [self._moved[entry] for entry in node.inputs]

    def keep(self, number):
        """Take over an old node; returns the new entry of its first output."""
        node = self.graph.nodes[number]
        specs = self.graph.specs[number]
        if node.op is None:
            copy = self.builder.variable(node.name, specs[0], node.extra)
        else:
            copy = self.builder.append(node, self.inputs(node), specs)
        for index in range(len(specs)):
            self._moved[number, index] = (copy[0], index)
        return copy

    def replace(self, old, new):
        """Let a new entry take the place of an old one."""
        self._moved[old] = new
        self.changed = True

    def add(self, op, attrs, inputs, name=None, extra=None):
        """Append a new node over new entries; returns the entry of its first output."""
        self.changed = True
        return self.builder.add(op, attrs, inputs, name, extra)

    def spec(self, new):
        """The Spec of a new entry."""
        return self.builder.spec(new)

    def node(self, new):
        """The new node of a new entry."""
        return self.builder.nodes[new[0]]

    def finish(self):
        """The new graph without dead nodes, or the old one when nothing was changed."""
        if not self.changed:
            return self.graph
        outputs = [self._moved[entry] for entry in self.graph.outputs]
        return dce.run(self.builder.finish(outputs, self._forward))
