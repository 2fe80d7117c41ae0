"""Plan where the tensors of a graph lie: one arena, memory given back and taken over on the way.

First the nodes are walked in order with counts of how often each entry is still read. That decides
which outputs share their inputs' memory, and when each storage (the memory of one entry, or of
several that share) begins and ends. Then an allocator hands out buffers along those begins and
ends, once for each match range, and the smallest result is kept; where ranges of 16 and more are
allowed, packing without fixed buffers (`mxcy.graph.packing`) is tried as well.
"""

from bisect import bisect_left, insort
from itertools import accumulate

from mxcy.graph.packing import pack

__all__ = ["Memory", "plan_memory", "match_ranges"]

_ALIGNMENT = 64
_MATCH_RANGE = 16


class Memory:
    """Where everything lies.

    Attributes
    ----------
    offsets : dict of (int, int) to int
        For each entry in the arena its byte offset.
    aliases : dict of (int, int) to (int, int)
        For entries that share a variable's memory (identities of variables): the variable's entry.
    inplace : list of (int, int, int)
        (number of the node, input position, output index): the output lies in the input's memory.
    buffers : list of int
        The bytes of each buffer, in the order they lie in the arena.
    total : int
        The bytes of the arena.
    match_range : int or None
        The range that gave this plan; None when the arena is one packed buffer.
    """

    def __init__(self, offsets, aliases, inplace, buffers, match_range):
        self.offsets, self.aliases, self.inplace = offsets, aliases, inplace
        self.buffers, self.match_range = buffers, match_range
        self.total = sum(buffers)


def plan_memory(graph, calls, external, settings):
    """Plan the memory of a graph's entries.

    Parameters
    ----------
    graph : Graph
        With specs.
    calls : sequence of Call
        For each node its prepared call (see `mxcy.ops.prepare`); None for variables.
    external : container of (int, int)
        The entries that lie outside the arena. Variables always do; outputs given by the caller,
        and whatever has to survive from run to run, have to be named.
    settings : dict
        MXNET_EXEC_ENABLE_INPLACE, NNVM_EXEC_MATCH_RANGE and MXNET_EXEC_NUM_TEMP are obeyed.

    Returns
    -------
    Memory
    """
    walk = _Walk(graph, calls, external, settings.get("MXNET_EXEC_ENABLE_INPLACE", True))
    colours = _colours(graph, settings.get("MXNET_EXEC_NUM_TEMP", 1))
    most = settings.get("NNVM_EXEC_MATCH_RANGE", _MATCH_RANGE)
    begins, buffers, chosen = _sweep(walk, colours, most)
    if most >= _MATCH_RANGE and colours is None:
        packed, total = pack(walk.events, walk.sizes)
        if total < sum(buffers):
            begins, buffers, chosen = packed, [total], None
    offsets = {
        entry: 0 if storage < 0 else begins[storage] for entry, storage in walk.storages.items()
    }
    return Memory(offsets, walk.aliases, walk.inplace, buffers, chosen)


def _sweep(walk, colours, most):
    """Offsets of the storages, buffers and match range of the smallest plan with buffers."""
    best = None
    for match_range in match_ranges(most):
        places, buffers = _allocate(walk.events, walk.sizes, colours, match_range)
        if best is None or sum(buffers) < sum(best[1]):
            best = places, buffers, match_range
    places, buffers, match_range = best
    begins = [0, *accumulate(buffers)]
    return [begins[place] for place in places], buffers, match_range


def match_ranges(most):
    """The match ranges to try: 1, 2, 4, ... up to `most`, and `most` itself."""
    found = [0] if most == 0 else []
    step = 1
    while step < most:
        found.append(step)
        step *= 2
    return found if most == 0 else [*found, most]


def _rounded(size):
    return -(-size // _ALIGNMENT) * _ALIGNMENT


class _Walk:
    """The walk over the nodes: who shares memory with whom, and when each storage begins and ends.

    Attributes
    ----------
    storages : dict of (int, int) to int
        The storage of each entry in the arena; -1 for empty tensors.
    sizes : list of int
        The bytes of each storage.
    events : list of (int, bool, int)
        (storage, whether it begins, number of the node), in order.
    """

    def __init__(self, graph, calls, external, enable):
        self._graph, self._external, self._enable = graph, external, enable
        self._left = _count_reads(graph)
        self._mutated = {entry for node in graph.nodes for entry in node.mutates()}
        self._users = []  # storage -> how often its entries are still read
        self.storages, self.sizes, self.events = {}, [], []
        self.aliases, self.inplace = {}, []
        for number, node in enumerate(graph.nodes):
            if node.op is not None:
                self._visit(number, node, calls[number])

    def _visit(self, number, node, call):
        outputs = [
            (number, index)
            for index in range(len(self._graph.specs[number]))
            if (number, index) not in self._external
        ]
        if outputs and outputs[0][1] == 0 and self._enable and self._share(outputs[0], node, call):
            del outputs[0]
        sized = [(self._graph.spec(entry).nbytes, entry) for entry in outputs]
        if len(sized) > 1:
            sized.sort(key=lambda pair: -pair[0])
        for size, entry in sized:
            self.storages[entry] = self._begin(number, size, self._left.get(entry, 0))
        done = [self.storages[entry] for entry in outputs if not self._left.get(entry)]
        ignored = node.op.ignored
        for position, entry in enumerate(node.inputs):
            if position not in ignored:
                storage = self.storages.get(entry, -1)
                if storage >= 0:
                    self._users[storage] -= 1
                    if not self._users[storage]:
                        done.append(storage)
        for storage in done:
            if storage >= 0:
                self.events.append((storage, False, number))

    def _begin(self, number, size, reads):
        """A new storage; returns its number, or -1 when there is nothing to store."""
        if not size:
            return -1
        self.sizes.append(_rounded(size))
        self._users.append(reads)
        self.events.append((len(self.sizes) - 1, True, number))
        return len(self.sizes) - 1

    def _share(self, output, node, call):
        """Put a node's first output into an input's memory if that is possible."""
        if not node.inputs:
            return False
        if node.op.identity and self._join(output, node):
            return True
        if call.kernel is None and (len(call.outs) > 1 or node.mutates()):
            return False  # references may return views of what the first result overwrites
        spec, ignored = self._graph.spec(output), node.op.ignored
        mutated = node.op.mutated(len(node.inputs))
        positions = range(len(node.inputs)) if call.inplace else call.overwrites
        for position in positions:
            entry = node.inputs[position]
            storage = self.storages.get(entry, -1)
            if storage < 0 or position in ignored or position in mutated:
                continue
            reads = sum(other == entry for other in node.inputs) if call.inplace else 1
            source = self._graph.spec(entry)
            if (
                self._users[storage] == reads
                and source.size == spec.size
                and source.nbytes == spec.nbytes
            ):
                self._put(output, storage, position)
                return True
        return False

    def _join(self, output, node):
        """Let the output of an identity be its input: both are read, neither is written."""
        entry = node.inputs[0]
        if output in self._mutated or entry in self._mutated:
            return False
        variable = self.aliases.get(entry, entry)
        if self._graph.nodes[variable[0]].op is None:
            if variable in self._mutated:
                return False
            self.aliases[output] = variable
            self.inplace.append((output[0], 0, 0))
            return True
        storage = self.storages.get(entry, -1)
        if storage < 0:
            return False
        self._put(output, storage, 0)
        return True

    def _put(self, output, storage, position):
        self.storages[output] = storage
        self._users[storage] += self._left.get(output, 0)
        self.inplace.append((output[0], position, output[1]))


def _count_reads(graph):
    """How often each entry is read; outputs of the graph count once more."""
    found = {}
    for node in graph.nodes:
        if node.op is not None:
            ignored = node.op.ignored
            for position, entry in enumerate(node.inputs):
                if position not in ignored:
                    found[entry] = found.get(entry, 0) + 1
    for entry in graph.outputs:
        found[entry] = found.get(entry, 0) + 1
    return found


def _allocate(events, sizes, colours, match_range):
    """Hand out buffers: for each storage the number of its buffer, and the buffers' sizes.

    A free buffer of size b serves a request for n bytes when n / range <= b <= n * range: the
    smallest that is large enough, else the largest, which grows.
    """
    places, buffers = [0] * len(sizes), []
    free = {}  # colour of the node that gave it back -> sorted list of (size, buffer)
    for storage, begins, number in events:
        pool = free.setdefault(colours[number] if colours else 0, [])
        if not begins:
            if match_range:
                insort(pool, (buffers[places[storage]], places[storage]))
            continue
        size = sizes[storage]
        at = bisect_left(pool, (size, -1))
        if at < len(pool) and pool[at][0] <= size * match_range:
            buffer = pool.pop(at)[1]
        elif at > 0 and pool[at - 1][0] * match_range >= size:
            buffer = pool.pop(at - 1)[1]
            buffers[buffer] = size
        else:
            buffer = len(buffers)
            buffers.append(size)
        places[storage] = buffer
    return places, buffers


def _colours(graph, count):
    """Group the nodes into `count` paths that can run at the same time; None for a single group.

    Again and again the path with the most nodes that have no colour yet gets one; the rest shares
    the last colour.
    """
    if count <= 1:
        return None
    colours = [count - 1] * len(graph.nodes)
    fresh = [node.op is not None for node in graph.nodes]
    for colour in range(count - 1):
        reach, before = [], []
        for number, node in enumerate(graph.nodes):
            longest = max((source for source, _ in node.inputs), key=reach.__getitem__, default=-1)
            before.append(longest)
            reach.append(fresh[number] + (reach[longest] if longest >= 0 else 0))
        number = max(range(len(reach)), key=reach.__getitem__, default=-1)
        while number >= 0:
            if fresh[number]:
                colours[number], fresh[number] = colour, False
            number = before[number]
    return colours
