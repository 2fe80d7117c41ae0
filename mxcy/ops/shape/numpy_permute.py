"""`mx.np` operators that move elements: transposition, flips, rotation, roll, repeat."""

from math import prod

from mxcy.ops.core.attrs import Field, Int, IntOrNone, LongTuple, Shape, ShapeOrNone
from mxcy.ops.core.infer import Spec, back_dtype, normal_axes, normal_axis, require
from mxcy.ops.core.params import ROLL
from mxcy.ops.core.record import native, op, register, sample
from mxcy.ops.shape.numpy_shape import kept_spec
from mxcy.ops.shape.pad import repeating
from mxcy.ops.shape.strided import loops, strided, strides_of

__all__ = []

_KINDS = ("float32", "float64", "int8", "bool")


def _transposed_loops(order, mirrored=()):
    """Return the loops of a transposing copy, with `mirrored` output axes reversed."""

    def params(a, ins, outs):
        shape, strides = outs[0].shape, strides_of(ins[0].shape)
        steps = [strides[axis] for axis in order(a, ins[0].ndim)]
        offset = 0
        for axis in mirrored(a, ins[0].ndim) if mirrored else ():
            offset += max(shape[axis] - 1, 0) * steps[axis]
            steps[axis] = -steps[axis]
        return loops(shape, steps, src_offset=offset)

    return (strided(params),)


def _reordered(a, data, order):
    if data.shape is None:
        return Spec(None, data.dtype)
    return Spec(tuple(data.shape[axis] for axis in order(a, data.ndim)), data.dtype)


def _inverse(order):
    return tuple(sorted(range(len(order)), key=order.__getitem__))


# --- orders of axes ------------------------------------------------------------------------------


def _moved(a, ndim):
    """Return the order of axes after moveaxis."""
    require(
        len(a.source) == len(a.destination),
        f"`source` and `destination` must have the same number of elements: {a.source} and "
        f"{a.destination}",
    )
    source, destination = normal_axes(a.source, ndim), normal_axes(a.destination, ndim)
    by_place = dict(
        zip(
            (normal_axis(axis, ndim, "destination") for axis in a.destination),
            (normal_axis(axis, ndim, "source") for axis in a.source),
            strict=True,
        )
    )
    require(len(set(source)) == len(a.source), f"source: repeated axis in {a.source}")
    require(len(set(destination)) == len(a.source), f"destination: repeated axis {a.destination}")
    others = iter([axis for axis in range(ndim) if axis not in source])
    return [by_place[i] if i in by_place else next(others) for i in range(ndim)]


def _rolled(a, ndim):
    """Return the order of axes after rollaxis."""
    axis = normal_axis(a.axis, ndim)
    start = a.start + ndim if a.start < 0 else a.start
    require(0 <= start <= ndim, f"start: {a.start} is out of bounds for {ndim} dimensions")
    order = [i for i in range(ndim) if i != axis]
    order.insert(start - (axis < start), axis)
    return order


def _permutation(name, doc, inputs, fields, order, samples, numpy):
    register(
        name,
        inputs=inputs,
        fields=fields,
        infer=lambda a, data: _reordered(a, data, order),
        infer_back=back_dtype,
        grad=lambda a, F, g, specs: F._npi_transpose(g, axes=_inverse(order(a, specs[0].ndim))),
        ref=lambda a, xp, data: xp.transpose(data, order(a, data.ndim)),
        kernels=_transposed_loops(order),
        complexes=True,
        samples=samples,
        dtypes=_KINDS,
        doc=doc,
        numpy=numpy,
    )


_permutation(
    "_npi_moveaxis",
    "Move axes `source` to positions `destination`; the other axes keep their order.",
    "a",
    (Field("source", Shape), Field("destination", Shape)),
    _moved,
    (
        sample((2, 3, 4), source=0, destination=-1),
        sample((2, 3, 4, 2), source=(0, 1), destination=(-1, 0)),
        sample((), source=(), destination=(), grad=False),
        sample((2, 0, 3), source=1, destination=0, grad=False),
    ),
    "moveaxis(a, source, destination)",
)
_permutation(
    "_npi_rollaxis",
    "Move `axis` before position `start`.",
    "data",
    (Field("axis", Int), Field("start", Int, 0)),
    _rolled,
    (
        sample((2, 3, 4), axis=2),
        sample((2, 3, 4), axis=0, start=3),
        sample((2, 3, 4), axis=-1, start=-2),
    ),
    "rollaxis(a, axis, start=0)",
)


# --- mirrors -------------------------------------------------------------------------------------


def _same_order(a, ndim):
    return range(ndim)


def _mirrored(a, ndim):
    return range(ndim) if a.axis is None else normal_axes(a.axis, ndim)


@op("_npi_flip", numpy="flip(m, axis=None, out=None)")
class Flip:
    """Reverse the order of elements along axes, by default along all."""

    axis: ShapeOrNone = None

    dtypes = _KINDS
    complexes = True
    samples = (
        sample((2, 3)),
        sample((2, 3, 4), axis=(0, -1)),
        sample((2, 3), axis=1),
        sample((2, 0), axis=0, grad=False),
        sample((), grad=False),
    )
    kernels = _transposed_loops(_same_order, _mirrored)
    infer_back = back_dtype

    def infer(a, data):
        if data.shape is not None:
            _mirrored(a, data.ndim)
        return kept_spec(data)

    def grad(a, F, g):
        return F._npi_flip(g, axis=a.axis)

    def ref(a, xp, data):
        return xp.flip(data, a.axis)


def _plane(a, ndim):
    axes = (0, 1) if a.axes is None else a.axes
    require(len(axes) == 2, f"axes: expected two, got {axes}")
    first, second = (normal_axis(axis, ndim, "axes") for axis in axes)
    require(first != second, f"axes: expected two different ones, got {axes}")
    return first, second


def _rotated(a, ndim):
    order = list(range(ndim))
    first, second = _plane(a, ndim)
    if a.k % 2:
        order[first], order[second] = second, first
    return order


def _rotated_mirrors(a, ndim):
    first, second = _plane(a, ndim)
    return ((), (first,), (first, second), (second,))[a.k % 4]


@op("_npi_rot90", numpy="rot90(m, k=1, axes=(0, 1))")
class Rot90:
    """Rotate an array `k` times by 90 degrees in a plane, from its first to its second axis."""

    k: Int = 1
    axes: ShapeOrNone = None

    dtypes = _KINDS
    complexes = True
    samples = (
        sample((2, 3)),
        sample((2, 3, 4), k=2, axes=(1, 2)),
        sample((2, 3, 4), k=-1, axes=(-1, 0)),
        sample((2, 3), k=4),
        sample((0, 3), grad=False),
    )
    kernels = _transposed_loops(_rotated, _rotated_mirrors)
    infer_back = back_dtype

    def infer(a, data):
        return _reordered(a, data, _rotated)

    def grad(a, F, g):
        return F._npi_rot90(g, k=-a.k, axes=a.axes)

    def ref(a, xp, data):
        return xp.rot90(data, a.k, (0, 1) if a.axes is None else a.axes)


# --- rolls and repetitions -----------------------------------------------------------------------


def _steps(a):
    """Return the shifts and axes of a roll as NumPy takes them."""
    require(a.shift, f"shift: expected at least one, got {a.shift}")
    shifts, axes = a.shift, a.axis
    if axes is None:
        require(len(shifts) == 1, f"shift: got {shifts} without axes")
        return shifts[0], None
    require(
        len(shifts) in (1, len(axes)) or len(axes) == 1,
        f"shift {shifts} and axis {axes} differ in length",
    )
    return shifts, axes


def _roll_params(a, ins, outs):
    shape, axes = ins[0].shape, a.axis
    axis = None if axes is None else normal_axis(axes[0], len(shape))
    extent = prod(shape) if axis is None else shape[axis]
    return {
        "outer": 1 if axis is None else prod(shape[:axis]),
        "extent": extent,
        "inner": 1 if axis is None else prod(shape[axis + 1 :]),
        "shift": sum(a.shift) % extent,
    }


def _refuse_roll(a, ins, outs):
    if not ins[0].size:
        return "there are no elements"
    return None if a.axis is None or len(a.axis) == 1 else "elements move along several axes"


def _rolled_round(a, shape):
    """Return a roll as leading margins that wrap the elements cut off at the end."""
    shifts, axes = _steps(a)
    shifts, axes = shifts * (len(axes) if len(shifts) == 1 else 1), axes or (0,)
    moved = [0] * len(shape)
    for shift, axis in zip(shifts, axes * (len(shifts) // len(axes)), strict=True):
        moved[normal_axis(axis, len(shape))] += shift
    steps = [shift % extent for shift, extent in zip(moved, shape, strict=True)]
    return [(step, -step) for step in steps]


@op("_npi_roll", numpy="roll(a, shift, axis=None)")
class Roll:
    """Roll elements along axes, wrapping around at the end.

    Without `axis` the flattened array is rolled.
    """

    shift: LongTuple = None
    axis: ShapeOrNone = None

    dtypes = _KINDS
    complexes = True
    samples = (
        sample((2, 3), shift=1),
        sample((2, 3), shift=(1, -2), axis=(0, 1)),
        sample((4, 3, 20), shift=(5, -2, 1, 3), axis=(0, -1, 2, 0)),
        sample((4, 3, 2, 5), shift=3, axis=(0, 2, 3)),
        sample((2, 3, 4), shift=-7, axis=-1),
        sample((), shift=3, grad=False),
        sample((0, 3), shift=1, axis=0, grad=False),
    )
    infer_back = back_dtype
    kernels = (
        native("roll", ROLL, _roll_params, when=_refuse_roll),
        repeating("pad", lambda a, ins: ins[0].shape, _rolled_round, lambda a: a.axis and "wrap"),
    )

    def infer(a, data):
        _, axes = _steps(a)
        if data.shape is not None and axes is not None:
            for axis in axes:
                normal_axis(axis, data.ndim)
        return kept_spec(data)

    def grad(a, F, g):
        return F._npi_roll(g, shift=tuple(-shift for shift in a.shift), axis=a.axis)

    def ref(a, xp, data):
        return xp.roll(data, *_steps(a))


def _repeated(a, shape):
    """Return the input shape, the axis of repetition, and the counts."""
    if a.axis is None:
        size = -1 if -1 in shape else prod(shape)
        shape, axis = (size,), 0
    else:
        axis = normal_axis(a.axis, len(shape))
    counts = a.repeats
    require(counts and min(counts) >= 0, f"repeats: expected no negative numbers, got {counts}")
    require(
        len(counts) in (1, shape[axis]) or shape[axis] == -1,
        f"repeats: got {len(counts)} of them for {shape[axis]} elements",
    )
    return shape, axis, counts


def _repeat_loops(a, ins, outs):
    shape, axis, counts = _repeated(a, ins[0].shape)
    extents, steps = list(shape), strides_of(shape)
    extents.insert(axis + 1, counts[0])
    steps.insert(axis + 1, 0)
    return loops(extents, steps)


def _not_uniform(a, ins, outs):
    return None if len(a.repeats) == 1 else "each element has its own number of repetitions"


@op("_npi_repeats")
class Repeats:
    """Repeat elements along an axis, or of the flattened array, `repeats` times each.

    A single number applies to all elements.
    """

    repeats: ShapeOrNone
    axis: IntOrNone = None

    dtypes = _KINDS
    complexes = True
    samples = (
        sample((2, 3), repeats=2),
        sample((2, 3), repeats=(2,), axis=-1),
        sample((2, 3, 2), repeats=(0, 2, 1), axis=1),
        sample((4,), repeats=(1, 2, 0, 1)),
        sample((), repeats=3),
        sample((2, 3), repeats=0, axis=0, grad=False),
    )
    kernels = (
        strided(_repeat_loops, rank=lambda a, ins, outs: ins[0].ndim + 1, when=_not_uniform),
    )
    infer_back = back_dtype

    def infer(a, data):
        if data.shape is None:
            return Spec(None, data.dtype)
        shape, axis, counts = _repeated(a, data.shape)
        total = sum(counts) if len(counts) > 1 else shape[axis] * counts[0]
        total = -1 if shape[axis] == -1 else total
        return Spec((*shape[:axis], total, *shape[axis + 1 :]), data.dtype)

    def grad(a, F, g, specs):
        return F._backward_npi_repeats(g, repeats=a.repeats, axis=a.axis, shape=specs[0].shape)

    def ref(a, xp, data):
        return xp.repeat(data, a.repeats, a.axis)


@op("_backward_npi_repeats")
class RepeatsGradient:
    """Gradient of repeat: sum `data` over the repetitions of each element, in the given shape."""

    repeats: ShapeOrNone
    axis: IntOrNone = None
    shape: Shape

    dtypes = ("float32", "float64")
    complexes = True
    samples = (
        sample((4, 3), repeats=2, axis=0, shape=(2, 3)),
        sample((4,), repeats=(1, 2, 0, 1), shape=(4,)),
        sample((2, 3), repeats=(0, 2, 1), axis=-1, shape=(2, 3)),
    )

    def infer(a, data):
        data.fill("data", Repeats._infer(a, Spec(a.shape, data.dtype)).shape)
        return Spec(a.shape, data.dtype)

    def grad(a, F, g):
        return F._npi_repeats(g, repeats=a.repeats, axis=a.axis)

    def ref(a, xp, data):
        shape, axis, counts = _repeated(a, a.shape)
        moved = xp.moveaxis(data, axis, 0)
        out = xp.zeros((shape[axis], *moved.shape[1:]), data.dtype)
        xp.add.at(out, xp.repeat(xp.arange(shape[axis]), counts), moved)
        return xp.moveaxis(out, 0, axis).reshape(a.shape)
