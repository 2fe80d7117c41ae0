"""Regions: connected operators of a symbol that become one node `_CachedOp` with a subgraph.

A region may become one node only if no path leaves and re-enters it. Levels ensure this: they never
decrease along an edge, and increase from a region to every other reader of its results, so a path
that leaves a region's level cannot return.
"""

from collections import Counter

from mxcy.graph.control import CACHED_OP
from mxcy.graph.json import dumps
from mxcy.graph.node import SymbolNode, output_name, topological

__all__ = ["enclose"]


def enclose(entries, chosen):
    """Replace connected operators by nodes with subgraphs, modifying nodes in place.

    Parameters
    ----------
    entries : list of (SymbolNode, int)
        Entries of nodes that are not shared.
    chosen : callable
        ``chosen(node)``: whether an operator may be in a region.

    Returns
    -------
    list of (SymbolNode, int)
    """
    order = topological(entries)
    search = _Search(order, chosen)
    for node in order:
        search.visit(node)
    regions = search.regions(order)
    home = {id(node): region for region in regions for node in region}
    used = _used_outside(order, entries, home)
    moved = {}  # entry of a member -> entry of its region's node
    enclosing = [_node(members, number, used, moved) for number, members in enumerate(regions)]
    for node in (*order, *enclosing):
        node.inputs = [moved.get((id(source), i), (source, i)) for source, i in node.inputs]
    return [moved.get((id(node), index), (node, index)) for node, index in entries]


def _used_outside(order, entries, home):
    """The entries, as (id of a node, output), that are read outside their node's region."""
    used = {(id(node), index) for node, index in entries}
    for node in order:
        own = home.get(id(node))
        for source, index in node.inputs:
            if own is None or home.get(id(source)) is not own:
                used.add((id(source), index))
    return used


def _node(members, number, used, moved):
    """Make the node of a region; note in `moved` which of its outputs replaces which entry."""
    copies, variables, outer = {}, {}, {}
    counts: Counter = Counter()  # of the inputs with a name

    def inner(entry):
        source, index = entry
        if id(source) in copies:
            return copies[id(source)], index
        key = (id(source), index)
        if key not in variables:
            name = output_name(source, index)
            counts[name] += 1
            variables[key] = SymbolNode(None, f"{name}{counts[name] - 1}")
            outer[id(variables[key])] = entry
        return variables[key], 0

    for node in members:
        inputs = [inner(entry) for entry in node.inputs]
        copies[id(node)] = SymbolNode(node.op, node.name, node.attrs, inputs)
    results = [
        (id(node), index)
        for node in members
        for index in range(len(node.outputs()))
        if (id(node), index) in used
    ]
    heads = [(copies[key], index) for key, index in results]
    inputs = [outer[id(node)] for node in topological(heads) if node.op is None]
    body = {"body": dumps(heads, remove_amp_cast=False)}
    enclosing = SymbolNode(CACHED_OP, f"{CACHED_OP.name}{number}", body, inputs)
    moved.update((entry, (enclosing, place)) for place, entry in enumerate(results))
    return enclosing


class _Region:
    """Members, their level, and how often other nodes read their results."""

    __slots__ = ("level", "members", "reads")

    def __init__(self, node, level, reads):
        self.members, self.level, self.reads = [node], level, reads


class _Search:
    """Levels and regions, found node by node in topological order."""

    def __init__(self, order, chosen):
        self._chosen = chosen
        self._home = {}  # id of a node -> its _Region
        self._levels = {}  # id of a node outside regions -> its level
        self._reads = dict.fromkeys(map(id, order), 0)
        for node in order:
            for source, _ in node.inputs:
                self._reads[id(source)] += 1

    def regions(self, order):
        """The members of each region in topological order; regions by their first members."""
        place = {id(node): number for number, node in enumerate(order)}
        found = {id(region): region.members for region in self._home.values()}
        sorted_ones = (sorted(m, key=lambda node: place[id(node)]) for m in found.values())
        return sorted(sorted_ones, key=lambda members: place[id(members[0])])

    def visit(self, node):
        """Find the level of a node or the region it belongs to."""
        if node.op is None or not self._chosen(node):
            after = (self._level(s) + (id(s) in self._home) for s, _ in node.inputs)
            self._levels[id(node)] = max(after, default=0)
            return
        level = max((self._level(source) for source, _ in node.inputs), default=0)
        own = _Region(node, level, self._reads[id(node)])
        self._home[id(node)] = own
        homes = [self._home.get(id(source)) for source, _ in node.inputs]
        for region in {id(home): home for home in homes if home is not None}.values():
            count = homes.count(region)
            if region.level == level or region.reads == count:  # nothing else reads it: it can wait
                own = self._merge(own, region, count)

    def _level(self, node):
        home = self._home.get(id(node))
        return self._levels[id(node)] if home is None else home.level

    def _merge(self, own, other, count):
        """Merge the region of a node with one that it reads `count` times."""
        large, small = sorted((own, other), key=lambda region: -len(region.members))
        large.reads, large.level = own.reads + other.reads - count, own.level
        large.members += small.members
        for node in small.members:
            self._home[id(node)] = large
        return large
