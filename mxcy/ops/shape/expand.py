"""Operators that repeat elements: tile, repeat and broadcasting."""

from mxcy.ops.core.attrs import Field, Int, IntOrNone, Shape, ShapeOrNone
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, back_dtype, normal_axis, require
from mxcy.ops.core.record import op, register, sample
from mxcy.ops.shape.reshape import restored
from mxcy.ops.shape.strided import loops, strided, strides_of

__all__ = []


def _times(extent, factor):
    return -1 if extent == -1 else extent * factor


# --- tile and repeat -----------------------------------------------------------------------------


def _tiling(reps, shape):
    """Return repetitions and extents, padded to equal length."""
    n = max(len(reps), len(shape))
    return (1,) * (n - len(reps)) + tuple(reps), (1,) * (n - len(shape)) + tuple(shape)


def _tile_loops(a, ins, outs):
    reps, extents = _tiling(a.reps, ins[0].shape)
    shape, src = [], []
    for repeated, extent, stride in zip(reps, extents, strides_of(extents), strict=True):
        shape += [repeated, extent]
        src += [0, stride]
    return loops(shape, src)


def _tile_infer(least):
    def infer(a, data):
        require(
            min(a.reps, default=least) >= least, f"reps: expected {least} or more, got {a.reps}"
        )
        if data.shape is None:
            return Spec(None, data.dtype)
        reps, extents = _tiling(a.reps, data.shape)
        return Spec(tuple(_times(n, rep) for n, rep in zip(extents, reps, strict=True)), data.dtype)

    return infer


def _tile_grad(a, F, g, specs):
    reps, extents = _tiling(a.reps, specs[0].shape)
    pairs = tuple(n for pair in zip(reps, extents, strict=True) for n in pair)
    parts = F._backward_reshape(g, shape=pairs)
    return restored(F, F.sum(parts, axis=tuple(range(0, len(pairs), 2))), specs[0])


# Zero repetitions mean an unknown shape in MXNet's operator, an empty array in mx.np's.
for _name, _least, _more in (("tile", 1, ()), ("_npi_tile", 0, (sample((2, 3), reps=(2, 0)),))):
    register(
        _name,
        fields=(Field("reps", Shape),),
        infer=_tile_infer(_least),
        infer_back=back_dtype,
        grad=_tile_grad,
        ref=lambda a, xp, data: xp.tile(data, a.reps),
        kernels=(strided(_tile_loops, rank=lambda a, ins, outs: 2 * outs[0].ndim),),
        in_symbols=InSymbols(named_input=True),
        complexes=True,
        samples=(
            sample((2, 3), reps=(2,)),
            sample((2, 3), reps=(2, 1, 3)),
            sample((2, 3, 2), reps=(2, 3)),
            sample((2, 3), reps=()),
            *_more,
        ),
        doc="""Tile an array: repeat it ``reps[i]`` times along dimension i.

        `reps` and the shape are aligned at the last dimension; the shorter one is padded with ones.
        """,
    )


def _repeat_axis(a, ndim):
    return normal_axis(a.axis, ndim)


def _repeat_loops(a, ins, outs):
    shape, src = list(ins[0].shape), strides_of(ins[0].shape)
    if a.axis is None:
        shape, src, at = [ins[0].size], [1], 0
    else:
        at = _repeat_axis(a, len(shape))
    shape.insert(at + 1, a.repeats)
    src.insert(at + 1, 0)
    return loops(shape, src)


@op("repeat", aliases=("_np_repeat", "_npi_repeat"), in_symbols=InSymbols(named_input=True))
class Repeat:
    """Repeat each element `repeats` times along `axis`, by default of the flattened array."""

    repeats: Int
    axis: IntOrNone = None

    infer_back = back_dtype

    def infer(a, data):
        require(a.repeats >= 0, f"repeats: must not be negative, got {a.repeats}")
        if data.shape is None:
            return Spec((-1,) if a.axis is None else None, data.dtype)
        if a.axis is None:
            size = -1 if -1 in data.shape else data.size
            return Spec((_times(size, a.repeats),), data.dtype)
        shape, at = list(data.shape), _repeat_axis(a, data.ndim)
        shape[at] = _times(shape[at], a.repeats)
        return Spec(tuple(shape), data.dtype)

    def grad(a, F, g, specs):
        shape = (specs[0].size,) if a.axis is None else specs[0].shape
        at = 0 if a.axis is None else _repeat_axis(a, len(shape))
        parts = F._backward_reshape(g, shape=(*shape[: at + 1], a.repeats, *shape[at + 1 :]))
        return restored(F, F.sum(parts, axis=(at + 1,)), specs[0])

    def ref(a, xp, data):
        return xp.repeat(data, a.repeats, a.axis)

    kernels = (strided(_repeat_loops, rank=lambda a, ins, outs: ins[0].ndim + 1),)
    complexes = True
    samples = (
        sample((2, 3), repeats=2),
        sample((2, 3), repeats=3, axis=0),
        sample((2, 3, 2), repeats=2, axis=-2),
    )


# --- broadcasting --------------------------------------------------------------------------------


def _stretch_loops(a, ins, outs):
    pairs = zip(ins[0].shape, outs[0].shape, strides_of(ins[0].shape), strict=True)
    return loops(outs[0].shape, [stride if n == out else 0 for n, out, stride in pairs])


def _sum_to(F, g, spec, axes):
    """Return the gradient of an input broadcast along `axes`."""
    return restored(F, F.sum(g, axis=tuple(axes), keepdims=True), spec) if axes else g


@op("broadcast_to")
class BroadcastTo:
    """Broadcast dimensions of size 1 to `shape`, of equal rank; 0 keeps an extent.

    Raises
    ------
    MXNetError
        If a dimension to broadcast does not have extent 1, or the ranks differ.
    """

    shape: Shape = ()

    infer_back = back_dtype

    def infer(a, data):
        if data.shape is None:
            return Spec(tuple(-1 if n == 0 else n for n in a.shape), data.dtype)
        require(
            len(a.shape) == data.ndim,
            f"shape: cannot broadcast {data.shape} to {a.shape}, the ranks differ",
        )
        out = tuple(n or extent for n, extent in zip(a.shape, data.shape, strict=True))
        for extent, n in zip(data.shape, out, strict=True):
            require(
                extent in (n, 1, -1) and (n >= 0 or extent == -1),
                f"shape: cannot broadcast {data.shape} to {a.shape}",
            )
        return Spec(out, data.dtype)

    def grad(a, F, g, specs):
        pairs = zip(specs[0].shape, a.shape, strict=True)
        return _sum_to(F, g, specs[0], [i for i, (n, out) in enumerate(pairs) if out not in (0, n)])

    def ref(a, xp, data):
        shape = tuple(n or extent for n, extent in zip(a.shape, data.shape, strict=True))
        return xp.broadcast_to(data, shape)

    kernels = (strided(_stretch_loops),)
    complexes = True
    samples = (sample((1, 3), shape=(4, 3)), sample((2, 1, 3, 1), shape=(0, 5, 0, 2)))


@op("broadcast_axis", aliases=("broadcast_axes",))
class BroadcastAxis:
    """Broadcast the dimensions `axis` (of size 1, non-negative) to the extents `size`."""

    axis: Shape = ()
    size: Shape = ()

    infer_back = back_dtype

    def infer(a, data):
        require(len(a.axis) == len(a.size), f"axis {a.axis} and size {a.size} differ in length")
        if data.shape is None:
            return Spec(None, data.dtype)
        shape = list(data.shape)
        for axis, size in zip(a.axis, a.size, strict=True):
            require(0 <= axis < data.ndim, f"axis: {axis} is out of bounds for {data.shape}")
            require(shape[axis] in (1, -1), f"axis: dimension {axis} of {data.shape} is not 1")
            require(size >= 0, f"size: must not be negative, got {a.size}")
            shape[axis] = size
        return Spec(tuple(shape), data.dtype)

    def grad(a, F, g, specs):
        return _sum_to(F, g, specs[0], a.axis)

    def ref(a, xp, data):
        shape = list(data.shape)
        for axis, size in zip(a.axis, a.size, strict=True):
            shape[axis] = size
        return xp.broadcast_to(data, shape)

    kernels = (strided(_stretch_loops),)
    complexes = True
    samples = (
        sample((1, 3, 1), axis=(0, 2), size=(2, 4)),
        sample((1, 3), axis=0, size=2),
        sample((2, 3)),
    )


def _likened(a, lhs, rhs):
    """Return the matched pairs (dimension of lhs, dimension of rhs)."""
    if a.lhs_axes is None or a.rhs_axes is None:  # MXNet requires both
        require(
            len(lhs) == len(rhs), f"lhs {lhs} and rhs {rhs} differ in their number of dimensions"
        )
        return [(i, i) for i in range(len(lhs))]
    left, right = a.lhs_axes, a.rhs_axes
    require(
        len(left) == len(right) > 0, f"lhs_axes {a.lhs_axes} and rhs_axes {a.rhs_axes} must match"
    )
    return [
        (normal_axis(i, len(lhs), "lhs_axes"), normal_axis(j, len(rhs), "rhs_axes"))
        for i, j in zip(left, right, strict=True)
    ]


def _liken(a, lhs, rhs):
    shape = list(lhs)
    for i, j in _likened(a, lhs, rhs):
        require(
            lhs[i] in (1, -1, rhs[j]) or rhs[j] == -1, f"lhs: cannot broadcast {lhs} like {rhs}"
        )
        shape[i] = rhs[j]
    return tuple(shape)


@op(
    "broadcast_like",
    aliases=("_npx_broadcast_like",),
    inputs="lhs rhs",
    ignores=("rhs",),
    numpy="npx.broadcast_like(lhs, rhs, lhs_axes=None, rhs_axes=None, out=None, name=None)",
)
class BroadcastLike:
    """Broadcast `lhs` to the shape of `rhs`: all dimensions, or `lhs_axes` to `rhs_axes`."""

    lhs_axes: ShapeOrNone = None
    rhs_axes: ShapeOrNone = None

    infer_back = back_dtype

    def infer(a, lhs, rhs):
        if lhs.shape is None or rhs.shape is None:
            return Spec(None, lhs.dtype)
        return Spec(_liken(a, lhs.shape, rhs.shape), lhs.dtype)

    def grad(a, F, g, specs):
        have, want = specs[0].shape, _liken(a, specs[0].shape, specs[1].shape)
        axes = [i for i, (n, out) in enumerate(zip(have, want, strict=True)) if n != out]
        return _sum_to(F, g, specs[0], axes)

    def ref(a, xp, lhs, rhs):
        return xp.broadcast_to(lhs, _liken(a, lhs.shape, rhs.shape))

    kernels = (strided(_stretch_loops),)
    complexes = True
    samples = (
        sample((1, 3), (5, 3)),
        sample((1, 3), (5, 6, 7), lhs_axes=(0,), rhs_axes=(2,)),
        sample((1, 1), (5, 6), lhs_axes=(-1,), rhs_axes=(-1,)),
    )
