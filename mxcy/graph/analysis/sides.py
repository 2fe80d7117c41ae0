"""Memory layouts of matrix products' operands after eliminating moves before and after them."""

from mxcy.graph.analysis.views import View, moved
from mxcy.ops.matrix.strided_dot import Products

__all__ = ["Side", "moves_after", "moves_before", "product_of", "shared_arrays"]


class Side:
    """An operand or result of matrix products: an entry and the layout of the matrices in it.

    Attributes
    ----------
    usable : bool
        Whether `place` can express the layout: at most two loops over the matrices, and at most one
        each over rows and over columns, one of which is contiguous.
    groups : tuple of (int, int)
        The loops over the matrices.
    rows, columns : int
        Strides of rows and columns.
    """

    def __init__(self, entry, size, view, extents, gains=False):
        self.entry, self.offset, self.gains = entry, view.offset, gains
        self.whole = size == view.size
        cut = view.cut(extents)
        self.usable = cut is not None and len(cut[0]) <= 2 and max(map(len, cut[1:])) <= 1
        if self.usable:
            self.groups = cut[0]
            self.rows, self.columns = (loops[0][1] if loops else 1 for loops in cut[1:])
            self.usable = 1 in (self.rows, self.columns)

    @property
    def repeats(self):
        """Whether elements are shared by several rows or matrices."""
        return self.rows == 0 or any(step == 0 for _, step in self.groups)

    def packed(self, rows, columns):
        """Whether the array is a contiguous stack of matrices, possibly transposed."""
        if not self.whole or len(self.groups) > 1:
            return False
        if self.groups and self.groups[0][1] != rows * columns:
            return False
        return (self.rows, self.columns) in ((columns, 1), (1, rows))

    def place(self, outer, inner):
        """The strides for these loops over matrices; None if the loops differ."""
        loops = View(self.groups).cut((outer, inner))
        if loops is None or max(map(len, loops)) > 1:
            return None
        steps = [strides[0][1] if strides else 0 for strides in loops]
        return (self.offset, *steps, self.rows, self.columns)


def _moved(graph, barred, number, index=0):
    """The View of its input that a node is, or None if it computes something."""
    node = graph.nodes[number]
    if node.op is None or any(entry in barred for entry in node.inputs):
        return None
    ins = [graph.spec(entry) for entry in node.inputs]
    return moved(node.op, node.attrs, ins, graph.specs[number], index)


def moves_before(graph, barred, entry, view, extents, transposed=False):
    """Find possible sides for an operand, farthest from the product first.

    Parameters
    ----------
    graph : Graph
    barred : set of (int, int)
        Entries that must not be read later.
    entry : (int, int)
        The entry that the product reads.
    view : View
        The view of that entry.
    extents : (int, int, int)
        Numbers of matrices, rows and columns.
    transposed : bool
        Whether to swap rows and columns of the sides.
    """
    gains, sides = False, []
    while view is not None:
        side = Side(entry, graph.spec(entry).size, view, extents, gains)
        if side.usable:
            if transposed:
                side.rows, side.columns = side.columns, side.rows
            sides.append(side)
        step = _moved(graph, barred, *entry)
        view = None if step is None else step.of(view)
        if view is not None:
            source = graph.nodes[entry[0]]
            gains, entry = gains or not source.op.identity, source.inputs[0]
    return sides[::-1]


def moves_after(graph, users, barred, number, view, extents):
    """Find possible sides for a result, nearest first; each entry is of a node to replace.

    `view` is the result of node `number` as a view of the stacked matrices, all of whose elements
    it contains.
    """
    size = graph.specs[number][0].size
    sides = [Side((number, 0), size, view.inverse(), extents)]
    after = users.only(number)
    while after is not None and len(graph.specs[after]) == 1:
        step = _moved(graph, barred, after)
        onward = None if step is None or step.size != size else view.of(step)
        back = None if onward is None else onward.inverse()
        if onward is None or back is None:
            break
        view = onward
        if not graph.nodes[after].op.identity:
            side = Side((after, 0), size, back, extents, True)
            if side.usable:
                sides.append(side)
        after = users.only(after)
    return sides


# --- shared arrays --------------------------------------------------------------------------------


def shared_arrays(inputs, places, groups, rows, columns):
    """Assign each of three sides an array: sides in the same array must not overlap.

    Parameters
    ----------
    inputs : sequence of Side
    places : sequence of tuple
        Places of the sides.
    groups : (int, int)
        Loops over the matrices.
    rows, columns : sequence of int
        Matrix dimensions of each side.

    Returns
    -------
    (int, int, int)
    """
    entries = [side.entry for side in inputs]
    parts = list(zip(places, rows, columns, strict=True))
    if len(set(entries)) == 1 and _apart(parts, groups):
        return (0, 0, 0)
    for one, other, sources in ((1, 2, (0, 1, 1)), (0, 1, (0, 0, 1)), (0, 2, (0, 1, 0))):
        if entries[one] == entries[other] and _apart([parts[one], parts[other]], groups):
            return sources
    return (0, 1, 2)


def _apart(parts, groups):
    """Whether matrices in the same array do not overlap.

    This is known for sides with equal layouts at equal distances: the distance is then another
    loop, and loops whose stride exceeds the inner span visit no element twice.
    """
    offsets = sorted(place[0] for place, _, _ in parts)
    distance = offsets[1] - offsets[0]
    alike = {(place[1:], rows, columns) for place, rows, columns in parts}
    if len(alike) != 1 or offsets[-1] - offsets[0] != distance * (len(parts) - 1):
        return False
    ((_, outer, inner, row, column), rows, columns), *_ = parts
    extents = (*groups, rows, columns, len(parts))
    loops = sorted(zip((outer, inner, row, column, distance), extents, strict=True))
    reach = 1
    for step, extent in loops:
        if extent == 1:
            continue
        if step < reach:
            return False
        reach = step * extent
    return True


# --- products ------------------------------------------------------------------------------------


def product_of(graph, number):
    """The matrix products of a node and the positions of their operands.

    Determined from the kernels to which operators are lowered.

    Returns
    -------
    (Products, int, int) or None
    """
    node = graph.nodes[number]
    if node.op is None:
        return None
    ins, outs = [graph.spec(entry) for entry in node.inputs], graph.specs[number]
    if len(ins) > 2 or not all(spec.known and spec.size for spec in (*ins, *outs)):
        return None
    for kernel in node.op.kernels:
        lowered = _LOWERED.get(kernel.name) if isinstance(kernel.name, str) else None
        if lowered is not None and not (kernel.when and kernel.when(node.attrs, ins, outs)):
            return lowered(kernel.params(node.attrs, ins, outs))
    return None


def _of_strided(p):
    places = [
        (offset, outer, inner, row, 1)
        for offset, outer, inner, row in zip(
            p["offset"], p["outer_step"], p["inner_step"], p["row"], strict=True
        )
    ]
    transposed = (p["transpose_lhs"], p["transpose_rhs"], False)
    places = [
        (*place[:3], place[4], place[3]) if swap else place
        for place, swap in zip(places, transposed, strict=True)
    ]
    sizes = tuple(p[name] for name in ("outer", "inner", "m", "n", "k"))
    lhs, rhs, out = places
    return Products(sizes, lhs, rhs, out, p["scale"]), p["lhs"], p["rhs"]


def _of_stacked(p):
    m, n, k = p["m"], p["n"], p["k"]
    lhs = 0, 0, m * k, *((1, m) if p["transpose_a"] else (k, 1))
    rhs = 0, 0, k * n, *((1, k) if p["transpose_b"] else (n, 1))
    out = 0, 0, m * n, n, 1
    return Products((1, p["batch"], m, n, k), lhs, rhs, out, p["alpha"]), 0, 1


_LOWERED = {"strided_dot": _of_strided, "gemm": _of_stacked}
