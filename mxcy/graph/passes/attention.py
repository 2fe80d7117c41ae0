"""Fusion of attention: two matrix products with a softmax between them become one operator.

Factors, masks and lengths of the scores are absorbed; moves before queries, keys and values and
after the result become strides. The first product and the softmax must have no other reader. In
training plans the pass runs before differentiation, so that neither scores nor weights are stored.
"""

from functools import cache
from itertools import product as combinations

from mxcy._base.dtypes import CODES
from mxcy.graph.analysis.sides import moves_after, moves_before, product_of, shared_arrays
from mxcy.graph.analysis.users import Users
from mxcy.graph.analysis.views import View
from mxcy.graph.rewrite import Rewrite
from mxcy.ops.core.record import find
from mxcy.ops.shape.strided import strides_of

__all__ = ["run"]

_SOFTMAX, _MASKED = find("softmax"), find("masked_softmax")
_FLOATS = (CODES["float32"], CODES["float64"])


def run(graph, target, wanted=()):
    """Fuse each attention for which the library has a kernel.

    Parameters
    ----------
    graph : Graph
        The graph of a forward pass, with specs.
    target : Target
    wanted : sequence of str
        Variables to differentiate with respect to, on which masks must not depend.

    Returns
    -------
    Graph
    """
    if target.settings["MXNET_DISABLE_ONEDNN_TRANSFORMER_OPT"]:
        return graph
    attentions: dict = {}
    softmaxes = [i for i, node in enumerate(graph.nodes) if node.op in (_SOFTMAX, _MASKED)]
    if softmaxes:
        search = _Search(graph, wanted)
        for number in softmaxes:
            if target.has_kernel("attention", graph.specs[number][0].dtype):
                attention = search.around(number)
                if attention is not None:
                    attentions[attention.last] = attention
    if not attentions:
        return graph
    inner = {number for attention in attentions.values() for number in attention.replaced}
    rewrite = Rewrite(graph)
    for number, _ in rewrite.visit():
        if number in attentions:
            rewrite.replace((number, 0), attentions[number].emit(rewrite))
        elif number not in inner:
            rewrite.keep(number)
    return rewrite.finish()


@cache
def _sums():
    """The addition operators that apply masks."""
    return find("elemwise_add"), find("broadcast_add"), find("_npi_add")


class _Search:
    """Analyses of a graph shared by the matches of all softmax nodes."""

    def __init__(self, graph, wanted):
        self.graph, self.users, self.trains = graph, Users(graph), bool(wanted)
        self.barred = {entry for node in graph.nodes for entry in node.mutates()}
        self.reached = []  # for each node whether it depends on a variable in `wanted`
        for node in graph.nodes:
            reached = any(self.reached[source] for source, _ in node.inputs)
            self.reached.append(reached or (node.op is None and node.name in wanted))

    def around(self, number):
        """The attention around a softmax, or None."""
        graph, node = self.graph, self.graph.nodes[number]
        data, out = graph.spec(node.inputs[0]), graph.specs[number][0]
        if not data.known or data != out or data.dtype not in _FLOATS or not data.shape:
            return None
        if node.attrs.axis not in (-1, len(data.shape) - 1):
            return None
        attention = _Attention(self, number)
        return attention if attention.complete() else None


class _Attention:
    """A softmax with the products before and after it, and their replacement.

    Attributes
    ----------
    last : int
        The node whose output the new one computes.
    replaced : list of int
        The nodes to remove, except those before queries, keys and values.
    """

    def __init__(self, search, number):
        self.search, self.graph, self.number = search, search.graph, number
        node = self.graph.nodes[number]
        self.extra, self.replaced = node.extra, [number]
        temperature = getattr(node.attrs, "temperature", None)
        self.scale = 1.0 if temperature is None else 1 / temperature if temperature else 0.0
        self.masking, self.mask = "none", None
        self.shape = self.graph.spec(node.inputs[0]).shape  # to which masks are broadcast
        if len(node.inputs) > 1:
            self.mask = node.inputs[1]
            self.masking = "keep" if node.op is _MASKED else "length"

    def complete(self):
        """Whether all parts are present and expressible."""
        scores = self._scores()
        values = None if scores is None else self._values()
        if values is None or not self.scale:
            return False
        (first, query, key), (second, value, result) = scores, values
        outer, inner, m, n, depth = first.sizes
        count, width = outer * inner, second.sizes[3]
        if (second.sizes[0] * second.sizes[1], second.sizes[2], second.sizes[4]) != (count, m, n):
            return False
        if self.graph.specs[self.number][0].shape[-1] != n:
            return False
        if not (_in_order(first, first.out) and _in_order(second, second.lhs)):
            return False
        transposed = (*first.rhs[:3], first.rhs[4], first.rhs[3])  # keys as rows
        sides = (
            self._operands(query, _view(first.sizes, first.lhs, m, depth), (count, m, depth)),
            self._operands(key, _view(first.sizes, transposed, n, depth), (count, n, depth)),
            self._operands(value, _view(second.sizes, second.rhs, n, width), (count, n, width)),
        )
        back = _view(second.sizes, second.out, m, width).inverse()
        if back is None:
            return False
        search = self.search
        outs = moves_after(self.graph, search.users, search.barred, result, back, (count, m, width))
        outs = [side for side in outs[::-1] if side.usable and side.columns == 1]
        masks = [None] if self.mask is None else self._masks(count, m, n)
        for out, *inputs, mask in combinations(outs, *sides, masks):
            if self._settle((count, m, n, depth, width), inputs, out, mask):
                return True
        return False

    # --- matching ---
    def _alone(self, number):
        """Whether a node has a single reader and the softmax's placement."""
        return self.search.users.only(number) is not None and (
            self.graph.nodes[number].extra == self.extra
        )

    def _scores(self):
        """Match (first product, entry of the queries, entry of the keys), or None."""
        graph, (number, index) = self.graph, self.graph.nodes[self.number].inputs[0]
        scale = self.scale
        while index == 0 and self._alone(number):
            node = graph.nodes[number]
            if node.op is None:
                return None
            self.replaced.append(number)
            product = product_of(graph, number)
            if product is not None:
                products, lhs, rhs = product
                self.scale = scale * products.scale
                return products, self._scaled(node.inputs[lhs]), self._scaled(node.inputs[rhs])
            if node.op.identity and len(node.inputs) == 1 and len(graph.specs[number]) == 1:
                follow = node.inputs[0]
            elif node.op.factor is not None and node.op.factor(node.attrs):
                scale *= node.op.factor(node.attrs)
                follow = node.inputs[0]
            elif node.op in _sums() and self.masking == "none" and scale == 1:
                follow = self._take_summand(number)
            else:
                return None
            if follow is None or graph.spec(follow).dtype != graph.specs[number][0].dtype:
                return None
            number, index = follow
        return None

    def _scaled(self, entry):
        """Absorb factors of queries or keys; return the unscaled entry."""
        graph = self.graph
        while not entry[1]:
            node = graph.nodes[entry[0]]
            number = node.op is not None and node.op.factor and node.op.factor(node.attrs)
            if not number or graph.spec(node.inputs[0]) != graph.spec(entry):
                break
            self.scale *= number
            entry = node.inputs[0]
        return entry

    def _take_summand(self, number):
        """Absorb one side of a sum as the mask; return the other side, the scores."""
        graph, node = self.graph, self.graph.nodes[number]
        shape = graph.specs[number][0].shape
        for scores, mask in (node.inputs, node.inputs[::-1]):
            fits = graph.spec(scores).shape == shape and self._leads_to_product(scores)
            if fits and not self.search.reached[mask[0]]:
                self.masking, self.mask, self.shape = "add", mask, shape
                return scores
        return None

    def _leads_to_product(self, entry):
        """Whether an entry is a product up to no-op moves and factors."""
        graph, (number, _) = self.graph, entry
        while graph.nodes[number].op is not None and product_of(graph, number) is None:
            node = graph.nodes[number]
            if not node.op.identity and node.op.factor is None:
                return False
            number = node.inputs[0][0]
        return graph.nodes[number].op is not None

    def _values(self):
        """Match (second product, entry of the values, node of the result), or None."""
        graph, number = self.graph, self.number
        while self._alone(number):
            after = self.search.users.only(number)
            node = graph.nodes[after]
            if node.extra != self.extra:
                return None
            product = product_of(graph, after)
            if product is not None:
                products, lhs, rhs = product
                if node.inputs[rhs] == (number, 0):
                    products, lhs, rhs = products.swapped, rhs, lhs
                fits = node.inputs[lhs] == (number, 0) and products.scale == 1
                return (products, node.inputs[rhs], after) if fits else None
            hands_on = node.op.forwards is not None and node.op.forwards(node.attrs)
            if node.inputs[0] != (number, 0) or not (hands_on or node.op.identity):
                return None
            self.replaced.append(after)
            number = after
        return None

    def _operands(self, entry, view, extents):
        """Possible sides for queries, keys or values, farthest first."""
        search = self.search
        sides = moves_before(self.graph, search.barred, entry, view, extents)
        sides = [side for side in sides if side.columns == 1]
        # Gradients of broadcast operands would have to be summed.
        return [side for side in sides if not (search.trains and side.repeats)]

    def _masks(self, count, m, n):
        """The loops over the mask: at most two over matrices, one each over rows and columns."""
        graph, shape = self.graph, self.shape
        spec = graph.spec(self.mask)
        if self.masking == "length":
            if spec.dtype not in (CODES["int32"], CODES["int64"]):
                return []
            extents: tuple = (count, m)
            view = View([(spec.size, 1)])
        else:
            if self.masking == "add" and spec.dtype != graph.specs[self.number][0].dtype:
                return []
            own = (1,) * (len(shape) - len(spec.shape)) + tuple(spec.shape)
            pairs = zip(shape, own, strides_of(own), strict=True)
            view = View([(extent, step if is_own != 1 else 0) for extent, is_own, step in pairs])
            extents = (count, m, n)
        cut = view.cut(extents)
        if cut is None or len(cut[0]) > 2 or max(map(len, cut[1:])) > 1:
            return []
        return [cut]

    # --- replacement ---
    def _settle(self, extents, inputs, out, mask):
        """Use these sides if their loops over the matrices agree."""
        count, m, n, depth, width = extents
        loops = [side.groups for side in (*inputs, out)] + ([] if mask is None else [mask[0]])
        inner = next((groups[1][0] for groups in loops if len(groups) == 2), count)
        outer = count // inner
        places = [side.place(outer, inner) for side in (*inputs, out)]
        if None in places:
            return False
        if mask is not None:
            cut = View(mask[0]).cut((outer, inner))
            if cut is None or max(map(len, cut)) > 1:
                return False
            steps = [cuts[0][1] if cuts else 0 for cuts in (*cut, *mask[1:])]
            self.mask_place = (*steps, 0)[:4]
        rows, columns = (m, n, n), (depth, depth, width)
        self.sources = shared_arrays(inputs, places[:3], (outer, inner), rows, columns)
        self.arrays = [inputs[self.sources.index(i)].entry for i in range(max(self.sources) + 1)]
        self.sizes, self.last = (outer, inner, m, n, depth, width), out.entry[0]
        self.places = [place[:4] for place in places]
        number = self.search.users.only(self.number)
        while number != self.last:  # from the second product through the moves after it
            self.replaced.append(number)
            number = self.search.users.only(number)
        return True

    def emit(self, rewrite):
        """Append the new node and any needed cast; return the entry of the result."""
        entries = [rewrite.entry(entry) for entry in self.arrays]
        attrs = {
            "sizes": self.sizes,
            "sources": self.sources,
            "shape": self.graph.specs[self.last][0].shape,
            "scale": self.scale,
            "masking": self.masking,
        }
        for name, place in zip(("query", "key", "value", "out"), self.places, strict=True):
            attrs[f"{name}_place"] = place
        if self.mask is not None:
            attrs["mask_place"] = self.mask_place
            mask = rewrite.entry(self.mask)
            if self.masking == "keep" and rewrite.spec(mask).dtype != CODES["bool"]:
                mask = rewrite.add("Cast", {"dtype": "bool"}, [mask])
            entries.append(mask)
        name = self.graph.nodes[self.last].name
        return rewrite.add("_attention", attrs, entries, name, self.extra)


def _view(sizes, place, rows, columns):
    """The stacked matrices as a view of the array at `place`."""
    outer, inner, *_ = sizes
    extents = (outer, inner, rows, columns)
    return View(list(zip(extents, place[1:], strict=True)), place[0])


def _in_order(products, place):
    """Whether scores or weights are exactly a stack of contiguous matrices."""
    outer, inner, m, n, k = products.sizes
    columns = n if place is products.out else k
    view = _view(products.sizes, place, m, columns)
    return view.offset == 0 and view.loops == View([(outer * inner * m * columns, 1)]).loops
