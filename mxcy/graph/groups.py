"""Groups of elementwise operators that can be one program each.

A group may become one node only if no path leaves it and comes back. Levels see to that: they never
fall along the graph and rise wherever two neighbours are not in the same group, so that whoever has
left a group's level cannot return to it. Operators that draw random numbers, write variables or
read written ones keep their order, as if each depended on the one before.
"""

from mxcy.graph.passes.mirror import MIRROR
from mxcy.ops.pointwise import MAX_INPUTS, MAX_OUTPUTS, MAX_STEPS, fusible

__all__ = ["find_groups", "used_outside"]


def find_groups(graph):
    """Lists of node numbers, each in order."""
    grouping = _Grouping(graph)
    for number in range(len(graph.nodes)):
        grouping.visit(number)
    outside = used_outside(graph, grouping.group)
    found = []
    for members in {id(g): g for g in grouping.group if g is not None}.values():
        found += _split(sorted(members), outside)
    return [members for members in found if len(members) > 1]


def used_outside(graph, group):
    """The nodes whose first output is read by others than their group."""
    found = {number for number, _ in graph.outputs}
    for number, node in enumerate(graph.nodes):
        for source, _ in node.inputs:
            if group[source] is not group[number]:
                found.add(source)
    return found


def _split(members, outside):
    """Pieces of a group that have few enough outputs; a piece's results may go to later pieces."""
    if sum(number in outside for number in members) <= MAX_OUTPUTS:
        return [members]
    pieces, piece, count = [], [], 0
    for number in members:
        piece.append(number)
        count += number in outside
        if count == MAX_OUTPUTS // 2:  # the rest is for results that later pieces read
            pieces.append(piece)
            piece, count = [], 0
    return [*pieces, piece] if piece else pieces


class _Grouping:
    """Levels and groups, node by node in order."""

    def __init__(self, graph):
        self.graph = graph
        self.group: list = [None] * len(
            graph.nodes
        )  # the members' numbers, one list for all of them
        self.level = [0] * len(graph.nodes)
        self.uses = [0] * len(graph.nodes)
        self.written = {entry for node in graph.nodes for entry in node.mutates()}
        self.ordered = 0  # the level of the last operator that keeps its order
        for node in graph.nodes:
            for source, _ in node.inputs:
                self.uses[source] += 1
        for source, _ in graph.outputs:
            self.uses[source] += 1

    def visit(self, number):
        node = self.graph.nodes[number]
        sources = {source for source, _ in node.inputs}
        if node.op is None:
            return
        if not self.can_be_step(number):
            self.level[number] = max(
                (self.level[s] + (self.group[s] is not None) for s in sources), default=0
            )
            if node.op.uses_rng or any(entry in self.written for entry in node.inputs):
                self.level[number] = self.ordered = max(self.ordered, self.level[number])
            return
        near = [s for s in sources if self.goes_with(s, number)]
        level = max(
            (self.level[s] + (self.group[s] is not None and s not in near) for s in sources),
            default=0,
        )
        joined = [s for s in near if self.level[s] == level or self.can_wait(s)]
        merged = self.merge(number, joined)
        if merged is None:
            level, merged = max(level, *(self.level[s] + 1 for s in near)), [number]
        for member in merged:
            self.group[member], self.level[member] = merged, level

    def can_be_step(self, number):
        """Whether a node can be a step of some program.

        What is computed again to save memory cannot: a program needs all its inputs and results at
        the same time.
        """
        node, specs = self.graph.nodes[number], self.graph.specs[number]
        if not node.inputs or MIRROR in node.extra:
            return False
        if any(entry in self.written for entry in node.inputs):
            return False
        ins = [self.graph.spec(entry) for entry in node.inputs]
        return len(specs) == 1 and fusible(node.op, node.attrs, ins, specs)

    def goes_with(self, source, number):
        """Whether a node and one of its inputs' can be steps of the same program."""
        graph = self.graph
        same_side = (source < graph.forward) == (number < graph.forward)
        return (
            self.group[source] is not None
            and same_side
            and graph.specs[source][0] == graph.specs[number][0]
        )

    def can_wait(self, source):
        """Whether a node can be computed later: nobody else needs it."""
        return self.uses[source] == 1 and len(self.group[source]) == 1

    def merge(self, number, joined):
        """The group of a node and the groups of some of its inputs; None when it is too large."""
        groups = {id(self.group[s]): self.group[s] for s in joined}.values()
        members = [number, *(member for group in groups for member in group)]
        if len(members) == 1:
            return members
        inside = set(members)
        steps, inputs = 0, set()
        for member in members:
            entries = self.graph.nodes[member].inputs
            steps += max(1, len(entries) - 1)
            inputs.update(entry for entry in entries if entry[0] not in inside)
        # Reading repeated inputs takes a step each, and so may writing outputs.
        fits = steps + len(inputs) + MAX_OUTPUTS <= MAX_STEPS and len(inputs) <= MAX_INPUTS
        return members if fits else None
