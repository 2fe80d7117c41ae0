"""Copying of graphs with changes, the basis of most passes."""

from mxcy.graph.builder import Builder
from mxcy.graph.passes import dce

__all__ = ["Rewrite"]


class Rewrite:
    """A new graph, built while visiting the nodes of an old one.

    A pass iterates over `visit` and either keeps a node or registers a new entry as replacement of
    an old one. `finish` removes unreferenced nodes.

    Parameters
    ----------
    graph : Graph
        The old graph, with specs.
    """

    def __init__(self, graph):
        self.graph, self.builder = graph, Builder()
        self.changed = False
        self._moved = {}  # old entry -> new entry
        self._forward = None  # number of new nodes in the forward pass, once complete

    def visit(self):
        """Iterate over the old nodes as (number, node)."""
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
        """Copy an old node; return the new entry of its first output."""
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
        """Register a new entry as replacement of an old one."""
        self._moved[old] = new
        self.changed = True

    def add(self, op, attrs, inputs, name=None, extra=None):
        """Append a new node with new entries as inputs; return the entry of its first output."""
        self.changed = True
        return self.builder.add(op, attrs, inputs, name, extra)

    def spec(self, new):
        """The Spec of a new entry."""
        return self.builder.spec(new)

    def node(self, new):
        """The new node of a new entry."""
        return self.builder.nodes[new[0]]

    def finish(self):
        """Return the new graph without dead nodes, or the old one if nothing changed."""
        if not self.changed:
            return self.graph
        outputs = [self._moved[entry] for entry in self.graph.outputs]
        return dce.run(self.builder.finish(outputs, self._forward))
