"""Plan where the tensors of a graph lie: one arena, memory given back and taken over on the way.

`sharing.py` tells which entries share their memory, and when each storage (the memory of
one entry, or of several) begins and ends. An allocator hands out buffers along those begins and
ends, once for each match range, and the smallest result is kept; where ranges of 16 and more are
allowed, packing without fixed buffers (`mxcy.graph.planning.packing`) is tried as well.
"""

from bisect import bisect_left, insort
from itertools import accumulate

from mxcy.graph.planning.packing import pack
from mxcy.graph.planning.sharing import Sharing

__all__ = ["Memory", "plan_memory", "match_ranges"]

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
        For each node its prepared call (see `mxcy.ops.core.prepare`); None for variables.
    external : container of (int, int)
        The entries that lie outside the arena. Variables always do; outputs given by the caller,
        and whatever has to survive from run to run, have to be named.
    settings : dict
        MXNET_EXEC_ENABLE_INPLACE, NNVM_EXEC_MATCH_RANGE and MXNET_EXEC_NUM_TEMP are obeyed.

    Returns
    -------
    Memory
    """
    walk = Sharing(graph, calls, external, settings.get("MXNET_EXEC_ENABLE_INPLACE", True))
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
    assert best is not None  # there is always a range to try
    places, buffers, match_range = best
    begins = [0, *accumulate(buffers)]
    return [begins[place] for place in places], buffers, match_range


def match_ranges(most):
    """The match ranges to try: 1, 2, 4, ... up to `most`, and `most` itself."""
    ranges = [0] if most == 0 else []
    step = 1
    while step < most:
        ranges.append(step)
        step *= 2
    return ranges if most == 0 else [*ranges, most]


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
