"""Strided matrix products, for matrices embedded in arrays such as attention heads.

An operand's `place` locates its matrices, in elements: (offset, outer stride, inner stride, row
stride, column stride).
"""

import math

from mxcy.ops.core.attrs import Bool, Double, LongTuple, Shape
from mxcy.ops.core.infer import Spec, require, same_dtype, whole_shape
from mxcy.ops.core.params import STRIDED_DOT
from mxcy.ops.core.record import native, op, sample
from mxcy.ops.shape.strided import reached

__all__ = ["Products", "indices", "product_kernel", "transposed"]


def transposed(place):
    """Return the place of the transposed matrices."""
    return (*place[:3], place[4], place[3])


class Products:
    """Strided products of two operands.

    Parameters
    ----------
    sizes : tuple of int
        Outer and inner number of matrices, rows, columns, and inner extent.
    lhs, rhs, out : tuple of int
        Places.
    scale : float
        A factor on the results.
    """

    def __init__(self, sizes, lhs, rhs, out, scale=1.0):
        self.sizes, self.lhs, self.rhs, self.out, self.scale = sizes, lhs, rhs, out, scale

    @property
    def swapped(self):
        """Return the equivalent products with (lhs rhs) written as (rhs' lhs')'."""
        outer, inner, m, n, k = self.sizes
        places = map(transposed, (self.rhs, self.lhs, self.out))
        return Products((outer, inner, n, m, k), *places, self.scale)

    @property
    def by_lhs(self):
        """Return the products of head gradients with rhs that give the gradients of lhs."""
        outer, inner, m, n, k = self.sizes
        sizes = outer, inner, m, k, n
        return Products(sizes, self.out, transposed(self.rhs), self.lhs, self.scale)

    @property
    def by_rhs(self):
        """Return the products of lhs with head gradients that give the gradients of rhs."""
        outer, inner, m, n, k = self.sizes
        sizes = outer, inner, k, n, m
        return Products(sizes, transposed(self.lhs), self.out, self.rhs, self.scale)

    @property
    def attrs(self):
        """Return the attributes of `_strided_dot`."""
        return {
            "sizes": self.sizes,
            "lhs_place": self.lhs,
            "rhs_place": self.rhs,
            "out_place": self.out,
            "scale": self.scale,
        }

    @property
    def size(self):
        """Return the number of elements of all results."""
        return math.prod(self.sizes[:4])

    @property
    def native(self):
        """Return whether operands have contiguous rows or columns, and results contiguous rows."""
        return self.out[4] == 1 and all(1 in place[3:] for place in (self.lhs, self.rhs))


def product_kernel(products_of, lhs=0, rhs=1):
    """Return the kernel of a record that is a strided product.

    Parameters
    ----------
    products_of : callable
        ``products_of(a, ins, outs)`` returns the `Products`.
    lhs, rhs : int
        Input positions of the operands; a third input provides the output's other elements.
    """

    def lowered(a, ins, outs):
        products = products_of(a, ins, outs)
        return (products, lhs, rhs) if products.out[4] == 1 else (products.swapped, rhs, lhs)

    def params(a, ins, outs):
        products, left, right = lowered(a, ins, outs)
        outer, inner, m, n, k = products.sizes
        places = (products.lhs, products.rhs, products.out)
        transposed = [place[4] != 1 for place in places]
        return {
            "outer": outer,
            "inner": inner,
            "m": m,
            "n": n,
            "k": k,
            "scale": products.scale,
            "offset": [place[0] for place in places],
            "outer_step": [place[1] for place in places],
            "inner_step": [place[2] for place in places],
            "row": [
                place[4 if turn else 3] for place, turn in zip(places, transposed, strict=True)
            ],
            "lhs": left,
            "rhs": right,
            "transpose_lhs": transposed[0],
            "transpose_rhs": transposed[1],
            "base": len(ins) > 2,
            "clear": products.size < outs[0].size,
        }

    def work(a, ins, outs):
        sizes = products_of(a, ins, outs).sizes
        return math.prod(sizes) // 4 + outs[0].size

    def when(a, ins, outs):
        if not all(spec.size for spec in ins):
            return "there are no elements"
        return None if lowered(a, ins, outs)[0].native else "no side of the matrices is contiguous"

    def inplace(a, ins, outs):
        return (2,) if len(ins) > 2 else ()

    return native("strided_dot", STRIDED_DOT, params, when, work=work, inplace=inplace)


def indices(xp, sizes, place):
    """Return the flat array index of each element of the matrices."""
    indices = place[0]
    for axis, (extent, step) in enumerate(zip(sizes, place[1:], strict=True)):
        shape = [1] * 4
        shape[axis] = extent
        indices = indices + (xp.arange(extent) * step).reshape(shape)
    return indices


@op("_strided_dot", inputs="lhs rhs base?")
class StridedDot:
    """Compute products of strided matrices in arrays.

    `sizes` is (outer, inner, m, n, k): outer * inner products of (m, k) and (k, n) matrices, each
    times `scale`. `lhs_place`, `rhs_place` and `out_place` locate the matrices: (offset, outer
    stride, inner stride, row stride, column stride), in elements. The output has shape `shape`; its
    other elements are those of `base`, or zeros if `with_base` is False.
    """

    sizes: LongTuple
    lhs_place: LongTuple
    rhs_place: LongTuple
    out_place: LongTuple
    shape: Shape
    scale: Double = 1.0
    with_base: Bool = False

    samples = (
        sample(
            (3, 2, 12),
            (3, 2, 12),
            sizes=(2, 2, 3, 3, 2),
            lhs_place=(0, 12, 6, 24, 1),
            rhs_place=(2, 12, 6, 1, 24),
            out_place=(0, 18, 9, 3, 1),
            shape=(4, 3, 3),
            scale=0.5,
        ),
        sample(
            (4, 3, 3),
            (3, 2, 12),
            (3, 2, 12),
            sizes=(2, 2, 3, 2, 3),
            lhs_place=(0, 18, 9, 1, 3),
            rhs_place=(4, 12, 6, 24, 1),
            out_place=(2, 12, 6, 24, 1),
            shape=(3, 2, 12),
            with_base=True,
        ),
        sample(
            (2, 3, 4),
            (2, 4, 5),
            sizes=(1, 2, 3, 5, 4),
            lhs_place=(0, 0, 12, 4, 1),
            rhs_place=(0, 0, 20, 5, 1),
            out_place=(1, 0, 20, 1, 3),
            shape=(2, 20),
        ),
    )

    kernels = (product_kernel(lambda a, ins, outs: _products(a)),)

    def arguments(a):
        return ("lhs", "rhs", "base") if a.with_base else ("lhs", "rhs")

    def infer(a, lhs, rhs, base=None):
        lengths = [len(t) for t in (a.sizes, a.lhs_place, a.rhs_place, a.out_place)]
        require(lengths == [5] * 4, f"sizes and places: expected five numbers, got {lengths}")
        operands = (lhs, rhs) if base is None else (lhs, rhs, base)
        dtype = same_dtype(operands, ("lhs", "rhs", "base")[: len(operands)])
        out = Spec(whole_shape(a.shape), dtype)
        if base is not None:
            base.fill("base", a.shape, dtype)
        require(min(a.sizes) >= 0, f"sizes: expected no negative number, got {a.sizes}")
        *batch, m, n, k = a.sizes
        results = math.prod((*batch, m, n))
        require(results <= out.size, f"sizes: {results} results for an array of shape {a.shape}")
        if lhs.known and rhs.known:
            require(k <= max(lhs.size, rhs.size), f"sizes: no operand has {k} elements to sum")
        for spec, name, place, extents in (
            (lhs, "lhs", a.lhs_place, (*batch, m, k)),
            (rhs, "rhs", a.rhs_place, (*batch, k, n)),
            (out, "out", a.out_place, (*batch, m, n)),
        ):
            if spec.known and 0 not in extents:
                first, last = reached(extents, place[1:], place[0])
                inside = first >= 0 and last < spec.size
                require(inside, f"{name}_place: {place} leaves an array of shape {spec.shape}")
        return out

    def grad(a, F, g, lhs, rhs, specs):
        products = _products(a)
        left = F._strided_dot(g, rhs, **products.by_lhs.attrs, shape=specs[0].shape)
        right = F._strided_dot(lhs, g, **products.by_rhs.attrs, shape=specs[1].shape)
        if not a.with_base:
            return left, right
        nothing = {**products.attrs, "scale": 0.0}
        return left, right, F._strided_dot(lhs, rhs, g, **nothing, shape=a.shape, with_base=True)

    def ref(a, xp, lhs, rhs, base=None):
        outer, inner, m, n, k = a.sizes
        left = lhs.reshape(-1)[indices(xp, (outer, inner, m, k), a.lhs_place)]
        right = rhs.reshape(-1)[indices(xp, (outer, inner, k, n), a.rhs_place)]
        size = math.prod(a.shape)
        out = xp.zeros(size, lhs.dtype) if base is None else xp.array(base).reshape(-1)
        out[indices(xp, (outer, inner, m, n), a.out_place)] = xp.matmul(left, right) * a.scale
        return out.reshape(a.shape)


def _products(a):
    return Products(a.sizes, a.lhs_place, a.rhs_place, a.out_place, a.scale)
