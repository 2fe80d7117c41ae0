"""Strided matrix products: batched products absorb moves of their operands and results.

Transposes, reshapes, slices and splits between attention's projections and its products (Vaswani et
al., 2017) become strides, as do those of the results; a factor of the results is absorbed as well.
For contiguous stacks of matrices, a transpose becomes an attribute of `batch_dot`, or of
`_linalg_gemm2` with a factor. Only the last of several moves of a result may have several users.
"""

from itertools import product as combinations

from mxcy._base.dtypes import CODES
from mxcy.graph.analysis.sides import moves_after, moves_before
from mxcy.graph.analysis.users import Users
from mxcy.graph.analysis.views import View
from mxcy.graph.rewrite import Rewrite
from mxcy.ops.core.record import find
from mxcy.ops.matrix.strided_dot import Products

__all__ = ["run"]

_FLOATS = (CODES["float32"], CODES["float64"])
_BATCH_DOT = find("batch_dot")


def run(graph, target):
    """Fold moves into products as far as the settings allow."""
    settings = target.settings
    self_attention = not settings["MXNET_DISABLE_ONEDNN_TRANSFORMER_OPT"]
    plain = not settings["MXNET_DISABLE_ONEDNN_BATCH_DOT_FUSE"]
    products: dict = {}
    if self_attention or plain:
        # Written variables must be read before; products' results may exist only moved.
        users, barred = Users(graph), {e for node in graph.nodes for e in node.mutates()}
        for number, node in enumerate(graph.nodes):
            if node.op is _BATCH_DOT and _fits(graph, number):
                product = _Product(graph, users, barred, number, self_attention)
                if product.gains and (self_attention if product.strided else plain):
                    products[product.last] = product
                    barred.update((inner, 0) for inner in product.replaced)
    if not products:
        return graph
    inner = {number for product in products.values() for number in product.replaced}
    rewrite = Rewrite(graph)
    for number, _ in rewrite.visit():
        if number in products:
            rewrite.replace((number, 0), products[number].emit(rewrite))
        elif number not in inner:
            rewrite.keep(number)
    return rewrite.finish()


def _fits(graph, number):
    """Whether a product's specs are known and its dtype supports strided products."""
    specs = [graph.spec(entry) for entry in graph.nodes[number].inputs]
    specs.append(graph.specs[number][0])
    return all(spec.known and spec.size and spec.dtype in _FLOATS for spec in specs)


def _factor(node):
    """The scalar by which a node multiplies its input, or None.

    Zero is excluded, because of infinite results.
    """
    return (node.op.factor(node.attrs) or None) if node.op.factor is not None else None


class _Product:
    """A `batch_dot`, the moves before and after it, and their replacement.

    Attributes
    ----------
    gains : bool
        Whether the replacement saves anything.
    strided : bool
        Whether matrices are not contiguous stacks.
    last : int
        The node whose output the new one computes.
    replaced : list of int
        The nodes to remove, except those before the operands, which others may use.
    """

    def __init__(self, graph, users, barred, number, may_stride):
        self.graph, self.users, self.barred, self.number = graph, users, barred, number
        node, out = graph.nodes[number], graph.specs[number][0]
        a, shape = node.attrs, graph.spec(node.inputs[0]).shape
        m, n = out.shape[-2:]
        k = shape[-2] if a.transpose_a else shape[-1]
        self.extents = (m, n, k)
        self.count = out.size // (m * n)
        self.scale, self.chain = 1.0, [number]
        self._take_scale()
        lhs = self._operands(node.inputs[0], (m, k), a.transpose_a)
        rhs = self._operands(node.inputs[1], (k, n), a.transpose_b)
        outs = self._results(m, n)
        if not may_stride:
            lhs, rhs = [x for x in lhs if x.packed(m, k)], [x for x in rhs if x.packed(k, n)]
            outs = outs[:1]
        self._choose(lhs, rhs, outs)

    # --- candidates ---
    def _take_scale(self):
        """Absorb a factor of the result."""
        after = self.users.chain(self.number, _factor)
        if after is not None and self.graph.specs[after[0]] == self.graph.specs[self.number]:
            self.scale = _factor(self.graph.nodes[after[0]])
            self.chain += after

    def _operands(self, entry, extents, transposed):
        """Possible sides for an operand, farthest from the product first."""
        rows, columns = extents[::-1] if transposed else extents
        view = View([(self.count * rows * columns, 1)])
        full_shape = (self.count, rows, columns)
        return moves_before(self.graph, self.barred, entry, view, full_shape, transposed)

    def _results(self, m, n):
        """Possible sides for the result, nearest first; each entry is of a node to replace."""
        view = View([(self.count * m * n, 1)])
        full_shape = (self.count, m, n)
        return moves_after(self.graph, self.users, self.barred, self.chain[-1], view, full_shape)

    # --- replacement ---
    def _choose(self, lhs, rhs, outs):
        """Choose the farthest sides whose loops over the matrices agree."""
        m, n, k = self.extents
        out, left, right = next(
            sides for sides in combinations(outs[::-1], lhs, rhs) if self._places(sides) is not None
        )
        self.operands = left.entry, right.entry
        self.transposed = left.columns != 1, right.columns != 1
        sizes, places = self._places((left, right, out))
        self.products = Products(sizes, places[0], places[1], places[2], self.scale)
        self.strided = not (
            left.packed(m, k) and right.packed(k, n) and out.packed(m, n) and out.columns == 1
        )
        self.gains = left.gains or right.gains or out.gains or len(self.chain) > 1
        self.last = out.entry[0]
        self.replaced = self._between()

    def _places(self, sides):
        """Return (sizes, places) if the sides' loops over the matrices agree, else None."""
        m, n, k = self.extents
        inner = next((side.groups[1][0] for side in sides if len(side.groups) == 2), self.count)
        outer = self.count // inner
        places = [side.place(outer, inner) for side in sides]
        return None if None in places else ((outer, inner, m, n, k), places)

    def _between(self):
        """The nodes from the product to the last one, exclusive."""
        between, number = [], self.number
        while number != self.last:
            between.append(number)
            number = self.users.only(number)
        return between

    def emit(self, rewrite):
        """Append the new node and any needed reshapes; return the entry of the result."""
        entries = [rewrite.entry(entry) for entry in self.operands]
        shape, name = self.graph.specs[self.last][0].shape, self.graph.nodes[self.number].name
        if self.strided:
            return rewrite.add(
                "_strided_dot", {**self.products.attrs, "shape": shape}, entries, name
            )
        m, n, k = self.extents
        for i, sizes in enumerate(((m, k), (k, n))):
            full_shape = (self.count, *(sizes[::-1] if self.transposed[i] else sizes))
            if rewrite.spec(entries[i]).shape != full_shape:
                entries[i] = rewrite.add("Reshape", {"shape": full_shape}, [entries[i]])
        attrs = dict(zip(("transpose_a", "transpose_b"), self.transposed, strict=True))
        if self.scale == 1:
            out = rewrite.add("batch_dot", attrs, entries, name)
        else:
            out = rewrite.add("_linalg_gemm2", {**attrs, "alpha": self.scale}, entries, name)
        return (
            out
            if rewrite.spec(out).shape == shape
            else rewrite.add("Reshape", {"shape": shape}, [out])
        )
