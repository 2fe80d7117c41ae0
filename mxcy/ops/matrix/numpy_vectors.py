"""Cross products, and differences of flattened arrays."""

from math import prod

from mxcy.ops.core.attrs import Bool, DoubleOrNone, Int
from mxcy.ops.core.infer import Spec, broadcast_shapes, normal_axis, require
from mxcy.ops.core.record import native, op, sample
from mxcy.ops.core.result_types import PROMOTE
from mxcy.ops.elementwise.broadcast import sum_to
from mxcy.ops.elementwise.numpy_forms import in_result_type
from mxcy.ops.matrix.numpy_products import promoted

__all__ = []

_TYPES = ("float32", "float64", "float16", "int32")


def _without_vectors(shape, axis, name):
    """Return the shape without the vector axis, and the number of components."""
    place = normal_axis(axis, len(shape))
    extent = shape[place]
    require(
        extent in (2, 3, -1),
        f"{name}: expected vectors of 2 or 3 components along axis {axis}, got shape {shape}",
    )
    return (*shape[:place], *shape[place + 1 :]), extent


def _spatial(F, array, axis, extent):
    """Return vectors of three components along the last axis."""
    moved = F._npi_moveaxis(array, source=(axis,), destination=(-1,))
    if extent == 3:
        return moved
    none = F.slice_axis(moved, axis=-1, begin=0, end=1) * 0
    return F.Concat(moved, none, dim=-1, num_args=2)


def _cross_grad(a, F, g, x, y, specs):
    (left, i), (right, j) = (
        _without_vectors(specs[0].shape, a.axisa, "a"),
        _without_vectors(specs[1].shape, a.axisb, "b"),
    )
    x, y = _spatial(F, x, a.axisa, i), _spatial(F, y, a.axisb, j)
    if i == j == 2:
        g = F.expand_dims(g, axis=-1)
        g = F.Concat(g * 0, g * 0, g, dim=-1, num_args=3)
    else:
        g = F._npi_moveaxis(g, source=(a.axisc,), destination=(-1,))
    broadcast = Spec((*broadcast_shapes(left, right), 3))
    gradients = []
    for by, shape, axis, extent in (
        (F._npi_cross(y, g), left, a.axisa, i),
        (F._npi_cross(g, x), right, a.axisb, j),
    ):
        by = sum_to(F, by, Spec((*shape, 3)), broadcast)
        by = F.slice_axis(by, axis=-1, begin=0, end=extent)
        gradients.append(F._npi_moveaxis(by, source=(-1,), destination=(axis,)))
    return tuple(gradients)


def _refuse_components(a, ins, outs):
    """Refuse all but equal numbers of 3-component vectors along the last axis."""
    axes = {a.axisa, a.axisb, a.axisc} - {-1, ins[0].ndim - 1}
    threes = ins[0].shape == ins[1].shape and ins[0].shape[-1] == 3
    return None if threes and not axes else "vectors of another form"


@op("_npi_cross", inputs="a b", uses_types=True, amp="widest")
class Cross:
    """Compute the cross product of 2- or 3-component vectors; a scalar for two 2-component ones."""

    axisa: Int = -1
    axisb: Int = -1
    axisc: Int = -1

    dtypes = _TYPES
    names = {"x": ("in", 0), "y": ("in", 1)}
    complexes = True
    samples = (
        sample((2, 3), (2, 3)),
        sample((2, 5, 3), (2, 5, 3)),
        sample((4, 3), (2,)),
        sample((2,), (5, 2)),
        sample((3, 2), (2, 3), axisa=0, axisc=0),
        sample((0, 3), (3,), grad=False),
    )
    grad = in_result_type(PROMOTE, _cross_grad, ("x", "y"))
    kernels = (native("cross", when=_refuse_components),)

    def infer(a, lhs, rhs):
        dtype = PROMOTE(a, lhs, rhs)
        if lhs.shape is None or rhs.shape is None:
            return Spec(None, dtype)
        (left, i), (right, j) = (
            _without_vectors(lhs.shape, a.axisa, "a"),
            _without_vectors(rhs.shape, a.axisb, "b"),
        )
        shape = broadcast_shapes(left, right)
        if -1 in (i, j):
            return Spec(None, dtype)
        if i != 2 or j != 2:
            place = normal_axis(a.axisc, len(shape) + 1)
            shape = (*shape[:place], 3, *shape[place:])
        return Spec(shape, dtype)

    def ref(a, xp, lhs, rhs):
        x, y = promoted(a, xp, (lhs, rhs))
        x, y = xp.moveaxis(x, a.axisa, -1), xp.moveaxis(y, a.axisb, -1)
        last = x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
        if x.shape[-1] == y.shape[-1] == 2:
            return last
        up, over = (v[..., 2] if v.shape[-1] == 3 else v[..., 0] * 0 for v in (x, y))
        first = x[..., 1] * over - up * y[..., 1]
        second = up * y[..., 0] - x[..., 0] * over
        return xp.stack(xp.broadcast_arrays(first, second, last), a.axisc)


@op("_npi_ediff1d", inputs="input1 input2? input3?", names={"x": ("in", 0)}, amp="widest")
class Ediff1D:
    """Compute differences between consecutive elements, with values prepended and appended.

    These are scalars, or arrays if `to_begin_arr_given` and `to_end_arr_given`; they are cast to
    the dtype of the input.
    """

    to_begin_arr_given: Bool = False
    to_end_arr_given: Bool = False
    to_begin_scalar: DoubleOrNone = None
    to_end_scalar: DoubleOrNone = None

    dtypes = _TYPES
    complexes = True
    samples = (
        sample((5,)),
        sample((2, 3), to_begin_scalar=1.0, to_end_scalar=2.0),
        sample((4,), (2,), to_end_arr_given=True),
        sample((4,), (2,), (1, 2), to_begin_arr_given=True, to_end_arr_given=True),
        sample((1,), grad=False),
        sample((0,), grad=False),
    )

    def arguments(a):
        return ("input1", "input2", "input3")[: 1 + a.to_begin_arr_given + a.to_end_arr_given]

    def infer(a, data, *others):
        if not data.known or not all(other.known for other in others):
            return Spec((-1,), data.dtype)
        before, _, behind = _parts(a, data, others)
        return Spec((before + max(data.size - 1, 0) + behind,), data.dtype)

    def grad(a, F, g, specs):
        data, *others = specs
        before, middle, behind = _parts(a, data, others)

        def part(begin, extent):
            """Return that many elements of the gradient; None for none."""
            return F.slice_axis(g, axis=0, begin=begin, end=begin + extent) if extent else None

        parts = [part(before, middle)]
        if middle:
            zero = F._backward_reshape(F._npi_sum(g) * 0, shape=(1,))
            after, ahead = (zero, parts[0]), (parts[0], zero)
            parts[0] = F.Concat(*after, dim=0, num_args=2) - F.Concat(*ahead, dim=0, num_args=2)
        if a.to_begin_arr_given:
            parts.append(part(0, before))
        if a.to_end_arr_given:
            parts.append(part(before + middle, behind))
        return tuple(
            None if x is None else F._backward_reshape(x, shape=spec.shape)
            for x, spec in zip(parts, specs, strict=True)
        )

    def ref(a, xp, data, *others):
        others = [xp.ravel(x) for x in others]
        begin = others.pop(0) if a.to_begin_arr_given else _number(xp, a.to_begin_scalar)
        end = others.pop(0) if a.to_end_arr_given else _number(xp, a.to_end_scalar)
        flat = xp.ravel(data)
        parts = [x.astype(data.dtype) for x in (begin, flat[1:] - flat[:-1], end)]
        return xp.concatenate(parts)


def _number(xp, value):
    return xp.zeros(0) if value is None else xp.full(1, value)


def _parts(a, data, others):
    """Return the numbers of prepended elements, differences and appended elements."""
    others = [prod(other.shape) for other in others]
    before = others.pop(0) if a.to_begin_arr_given else int(a.to_begin_scalar is not None)
    behind = others.pop(0) if a.to_end_arr_given else int(a.to_end_scalar is not None)
    return before, max(prod(data.shape) - 1, 0), behind
