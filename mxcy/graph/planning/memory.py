"""Memory planning: tensor offsets in one arena with reuse.

`sharing.py` determines which entries share memory, and the lifetime of each storage (the memory of
one or more entries). An allocator assigns buffers along these lifetimes, once per match range, and
the smallest result wins; if ranges of 16 and more are allowed, packing without fixed buffers
(`mxcy.graph.planning.packing`) is tried as well.
"""

from bisect import bisect_left, insort
from itertools import accumulate

from mxcy.graph.planning.packing import pack
from mxcy.graph.planning.sharing import Sharing

__all__ = ["Memory", "plan_memory", "match_ranges"]

_MATCH_RANGE = 16


class Memory:
    """A memory plan.

    Attributes
    ----------
    offsets : dict of (int, int) to int
        Byte offset of each entry in the arena.
    aliases : dict of (int, int) to (int, int)
        Entry that shares a variable's memory (an identity) -> the variable's entry.
    inplace : list of (int, int, int)
        (number of the node, input position, output index): the output reuses the input's memory.
    idle : set of int
        Numbers of the nodes that join their inputs in place, see `mxcy.graph.planning.joins`.
    buffers : list of int
        Size of each buffer in bytes, in the order of the arena.
    total : int
        Size of the arena in bytes.
    match_range : int or None
        The match range of this plan; None if the arena is one packed buffer.
    """

    def __init__(self, offsets, aliases, inplace, idle, buffers, match_range):
        self.offsets, self.aliases, self.inplace = offsets, aliases, inplace
        self.idle, self.buffers, self.match_range = idle, buffers, match_range
        self.total = sum(buffers)


def plan_memory(graph, calls, external, settings):
    """Plan the memory of a graph's entries.

    Parameters
    ----------
    graph : Graph
        A graph with specs.
    calls : sequence of Call
        The prepared call of each node (see `mxcy.ops.core.prepare`); None for variables.
    external : container of (int, int)
        Entries outside the arena. Variables always are; outputs provided by the caller and values
        that persist between runs must be listed.
    settings : dict
        Values of MXNET_EXEC_ENABLE_INPLACE, NNVM_EXEC_MATCH_RANGE and MXNET_EXEC_NUM_TEMP.

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
        entry: 0 if storage < 0 else begins[storage] + walk.within.get(entry, 0)
        for entry, storage in walk.storages.items()
    }
    return Memory(offsets, walk.aliases, walk.inplace, walk.idle, buffers, chosen)


def _sweep(walk, colours, most):
    """Find the smallest plan with buffers: storage offsets, buffers and match range."""
    best = None
    for match_range in match_ranges(most):
        places, buffers = _allocate(walk.events, walk.sizes, colours, match_range)
        if best is None or sum(buffers) < sum(best[1]):
            best = places, buffers, match_range
    assert best is not None  # there is always at least one range
    places, buffers, match_range = best
    begins = [0, *accumulate(buffers)]
    return [begins[place] for place in places], buffers, match_range


def match_ranges(most):
    """List the match ranges to try: 1, 2, 4, ... up to `most`, and `most` itself."""
    ranges = [0] if most == 0 else []
    step = 1
    while step < most:
        ranges.append(step)
        step *= 2
    return ranges if most == 0 else [*ranges, most]


def _allocate(events, sizes, colours, match_range):
    """Assign buffers: return the buffer of each storage, and the buffers' sizes.

    A free buffer of size b fits a request for n bytes if n / range <= b <= n * range: the smallest
    that is large enough is used, else the largest, which grows.
    """
    places, buffers = [0] * len(sizes), []
    free = {}  # colour of the node that freed it -> sorted list of (size, buffer)
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
    """Colour the nodes by up to `count` parallel paths; None for a single one.

    Repeatedly, the path with the most uncoloured nodes gets a colour; the remaining nodes share the
    last colour.
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
