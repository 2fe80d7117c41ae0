"""Plain and blocked forms of a graph's arrays: what the passes share that place them."""

from mxcy.graph.analysis.users import Users
from mxcy.graph.rewrite import Rewrite
from mxcy.ops.fused.blocked import plain_shape

__all__ = ["Forms", "elementwise", "on_blocked"]


class Forms:
    """A new graph, and which forms old entries have there: plain, blocked, or both.

    Parameters
    ----------
    graph : Graph
        The old one, with specs.
    target : Target
    last : bool
        Whether blocks have all channels, which then are last.

    Attributes
    ----------
    passed_on : int
        How often a node took blocked what another gave blocked; conversions do not count.
    """

    def __init__(self, graph, target, last=False):
        self.graph, self.target, self.last = graph, target, last
        self.rewrite = Rewrite(graph)
        self._plain, self._blocked, self._given = set(), {}, set()
        self.passed_on = 0
        self.users = Users(graph)

    def keep(self, number):
        """Take over a node as it is, over plain inputs."""
        for entry in self.graph.nodes[number].inputs:
            self.plain(entry)
        self.rewrite.keep(number)
        self._plain.update((number, i) for i in range(len(self.graph.specs[number])))

    def put(self, number, new, blocked, index=0):
        """Let a new entry be an output of an old node, in one of the forms."""
        if blocked:
            self._blocked[number, index] = new
            self._given.add((number, index))
            self.rewrite.changed = True
        else:
            self.rewrite.replace((number, index), new)
            self._plain.add((number, index))

    def plain(self, entry):
        """The plain form of an old entry."""
        if entry not in self._plain:
            source = self._blocked[entry]
            shape = self.rewrite.spec(source).shape
            if shape[2:-1] == (1,) * len(shape[2:-1]):  # the same order of elements
                new = self.rewrite.add("Reshape", {"shape": plain_shape(shape)}, [source])
            else:
                new = self.rewrite.add("_from_blocked", {}, [source])
            self.rewrite.replace(entry, new)
            self._plain.add(entry)
        return self.rewrite.entry(entry)

    def is_blocked(self, entry):
        """Whether an old entry has a blocked form already."""
        return entry in self._blocked

    def can_block(self, entry):
        """Whether an old entry can have a blocked form."""
        shape = self.graph.spec(entry).shape
        block = self.target.block
        if not block or not 3 <= len(shape) <= 5:
            return False
        return shape[1] > 0 if self.last else shape[1] % block == 0

    def block(self, entry):
        """Channels of a block of an old entry."""
        return self.graph.spec(entry).shape[1] if self.last else self.target.block

    def blocked(self, entry):
        """The blocked form of an old entry."""
        if entry not in self._blocked:
            attrs = {"block": self.block(entry)}
            self._blocked[entry] = self.rewrite.add("_to_blocked", attrs, [self.plain(entry)])
        self.passed_on += entry in self._given
        return self._blocked[entry]

    def finish(self):
        """The new graph."""
        for entry in self.graph.outputs:
            self.plain(entry)
        return self.rewrite.finish()


def on_blocked(forms, number, attrs=None):
    """The same operator on blocked arrays, where one of its inputs is blocked already."""
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
    """An operator that treats every element alike, on blocked arrays of one shape."""
    graph = forms.graph
    node = graph.nodes[number]
    shape = graph.specs[number][0].shape
    if len(graph.specs[number]) != 1 or not all(
        graph.spec(entry).shape == shape and forms.can_block(entry) for entry in node.inputs
    ):
        return False
    return on_blocked(forms, number)
