"""Batches in portions: layers on large images run for as many samples as the caches hold.

The first layers of an image network compute large arrays. Those of a whole batch go to memory and
come back between two layers; those of a few samples stay in the caches. The layers' weights, which
each portion reads again, are small. The parts of the last results are computed in their places.
"""

from mxcy.graph.analysis.users import Users
from mxcy.graph.planning.plan import ONCE
from mxcy.graph.rewrite import Rewrite
from mxcy.ops.core.record import find

__all__ = ["run"]

_SLICE, _CONCAT = find("slice_axis"), find("Concat")
# Bytes per thread, as cores bring their caches along:
_MOST = 6 << 20  # of a layer's data and result that pass between layers in the caches
_PORTION = 4 << 20  # the same of a portion


def run(graph, target):
    """Divide the batch of the leading layers up to the last one whose arrays are too large."""
    if not target.block or any(n.mutates() and not n.op.repeatable for n in graph.nodes):
        return graph
    region = _Region(graph)
    traffic = {number: region.traffic(number) for number in region.positions}
    most = target.threads * _MOST
    large = [number for number, size in traffic.items() if size > most]
    largest = max(traffic.values(), default=0)
    if not large or region.batch < 2 or largest > region.batch * most:  # not even one sample fits
        return graph
    region.end(large[-1])
    count = _count(region.batch, largest, target.threads * _PORTION)
    return _Division(graph, region, count).run()


def _count(batch, largest, portion):
    """The number of portions, all of the same size, whose largest traffic fits."""
    least = min(batch, -(-largest // portion))
    return next(count for count in range(least, batch + 1) if batch % count == 0)


class _Region:
    """The layers that compute each sample of a batch from the same sample of the data.

    Attributes
    ----------
    batch : int
        The number of samples.
    positions : dict of int to tuple of int
        For each node, in order, the positions of the inputs with samples.
    """

    def __init__(self, graph):
        self._graph, self.batch, self.positions = graph, 0, {}
        self._users = Users(graph)
        self._behind = set()  # nodes that depend on those of the region
        for number, node in enumerate(graph.nodes):
            if node.op is None:
                continue
            sources = {source for source, _ in node.inputs}
            positions = self._positions(number, node)
            if positions and not sources & self._behind:
                self.positions[number] = positions
                self.batch = graph.specs[number][0].shape[0]
            elif sources & (self._behind | self.positions.keys()):
                self._behind.add(number)

    def _positions(self, number, node):
        """Where a node reads samples; empty if it is no layer of the region."""
        graph = self._graph
        ins = [graph.spec(entry) for entry in node.inputs]
        read = {p for p, (source, _) in enumerate(node.inputs) if source in self.positions}
        if node.op.batched is not None:
            positions = tuple(node.op.batched(node.attrs, ins))
        else:  # begins no region: its operands may be weights
            pointwise = read and node.op.pointwise(node.attrs) is not None
            positions = tuple(range(len(ins))) if pointwise else ()
        out = graph.specs[number][0].shape
        others = any(output for _, _, output in self._users[number])
        if others or len(out) < 3 or ONCE in node.extra or not read <= set(positions):
            return ()
        begin = (self.batch or out[0], len(out))
        shapes = (out, *(ins[p].shape for p in positions))
        return positions if all((s[0], len(s)) == begin for s in shapes if s) else ()

    def traffic(self, number):
        """The bytes of the samples that a node reads and writes."""
        graph, inputs = self._graph, self._graph.nodes[number].inputs
        read = sum(graph.spec(inputs[p]).nbytes for p in self.positions[number])
        return read + graph.specs[number][0].nbytes

    def end(self, last):
        """Leave out the layers behind a node."""
        self.positions = {n: positions for n, positions in self.positions.items() if n <= last}


class _Division:
    """The new graph: what the region reads, its layers once per portion, and what reads it."""

    def __init__(self, graph, region, count):
        self._graph, self._region, self._count = graph, region, count
        self._rewrite = Rewrite(graph)
        self._parts = {}  # (old entry, portion) -> new entry
        self._size = region.batch // count

    def run(self):
        rewrite, region = self._rewrite, self._region
        later = set(region.positions)
        for number, node in rewrite.visit():
            if any(source in later for source, _ in node.inputs):
                later.add(number)
            elif number not in later:
                rewrite.keep(number)
        for portion in range(self._count):
            for number in region.positions:
                self._layer(number, portion)
        self._join()
        for number in sorted(later - region.positions.keys()):
            rewrite.keep(number)
        return rewrite.finish()

    def _layer(self, number, portion):
        node = self._graph.nodes[number]
        inputs = [
            self._part(entry, portion)
            if position in self._region.positions[number]
            else self._rewrite.entry(entry)
            for position, entry in enumerate(node.inputs)
        ]
        new = self._rewrite.add(node.op, node.attrs, inputs, node.name, node.extra)
        self._parts[(number, 0), portion] = new

    def _part(self, entry, portion):
        """The new entry with the samples of a portion."""
        if (entry, portion) not in self._parts:
            begin = portion * self._size
            attrs = {"axis": 0, "begin": begin, "end": begin + self._size}
            source = self._rewrite.entry(entry)
            self._parts[entry, portion] = self._rewrite.add(_SLICE, attrs, [source])
        return self._parts[entry, portion]

    def _join(self):
        """Concatenate the results that are read outside the region."""
        users = Users(self._graph)
        for number in self._region.positions:
            if any(user not in self._region.positions for user, _, _ in users[number]):
                parts = [self._parts[(number, 0), portion] for portion in range(self._count)]
                self._rewrite.replace((number, 0), self._rewrite.add(_CONCAT, {"dim": 0}, parts))
