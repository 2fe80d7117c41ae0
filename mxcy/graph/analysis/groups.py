"""Groups of elementwise operators that can be one program each.

A group may become one node only if no path leaves it and comes back. Levels see to that: they never
fall along the graph and rise wherever two neighbours are not in the same group, so that whoever has
left a group's level cannot return to it. Operators that draw random numbers, write variables or
read written ones keep their order, as if each depended on the one before.
"""

from mxcy.graph.passes.mirror import MIRROR
from mxcy.ops.fused.pointwise import MAX_INPUTS, MAX_OUTPUTS, MAX_STEPS, fusible

__all__ = ["find_groups", "used_outside"]


def find_groups(graph):
    """Lists of node numbers, each in order."""
    grouping = _Grouping(graph)
    for number in range(len(graph.nodes)):
        grouping.visit(number)
    outside = used_outside(graph, grouping.group)
    pieces = []
    for group in {id(g): g for g in grouping.group if g is not None}.values():
        pieces += _split(sorted(group.members), outside)
    return [members for members in pieces if len(members) > 1]


def used_outside(graph, group):
    """The nodes whose first output is read by others than their group."""
    used = {number for number, _ in graph.outputs}
    for number, node in enumerate(graph.nodes):
        for source, _ in node.inputs:
            if group[source] is not group[number]:
                used.add(source)
    return used


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


class _Group:
    """Nodes that are to be one program; `inputs` may count some that are results of members.

    `readers` counts how often others read results of members.
    """

    __slots__ = ("members", "steps", "inputs", "level", "readers")

    def __init__(self, number, node, level, readers):
        self.members, self.level, self.readers = [number], level, readers
        self.steps, self.inputs = max(1, len(node.inputs) - 1), set(node.inputs)


class _Grouping:
    """Levels and groups, node by node in order."""

    def __init__(self, graph):
        self.graph = graph
        self.group: list[_Group | None] = [None] * len(graph.nodes)
        self.levels = [0] * len(graph.nodes)  # of nodes without a group
        self.uses = [0] * len(graph.nodes)
        self.written = {entry for node in graph.nodes for entry in node.mutates()}
        self.ordered = 0  # the level of the last operator that keeps its order
        for node in graph.nodes:
            for source, _ in node.inputs:
                self.uses[source] += 1
        for source, _ in graph.outputs:
            self.uses[source] += 1

    def level(self, number):
        """The level of a node; that of its group if it has one."""
        group = self.group[number]
        return self.levels[number] if group is None else group.level

    def visit(self, number):
        """Find the level of a node, and its group if it can be a step."""
        node = self.graph.nodes[number]
        sources = {source for source, _ in node.inputs}
        if node.op is None:
            return
        if not self.can_be_step(number):
            level = max((self.level(s) + (self.group[s] is not None) for s in sources), default=0)
            if node.op.uses_rng or any(entry in self.written for entry in node.inputs):
                level = self.ordered = max(self.ordered, level)
            self.levels[number] = level
            return
        near = [s for s in sources if self.goes_with(s, number)]
        level = max(self.level(s) + (self.group[s] is not None and s not in near) for s in sources)
        own = _Group(number, node, level, self.uses[number])
        joined = [s for s in near if self.level(s) == level or self.can_wait(s, number)]
        if joined and not self.merge(own, joined):
            own.level = max(level, *(self.level(s) + 1 for s in near))
            self.group[number] = own
        elif not joined:
            self.group[number] = own

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

    def reads(self, number, group):
        """How many inputs of a node are results of a group."""
        return sum(self.group[source] is group for source, _ in self.graph.nodes[number].inputs)

    def can_wait(self, source, number):
        """Whether the group of a node's input can be computed later: nobody else needs it."""
        group = self.group[source]
        return group is not None and group.readers == self.reads(number, group)

    def merge(self, own, joined):
        """Put a node with a group of its own into the groups of some of its inputs, as one.

        Returns False when that would be too large, and nothing changed.
        """
        by_id = {id(group): group for group in (self.group[s] for s in joined) if group is not None}
        groups = sorted(by_id.values(), key=lambda group: -len(group.members))
        inside = {(source, 0) for source in joined}
        inputs = set().union(own.inputs, *(group.inputs for group in groups)) - inside
        steps = own.steps + sum(group.steps for group in groups)
        # Reading repeated inputs takes a step each, and so may writing outputs.
        if steps + len(inputs) + MAX_OUTPUTS > MAX_STEPS or len(inputs) > MAX_INPUTS:
            return False
        first = groups[0]
        read = sum(self.reads(own.members[0], group) for group in groups)
        first.readers = own.readers + sum(group.readers for group in groups) - read
        first.steps, first.inputs, first.level = steps, inputs, own.level
        for group in (*groups[1:], own):
            first.members += group.members
            for number in group.members:
                self.group[number] = first
        return True
