"""Groups of elementwise operators that can be fused into one program.

A group may become one node only if no path leaves and re-enters it. Levels ensure this: they never
decrease along an edge and increase between neighbours in different groups, so a path that leaves a
group's level cannot return. Operators that draw random numbers, or write variables or read written
ones, keep their order, as if each depended on the previous one.
"""

from mxcy.graph.passes.mirror import MIRROR
from mxcy.ops.fused.pointwise import MAX_INPUTS, MAX_OUTPUTS, MAX_STEPS, fusible

__all__ = ["find_groups", "used_outside"]


def find_groups(graph):
    """Return the groups as sorted lists of node numbers."""
    grouping = _Grouping(graph)
    for number in range(len(graph.nodes)):
        grouping.visit(number)
    outside = used_outside(graph, grouping.group)
    pieces = []
    for group in {id(g): g for g in grouping.group if g is not None}.values():
        pieces += _split(sorted(group.members), outside)
    return [members for members in pieces if len(members) > 1]


def used_outside(graph, group):
    """The nodes whose first output is read outside the group."""
    used = {number for number, _ in graph.outputs}
    for number, node in enumerate(graph.nodes):
        for source, _ in node.inputs:
            if group[source] is not group[number]:
                used.add(source)
    return used


def _split(members, outside):
    """Split a group into pieces with few enough outputs; later pieces may read earlier ones."""
    if sum(number in outside for number in members) <= MAX_OUTPUTS:
        return [members]
    pieces, piece, count = [], [], 0
    for number in members:
        piece.append(number)
        count += number in outside
        if count == MAX_OUTPUTS // 2:  # leave room for results that later pieces read
            pieces.append(piece)
            piece, count = [], 0
    return [*pieces, piece] if piece else pieces


class _Group:
    """Nodes to fuse into one program; `inputs` may include results of members.

    `readers` counts reads of members' results by other nodes.
    """

    __slots__ = ("members", "steps", "inputs", "level", "readers")

    def __init__(self, number, node, level, readers):
        self.members, self.level, self.readers = [number], level, readers
        self.steps, self.inputs = max(1, len(node.inputs) - 1), set(node.inputs)


class _Grouping:
    """Levels and groups, computed node by node."""

    def __init__(self, graph):
        self.graph = graph
        self.group: list[_Group | None] = [None] * len(graph.nodes)
        self.levels = [0] * len(graph.nodes)  # of nodes without a group
        self.uses = [0] * len(graph.nodes)
        self.written = {entry for node in graph.nodes for entry in node.mutates()}
        self.ordered = 0  # the level of the last order-preserving operator
        for node in graph.nodes:
            for source, _ in node.inputs:
                self.uses[source] += 1
        for source, _ in graph.outputs:
            self.uses[source] += 1

    def level(self, number):
        """The level of a node or of its group."""
        group = self.group[number]
        return self.levels[number] if group is None else group.level

    def visit(self, number):
        """Compute the level of a node, and its group if it can be a step."""
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

        Recomputed nodes cannot: a program needs all its inputs and results at the same time, which
        would save no memory.
        """
        node, specs = self.graph.nodes[number], self.graph.specs[number]
        if not node.inputs or MIRROR in node.extra:
            return False
        if any(entry in self.written for entry in node.inputs):
            return False
        ins = [self.graph.spec(entry) for entry in node.inputs]
        return len(specs) == 1 and fusible(node.op, node.attrs, ins, specs)

    def goes_with(self, source, number):
        """Whether a node and the node of one of its inputs can be in the same program."""
        graph = self.graph
        same_side = (source < graph.forward) == (number < graph.forward)
        return (
            self.group[source] is not None
            and same_side
            and graph.specs[source][0] == graph.specs[number][0]
        )

    def reads(self, number, group):
        """The number of a node's inputs that are results of a group."""
        return sum(self.group[source] is group for source, _ in self.graph.nodes[number].inputs)

    def can_wait(self, source, number):
        """Whether the group of a node's input can be deferred: nothing else reads it."""
        group = self.group[source]
        return group is not None and group.readers == self.reads(number, group)

    def merge(self, own, joined):
        """Merge a node's own group with the groups of some of its inputs.

        Returns False, without changes, if the result would be too large.
        """
        by_id = {id(group): group for group in (self.group[s] for s in joined) if group is not None}
        groups = sorted(by_id.values(), key=lambda group: -len(group.members))
        inside = {(source, 0) for source in joined}
        inputs = set().union(own.inputs, *(group.inputs for group in groups)) - inside
        steps = own.steps + sum(group.steps for group in groups)
        # Each broadcast input takes a step, and outputs may as well.
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
