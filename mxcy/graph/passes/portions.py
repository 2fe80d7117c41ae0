"""Batches in portions: layers on large images run for as many samples as the caches hold.

The first layers of an image network compute large arrays. Those of a whole batch go to memory and
come back between two layers; those of a few samples stay in the caches. Later layers have smaller
arrays and more weights, which each portion reads again, so their portions have more samples. The
parts of results are computed in their places.
"""

from mxcy.graph.analysis.casts import CASTS
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
    if region.returned() > largest:  # goes to memory in any case
        return graph
    region.end(large[-1])
    return _Division(graph, region, _stages(region, traffic, target.threads * _PORTION)).run()


def _stages(region, traffic, portion):
    """The layers in order, in stages with ever larger portions, as arrays become smaller.

    A stage is the number of portions, all of the same size, whose largest traffic fits, and its
    layers. The number is a multiple of the next stage's.
    """
    stages, ahead, largest, last_concat = [], {}, 0, region.last_concat()
    for number in reversed(region.positions):
        largest = max(largest, traffic[number])
        ahead[number] = largest
    for number in region.positions:
        before = stages[-1][0] if stages else region.batch
        most = largest if number <= last_concat else ahead[number]
        least = min(before, -(-most // portion))
        count = next(n for n in range(least, before + 1) if before % n == 0)
        if not stages or count < before:
            stages.append((count, []))
        stages[-1][1].append(number)
    return stages


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
            pointwise = read and (node.op in CASTS or node.op.pointwise(node.attrs) is not None)
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

    def returned(self):
        """The bytes that the graph returns from the region."""
        outputs = {entry for entry in self._graph.outputs if entry[0] in self.positions}
        return sum(self._graph.spec(entry).nbytes for entry in outputs)

    def end(self, last):
        """Leave out the layers behind a node."""
        self.positions = {n: positions for n, positions in self.positions.items() if n <= last}

    def last_concat(self):
        """The last node that concatenates channels: in place, if its portion is one sample."""
        return max((n for n in self.positions if self._graph.nodes[n].op is _CONCAT), default=-1)


class _Division:
    """The new graph: what the region reads, its layers once per portion, and what reads it."""

    def __init__(self, graph, region, stages):
        self._graph, self._region, self._stages = graph, region, stages
        self._rewrite = Rewrite(graph)
        self._stage_of = {n: stage for stage, (_, layers) in enumerate(stages) for n in layers}
        self._parts = {}  # (old entry, stage, portion) -> new entry

    def run(self):
        rewrite, region = self._rewrite, self._region
        later = set(region.positions)
        for number, node in rewrite.visit():
            if any(source in later for source, _ in node.inputs):
                later.add(number)
            elif number not in later:
                rewrite.keep(number)
        last = len(self._stages) - 1
        for portion in range(self._stages[last][0]):
            self._portion(last, portion)
        self._join()
        for number in sorted(later - region.positions.keys()):
            rewrite.keep(number)
        return rewrite.finish()

    def _portion(self, stage, portion):
        """Add the layers of a stage for one portion, after those of earlier stages for it."""
        if stage:
            for part in self._within(stage - 1, stage, portion):
                self._portion(stage - 1, part)
        for number in self._stages[stage][1]:
            self._layer(number, stage, portion)

    def _within(self, earlier, stage, portion):
        """The portions of an earlier stage that have the samples of a portion."""
        ratio = self._stages[earlier][0] // self._stages[stage][0]
        return range(portion * ratio, (portion + 1) * ratio)

    def _layer(self, number, stage, portion):
        node = self._graph.nodes[number]
        inputs = [
            self._part(entry, stage, portion)
            if position in self._region.positions[number]
            else self._rewrite.entry(entry)
            for position, entry in enumerate(node.inputs)
        ]
        new = self._rewrite.add(node.op, node.attrs, inputs, node.name, node.extra)
        self._parts[(number, 0), stage, portion] = new

    def _part(self, entry, stage, portion):
        """The new entry with the samples of a portion."""
        key = entry, stage, portion
        if key not in self._parts:
            earlier = self._stage_of.get(entry[0])
            if earlier is None:
                size = self._region.batch // self._stages[stage][0]
                attrs = {"axis": 0, "begin": portion * size, "end": (portion + 1) * size}
                source = self._rewrite.entry(entry)
                self._parts[key] = self._rewrite.add(_SLICE, attrs, [source])
            else:
                parts = self._within(earlier, stage, portion)
                self._parts[key] = self._joined(entry, earlier, parts)
        return self._parts[key]

    def _joined(self, entry, stage, portions):
        parts = [self._parts[entry, stage, portion] for portion in portions]
        return self._rewrite.add(_CONCAT, {"dim": 0}, parts)

    def _join(self):
        """Concatenate the results that are read outside the region."""
        users = Users(self._graph)
        for number, stage in self._stage_of.items():
            if any(user not in self._region.positions for user, _, _ in users[number]):
                portions = range(self._stages[stage][0])
                self._rewrite.replace((number, 0), self._joined((number, 0), stage, portions))
