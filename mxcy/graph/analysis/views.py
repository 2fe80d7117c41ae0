"""Strided views: arrays whose elements are those of another array in nested-loop order.

Transposes, reshapes, slices and splits only move elements, so a consumer that reads with strides
can skip them. The kernels to which operators are lowered determine the view.
"""

import math

from mxcy.ops.shape.strided import NOTHING, strides_of

__all__ = ["View", "moved"]


class View:
    """Maps element i of an array to element ``offset + sum(index * step)`` of a flat array.

    The indices are those of nested loops over i, outermost first. Loops of length one are dropped,
    and mergeable loops are merged.

    Parameters
    ----------
    loops : sequence of (int, int)
        Length and step of each loop.
    offset : int
    """

    __slots__ = ("loops", "offset")

    def __init__(self, loops, offset=0):
        merged: list = []
        for rounds, step in loops:
            if merged and merged[-1][1] == rounds * step:
                merged[-1] = (merged[-1][0] * rounds, step)
            elif rounds != 1:
                merged.append((rounds, step))
        self.loops, self.offset = tuple(merged), offset

    @property
    def size(self):
        """The number of elements."""
        return math.prod(rounds for rounds, _ in self.loops)

    def of(self, inner):
        """Compose with a view of this view's elements; None if loops cannot express it."""
        below = strides_of([rounds for rounds, _ in self.loops])
        places = list(zip(self.loops, below, strict=True))
        reached, offset, remaining = [], self.offset, inner.offset
        for (_, step), unit in places:
            reached.append(remaining // unit)
            offset += remaining // unit * step
            remaining %= unit
        loops = []
        for rounds, stride in inner.loops:
            pieces = self._walk(places, reached, rounds, stride)
            if pieces is None:
                return None
            loops += pieces
        if any(last >= rounds for last, (rounds, _) in zip(reached, self.loops, strict=True)):
            return None  # the loops would carry into each other
        return View(loops, offset)

    def _walk(self, places, reached, rounds, stride):
        """The loops equivalent to one loop over this view's elements."""
        level = next((i for i, (_, unit) in enumerate(places) if 0 < unit <= stride), None)
        if level is None or stride % places[level][1]:
            return None
        every, pieces = stride // places[level][1], []
        while rounds > 1:
            if level < 0:
                return None
            (extent, step), _ = places[level]
            fits = -(-(extent - reached[level]) // every)
            if rounds > fits and (reached[level] or extent % every or rounds % fits):
                return None
            here = min(rounds, fits)
            pieces.append((here, step * every))
            reached[level] += (here - 1) * every
            rounds, level, every = rounds // here, level - 1, 1
        return pieces[::-1]

    def inverse(self):
        """The inverse permutation; None if this view does not have all elements."""
        own = strides_of([rounds for rounds, _ in self.loops])
        order = sorted(range(len(own)), key=lambda i: -self.loops[i][1])
        back = [(self.loops[i][0], own[i]) for i in order]
        steps = [self.loops[i][1] for i in order]
        if self.offset or steps != strides_of([rounds for rounds, _ in back]):
            return None
        return View(back)

    def cut(self, extents):
        """The loops of each dimension of a shape, outermost first; None if a loop spans two."""
        cuts, loops = [], list(self.loops)
        for extent in reversed(extents):
            here: list = []
            while extent > 1:
                rounds, step = loops.pop()
                part = math.gcd(rounds, extent)
                if part != min(rounds, extent):
                    return None
                here.insert(0, (part, step))
                extent //= part
                if part < rounds:
                    loops.append((rounds // part, step * part))
            cuts.insert(0, View(here).loops)
        return cuts


def moved(op, attrs, ins, outs, index=0):
    """The View of its only input that an operator's output is; None if it is not a move.

    Parameters
    ----------
    op : Op
    attrs : Attrs
    ins, outs : list of Spec
        Complete specs.
    index : int
        Index of the output.

    Returns
    -------
    View or None
    """
    if len(ins) != 1 or not ins[0].size:
        return None
    if op.identity and len(outs) == 1:
        return View([(ins[0].size, 1)])
    for kernel in op.kernels:
        if kernel.name == "copy_loops" and not (kernel.when and kernel.when(attrs, ins, outs)):
            return _looped(kernel.params(attrs, ins, outs), outs[0])
        if kernel.name == "split":
            rows = kernel.params(attrs, ins, outs)["rows"]
            columns = [spec.size // rows for spec in outs]
            return View([(rows, sum(columns)), (columns[index], 1)], sum(columns[:index]))
    return None


def _looped(p, out):
    """The view of a copy that writes its output in order with nonnegative strides."""
    in_order = list(p["dst"]) == strides_of(p["shape"]) and p["dst_offset"] == 0
    if p["before"] != NOTHING or p["source"] != 0 or not in_order:
        return None
    if min(p["src"], default=1) < 1 or math.prod(p["shape"]) != out.size:
        return None
    return View(list(zip(p["shape"], p["src"], strict=True)), p["src_offset"])
