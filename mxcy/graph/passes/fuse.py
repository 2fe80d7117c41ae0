"""Pointwise fusion: run connected elementwise operators as one program over tiles.

Governed by MXNET_USE_FUSION. Which operators can be steps is for `mxcy.ops.pointwise` to say.

A group may become one node only if no path leaves it and comes back. Levels see to that: they never
fall along the graph and rise wherever two neighbours are not in the same group, so that whoever has
left a group's level cannot return to it. Operators that draw random numbers, write variables or
read written ones keep their order, as if each depended on the one before.
"""

import sys

from mxcy.graph.builder import Builder
from mxcy.ops.pointwise import MAX_INPUTS, MAX_OUTPUTS, MAX_STEPS, fusible, program_of
from mxcy.ops.record import find

__all__ = ["run", "FUSED"]

#: the `extra` key of fused nodes: the names of the nodes they stand for
FUSED = "__fused__"


def run(graph, target):
    """Fuse groups of two and more operators of the same shape."""
    if not target.settings.get("MXNET_USE_FUSION", True):
        return graph
    groups = _find_groups(graph)
    if not groups:
        return graph
    made = _Fusion(graph, groups)
    if target.settings.get("MXNET_RTC_VERBOSE", False):
        for program in dict.fromkeys(made.programs):
            print(f"mxcy fused kernel: {program}", file=sys.stderr, flush=True)
    return made.finish()


# --- finding groups ------------------------------------------------------------------------------


def _find_groups(graph):
    """Lists of node numbers, each in order."""
    grouping = _Grouping(graph)
    for number in range(len(graph.nodes)):
        grouping.visit(number)
    outside = _used_outside(graph, grouping.group)
    found = []
    for members in {id(g): g for g in grouping.group if g is not None}.values():
        found += _split(sorted(members), outside)
    return [members for members in found if len(members) > 1]


def _used_outside(graph, group):
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
        self.group = [None] * len(graph.nodes)  # the members' numbers, one list for all of them
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
        """Whether a node can be a step of some program."""
        node, specs = self.graph.nodes[number], self.graph.specs[number]
        if not node.inputs or any(entry in self.written for entry in node.inputs):
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


# --- making the new graph ------------------------------------------------------------------------


class _Fusion:
    """The new graph: groups are emitted when their results are needed."""

    def __init__(self, graph, groups):
        self.graph, self.builder = graph, Builder()
        self.programs = []
        self.group = [None] * len(graph.nodes)
        for members in groups:
            for number in members:
                self.group[number] = members
        self.outside = _used_outside(graph, self.group)
        self.moved = {}  # old entry -> new entry
        self.done = [False] * len(graph.nodes)
        for number in range(graph.forward):
            if self.group[number] is None:
                self._emit(number)
        for number in range(graph.forward):
            self._emit(number)
        self.forward = len(self.builder.nodes)
        for number in range(graph.forward, len(graph.nodes)):
            if self.group[number] is None:
                self._emit(number)
        for members in groups:
            self._emit(members[0])

    def finish(self):
        """The new graph."""
        outputs = [self.moved[entry] for entry in self.graph.outputs]
        return self.builder.finish(outputs, self.forward)

    def _emit(self, number):
        """Append a node, or the group it belongs to, after what it depends on."""
        stack = [number]
        while stack:
            number = stack[-1]
            if self.done[number]:
                stack.pop()
                continue
            members = self.group[number] or (number,)
            lacking = [
                source
                for member in members
                for source, _ in self.graph.nodes[member].inputs
                if not self.done[source]
                and (len(members) == 1 or self.group[source] is not members)
            ]
            if lacking:
                stack += lacking
                continue
            stack.pop()
            if len(members) == 1 or not self._append_group(members):
                for member in members:
                    self._append(member)
            for member in members:
                self.done[member] = True

    def _append(self, number):
        node, specs = self.graph.nodes[number], self.graph.specs[number]
        if node.op is None:
            made = self.builder.variable(node.name, specs[0], node.extra)
        else:
            made = self.builder.append(node, [self.moved[e] for e in node.inputs], specs)
        for index in range(max(len(specs), 1)):
            self.moved[number, index] = (made[0], index)

    def _append_group(self, members):
        """Append the program of a group; False when it does not fit."""
        nodes = self.graph.nodes
        inputs = list(
            dict.fromkeys(
                entry
                for member in members
                for entry in nodes[member].inputs
                if self.group[entry[0]] is not members
            )
        )
        results = [member for member in members if member in self.outside]
        if not 0 < len(results) <= MAX_OUTPUTS or len(inputs) > MAX_INPUTS:
            return False
        value = {entry: position for position, entry in enumerate(inputs)}
        steps = []
        for member in members:
            operands = [value[entry] for entry in nodes[member].inputs]
            value[member, 0] = len(inputs) + len(steps)
            steps.append((nodes[member].op, nodes[member].attrs, operands))
        program = program_of(len(inputs), steps, [value[member, 0] for member in results])
        self.programs.append(program)
        made, _ = self.builder.add(
            find("_fused_pointwise"),
            {"program": program},
            [self.moved[entry] for entry in inputs],
            nodes[members[-1]].name,
            {FUSED: " ".join(nodes[member].name for member in members)},
        )
        for index, member in enumerate(results):
            self.moved[member, 0] = (made, index)
        return True
