"""Pointwise fusion: connected elementwise operators run as one program over tiles.

Controlled by MXNET_USE_FUSION. Without it, a power with a scalar exponent times a scalar is still
fused, unless MXNET_DISABLE_ONEDNN_POW_MUL_SCALAR_OPT is set. `mxcy.ops.fused.pointwise` defines the
possible steps, `mxcy.graph.analysis.groups` the groups.
"""

import sys

from mxcy.graph.analysis.groups import find_groups, used_outside
from mxcy.graph.analysis.users import Users
from mxcy.graph.builder import Builder
from mxcy.ops.core.record import find
from mxcy.ops.fused.pointwise import MAX_INPUTS, MAX_OUTPUTS, fusible, program_of

__all__ = ["run", "FUSED"]

_POWER, _TIMES = find("_power_scalar"), find("_mul_scalar")
#: `extra` key of fused nodes: the names of the original nodes
FUSED = "__fused__"


def run(graph, target):
    """Fuse groups of two and more operators of the same shape."""
    if target.settings.get("MXNET_USE_FUSION", True):
        groups = find_groups(graph)
    elif target.settings.get("MXNET_DISABLE_ONEDNN_POW_MUL_SCALAR_OPT", False):
        return graph
    else:
        groups = _scaled_powers(graph)
    if not groups:
        return graph
    fusion = _Fusion(graph, groups)
    if target.settings.get("MXNET_RTC_VERBOSE", False):
        for program in dict.fromkeys(fusion.programs):
            print(f"mxcy fused kernel: {program}", file=sys.stderr, flush=True)
    return fusion.finish()


def _scaled_powers(graph):
    """Pairs of a scalar power and its only user, a product with a scalar."""
    users, pairs = Users(graph), []
    for number, node in enumerate(graph.nodes):
        chain = users.chain(number, lambda after: after.op is _TIMES) if node.op is _POWER else None
        if chain is None or graph.specs[chain[0]] != graph.specs[number]:
            continue
        if fusible(node.op, node.attrs, [graph.spec(node.inputs[0])], graph.specs[number]):
            pairs.append([number, *chain])
    return pairs


class _Fusion:
    """The new graph: groups are emitted when their results are needed."""

    def __init__(self, graph, groups):
        self.graph, self.builder = graph, Builder()
        self.programs = []
        self.group = [None] * len(graph.nodes)
        for members in groups:
            for number in members:
                self.group[number] = members
        self.outside = used_outside(graph, self.group)
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
        """Return the new graph."""
        outputs = [self.moved[entry] for entry in self.graph.outputs]
        return self.builder.finish(outputs, self.forward)

    def _emit(self, number):
        """Append a node or its group after their dependencies."""
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
            copy = self.builder.variable(node.name, specs[0], node.extra)
        else:
            copy = self.builder.append(node, [self.moved[e] for e in node.inputs], specs)
        for index in range(max(len(specs), 1)):
            self.moved[number, index] = (copy[0], index)

    def _append_group(self, members):
        """Append the program of a group; return False if it is too large."""
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
        fused, _ = self.builder.add(
            find("_fused_pointwise"),
            {"program": program},
            [self.moved[entry] for entry in inputs],
            nodes[members[-1]].name,
            {FUSED: " ".join(nodes[member].name for member in members)},
        )
        for index, member in enumerate(results):
            self.moved[member, 0] = (fused, index)
        return True
