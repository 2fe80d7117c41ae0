"""Plain and blocked forms of a graph's arrays, shared by the layout passes."""

from mxcy.graph.analysis.users import Users
from mxcy.graph.node import attrs_of
from mxcy.graph.rewrite import Rewrite
from mxcy.ops.core.prepare import prepare
from mxcy.ops.core.record import find
from mxcy.ops.fused.blocked import plain_shape

__all__ = ["Forms", "adds", "elementwise", "on_blocked", "refuses"]

_ADDITIONS = find("elemwise_add"), find("broadcast_add")


class Forms:
    """A new graph, in which old entries have a plain form, a blocked one, or both.

    Parameters
    ----------
    graph : Graph
        The old graph, with specs.
    target : Target
    last : bool
        Whether a block has all channels, which makes arrays channels-last.

    Attributes
    ----------
    passed_on : int
        Number of blocked results read by blocked nodes, conversions excluded.
    """

    def __init__(self, graph, target, last=False):
        self.graph, self.target, self.last = graph, target, last
        self.rewrite = Rewrite(graph)
        self._plain, self._blocked, self._given = set(), {}, set()
        self.passed_on = 0
        self.users = Users(graph)

    def visit(self):
        """Iterate over the old nodes as (number, node).

        After each, those of its outputs that the graph returns become plain, for their blocked
        forms not to live until the end.
        """
        returned = set(self.graph.outputs)
        for number, node in self.rewrite.visit():
            yield number, node
            for index in range(len(self.graph.specs[number])):
                if (number, index) in returned:
                    self.plain((number, index))

    def keep(self, number):
        """Copy a node unchanged, with plain inputs."""
        for entry in self.graph.nodes[number].inputs:
            self.plain(entry)
        self.rewrite.keep(number)
        self._plain.update((number, i) for i in range(len(self.graph.specs[number])))

    def put(self, number, new, blocked, index=0):
        """Register a new entry as one form of an old node's output."""
        if blocked:
            self._blocked[number, index] = new
            self._given.add((number, index))
            self.rewrite.changed = True
        else:
            self.rewrite.replace((number, index), new)
            self._plain.add((number, index))

    def plain(self, entry):
        """Return the plain form of an old entry, converting if necessary."""
        if entry not in self._plain:
            source = self._blocked[entry]
            shape = self.rewrite.spec(source).shape
            if shape[2:-1] == (1,) * len(shape[2:-1]):  # elements are in the same order
                new = self.rewrite.add("Reshape", {"shape": plain_shape(shape)}, [source])
            else:
                new = self.rewrite.add("_from_blocked", {}, [source])
            self.rewrite.replace(entry, new)
            self._plain.add(entry)
        return self.rewrite.entry(entry)

    def is_blocked(self, entry):
        """Whether an old entry already has a blocked form."""
        return entry in self._blocked

    def can_block(self, entry):
        """Whether an old entry can have a blocked form."""
        shape = self.graph.spec(entry).shape
        block = self.target.block
        if not block or not 3 <= len(shape) <= 5:
            return False
        return shape[1] > 0 if self.last else shape[1] % block == 0

    def block(self, entry):
        """The number of channels per block of an old entry."""
        return self.graph.spec(entry).shape[1] if self.last else self.target.block

    def blocked(self, entry):
        """Return the blocked form of an old entry, converting if necessary."""
        if entry not in self._blocked:
            attrs = {"block": self.block(entry)}
            self._blocked[entry] = self.rewrite.add("_to_blocked", attrs, [self.plain(entry)])
        self.passed_on += entry in self._given
        return self._blocked[entry]


def on_blocked(forms, number, attrs=None):
    """Apply an operator to blocked arrays if one of its inputs is blocked already."""
    node = forms.graph.nodes[number]
    if not any(forms.is_blocked(entry) for entry in node.inputs):
        return False
    inputs = [forms.blocked(entry) for entry in node.inputs]
    new = forms.rewrite.add(
        node.op, node.attrs if attrs is None else attrs, inputs, node.name, node.extra
    )
    for index in range(len(forms.graph.specs[number])):
        forms.put(number, (new[0], index), True, index)
    return True


def elementwise(forms, number):
    """Apply an elementwise operator to blocked arrays of equal shape."""
    graph = forms.graph
    node = graph.nodes[number]
    shape = graph.specs[number][0].shape
    if len(graph.specs[number]) != 1 or not all(
        graph.spec(entry).shape == shape and forms.can_block(entry) for entry in node.inputs
    ):
        return False
    return on_blocked(forms, number)


def adds(graph, number):
    """Whether a node adds two arrays of the same shape."""
    node, shape = graph.nodes[number], graph.specs[number][0].shape
    return node.op in _ADDITIONS and all(graph.spec(e).shape == shape for e in node.inputs)


def refuses(target, op, attrs, ins):
    """Whether no native kernel accepts a call."""
    return prepare(op, attrs_of(op, attrs), ins, target).kernel is None
