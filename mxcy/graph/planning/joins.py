"""Joins in place: results computed directly in their part of a concatenation of them."""

__all__ = ["Joins"]

_ALIGNMENT = 64


class Joins:
    """Finds the operators that have nothing to do if their inputs are computed in their output.

    They are those whose records say that the output is the inputs, one after the other in memory. A
    join may be part of another one: of a growing concatenation, every prefix is a part of the last.

    Parameters
    ----------
    graph : Graph
        A graph with specs.
    external : container of (int, int)
        Entries outside the arena.

    Attributes
    ----------
    parts : dict of (int, int) to ((int, int), int)
        Entry -> the join that it is a part of, which is no part of another one, and the byte
        offset there.
    idle : set of int
        Numbers of the nodes that are joined in place.
    """

    def __init__(self, graph, external):
        self._graph, self._external = graph, external
        self._mutated = {entry for node in graph.nodes for entry in node.mutates()}
        self._above = {}  # part -> the join directly above it, and the byte offset there
        self.idle = set()
        if graph.forward == len(graph.nodes):  # a backward pass may read parts much later
            for number, node in enumerate(graph.nodes):
                if node.op is not None and node.op.joins is not None:
                    self._add(number, node)
        self.parts = {entry: self._root(entry) for entry in self._above}

    def _add(self, number, node):
        """Join a node in place if all its inputs can be computed in its output."""
        graph, out = self._graph, (number, 0)
        ins = [graph.spec(entry) for entry in node.inputs]
        if not self._movable(out) or not node.op.joins(node.attrs, ins, graph.specs[number]):
            return
        parts, offset = {}, 0
        for entry, spec in zip(node.inputs, ins, strict=True):
            source = self._source(entry)
            if source is None or source in parts or source in self._above:
                return
            if offset % _ALIGNMENT or not spec.nbytes:
                return
            parts[source] = out, offset
            offset += spec.nbytes
        self._above.update(parts)
        self.idle.add(number)

    def _source(self, entry):
        """The entry whose memory identities pass on to this one; None if it has its own place."""
        nodes, spec = self._graph.nodes, self._graph.spec(entry)
        while self._movable(entry):
            node = nodes[entry[0]]
            if not node.op.identity or entry[1]:
                return entry
            entry = node.inputs[0]
            if self._graph.spec(entry).nbytes != spec.nbytes:
                return None
        return None

    def _movable(self, entry):
        """Whether the planner may choose the memory of an entry."""
        computed = self._graph.nodes[entry[0]].op is not None
        return computed and entry not in self._external and entry not in self._mutated

    def _root(self, entry):
        """The join that contains an entry and is no part of another one, and the offset there."""
        whole, offset = self._above[entry]
        while whole in self._above:
            whole, more = self._above[whole]
            offset += more
        return whole, offset
