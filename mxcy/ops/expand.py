"""Operators that repeat elements of one array: tiles, repetitions, broadcasts and padding."""

from mxcy.ops.attrs import Double, Enum, Int, IntOrNone, Shape, ShapeOrNone
from mxcy.ops.infer import Spec, normal_axis, require
from mxcy.ops.params import PAD
from mxcy.ops.record import native, op, sample
from mxcy.ops.shape import restored
from mxcy.ops.strided import FILL, loops, strided, strides_of

__all__ = []


def _times(extent, factor):
    return -1 if extent == -1 else extent * factor


# --- tile and repeat -----------------------------------------------------------------------------


def _tiling(reps, shape):
    """The repetitions and the extents with as many entries each."""
    n = max(len(reps), len(shape))
    return (1,) * (n - len(reps)) + tuple(reps), (1,) * (n - len(shape)) + tuple(shape)


def _tile_loops(a, ins, outs):
    reps, extents = _tiling(a.reps, ins[0].shape)
    shape, src = [], []
    for repeated, extent, stride in zip(reps, extents, strides_of(extents), strict=True):
        shape += [repeated, extent]
        src += [0, stride]
    return loops(shape, src)


@op("tile", aliases=("_npi_tile",))
class Tile:
    """Repeat the whole array ``reps[i]`` times along dimension i.

    `reps` and the shape are aligned at the last dimension; the shorter one is filled with ones.
    """

    reps: Shape

    def infer(a, data):
        require(all(n >= 0 for n in a.reps), f"reps: must not be negative, got {a.reps}")
        if data.shape is None:
            return Spec(None, data.dtype)
        reps, extents = _tiling(a.reps, data.shape)
        return Spec(tuple(_times(n, rep) for n, rep in zip(extents, reps, strict=True)), data.dtype)

    def grad(a, F, g, specs):
        reps, extents = _tiling(a.reps, specs[0].shape)
        pairs = tuple(n for pair in zip(reps, extents, strict=True) for n in pair)
        parts = F._backward_reshape(g, shape=pairs)
        return restored(F, F.sum(parts, axis=tuple(range(0, len(pairs), 2))), specs[0])

    def ref(a, xp, data):
        return xp.tile(data, a.reps)

    kernels = (strided(_tile_loops, rank=lambda a, ins, outs: 2 * outs[0].ndim),)
    samples = (
        sample((2, 3), reps=(2,)),
        sample((2, 3), reps=(2, 1, 3)),
        sample((2, 3, 2), reps=(2, 3)),
        sample((2, 3), reps=()),
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


@op("repeat", aliases=("_np_repeat", "_npi_repeat"))
class Repeat:
    """Repeat every element `repeats` times along `axis`, or of the flattened array by default."""

    repeats: Int
    axis: IntOrNone = None

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
    samples = (
        sample((2, 3), repeats=2),
        sample((2, 3), repeats=3, axis=0),
        sample((2, 3, 2), repeats=2, axis=-2),
    )


# --- broadcasts ----------------------------------------------------------------------------------


def _stretch_loops(a, ins, outs):
    pairs = zip(ins[0].shape, outs[0].shape, strides_of(ins[0].shape), strict=True)
    return loops(outs[0].shape, [stride if n == out else 0 for n, out, stride in pairs])


def _sum_to(F, g, spec, axes):
    """The gradient of an input that was stretched along `axes`."""
    return restored(F, F.sum(g, axis=tuple(axes), keepdims=True), spec) if axes else g


@op("broadcast_to")
class BroadcastTo:
    """Stretch dimensions of extent 1 to `shape`, which has as many entries; 0 keeps an extent.

    Raises
    ------
    MXNetError
        When a dimension to stretch has another extent than 1, or the numbers of dimensions differ.
    """

    shape: Shape = ()

    def infer(a, data):
        if data.shape is None:
            return Spec(tuple(-1 if n == 0 else n for n in a.shape), data.dtype)
        require(
            len(a.shape) == data.ndim,
            f"shape: cannot broadcast {data.shape} to {a.shape}, the dimensions differ in number",
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
    samples = (sample((1, 3), shape=(4, 3)), sample((2, 1, 3, 1), shape=(0, 5, 0, 2)))


@op("broadcast_axis", aliases=("broadcast_axes",))
class BroadcastAxis:
    """Stretch the dimensions `axis` (of extent 1, not negative) to the extents `size`."""

    axis: Shape = ()
    size: Shape = ()

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
    samples = (
        sample((1, 3, 1), axis=(0, 2), size=(2, 4)),
        sample((1, 3), axis=0, size=2),
        sample((2, 3)),
    )


def _likened(a, lhs, rhs):
    """(dimension of lhs, dimension of rhs) of every pair that is matched."""
    if a.lhs_axes is None and a.rhs_axes is None:
        require(
            len(lhs) == len(rhs), f"lhs {lhs} and rhs {rhs} differ in their number of dimensions"
        )
        return [(i, i) for i in range(len(lhs))]
    left, right = a.lhs_axes or (), a.rhs_axes or ()
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


@op("broadcast_like", aliases=("_npx_broadcast_like",), inputs="lhs rhs")
class BroadcastLike:
    """Stretch `lhs` to the shape of `rhs`: all dimensions, or those of `lhs_axes` to `rhs_axes`."""

    lhs_axes: ShapeOrNone = None
    rhs_axes: ShapeOrNone = None

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
    samples = (
        sample((1, 3), (5, 3)),
        sample((1, 3), (5, 6, 7), lhs_axes=(0,), rhs_axes=(2,)),
        sample((1, 1), (5, 6), lhs_axes=(-1,), rhs_axes=(-1,)),
    )


# --- padding -------------------------------------------------------------------------------------


def _margins(a):
    """(before, after) of every dimension."""
    return list(zip(a.pad_width[::2], a.pad_width[1::2], strict=True))


def _check_padding(a, shape):
    require(len(shape) in (4, 5), f"data: padding needs 4 or 5 dimensions, got {shape}")
    require(
        len(a.pad_width) == 2 * len(shape),
        f"pad_width: needs {2 * len(shape)} entries for {shape}, got {a.pad_width}",
    )
    require(not any(a.pad_width[:4]), "pad_width: the first two dimensions cannot be padded")
    for extent, (before, after) in zip(shape, _margins(a), strict=True):
        if extent == -1:
            continue
        require(
            a.mode == "constant" or min(before, after) >= 0,
            f"pad_width: must not be negative in mode {a.mode}, got {a.pad_width}",
        )
        require(
            a.mode != "reflect" or max(before, after) < extent,
            f"pad_width: reflected margins of {a.pad_width} must be smaller than {shape}",
        )
        require(extent + before + after >= 0, f"pad_width: {a.pad_width} removes more than {shape}")


def _pad_infer(a, data):
    if data.shape is None:
        return Spec((-1,) * (len(a.pad_width) // 2), data.dtype)
    _check_padding(a, data.shape)
    shape = tuple(
        -1 if n == -1 else n + before + after
        for n, (before, after) in zip(data.shape, _margins(a), strict=True)
    )
    return Spec(shape, data.dtype)


def _source_indices(xp, mode, extent, before, after):
    """For every index along a padded dimension the input's index that it repeats."""
    index = xp.arange(-before, extent + after)
    if mode == "reflect" and extent > 1:
        index = abs(index)
        return xp.minimum(index, 2 * (extent - 1) - index)
    return xp.clip(index, 0, extent - 1)


def _overlap(a, shape):
    """The part of each dimension that a constant padding keeps: both sides' starts, extent."""
    found = []
    for extent, (before, after) in zip(shape, _margins(a), strict=True):
        start = max(-before, 0)
        found.append((start, max(before, 0), extent - start - max(-after, 0)))
    return found


def _pad_loops(a, ins, outs):
    kept = _overlap(a, ins[0].shape)
    src, dst = strides_of(ins[0].shape), strides_of(outs[0].shape)
    return loops(
        [max(n, 0) for _, _, n in kept],
        src,
        dst,
        src_offset=sum(start * stride for (start, _, _), stride in zip(kept, src, strict=True)),
        dst_offset=sum(start * stride for (_, start, _), stride in zip(kept, dst, strict=True)),
        before=FILL,
        scalar=a.constant_value,
    )


def _not_constant(a, ins, outs):
    return None if a.mode == "constant" else f"mode {a.mode}"


def _mirror(name, shape):
    """A kernel for margins that repeat elements of an array of ``shape(a, ins)``."""

    def params(a, ins, outs):
        margins = _margins(a)
        return {
            "ndim": len(margins), "reflect": a.mode == "reflect", "shape": shape(a, ins),
            "before": [before for before, _ in margins], "after": [after for _, after in margins],
        }  # fmt: skip

    def when(a, ins, outs):
        if a.mode == "constant":
            return "mode constant"
        return "nothing to repeat" if 0 in shape(a, ins) else None

    return native(name, struct=PAD, params=params, when=when)


@op("Pad", aliases=("pad", "_npx_pad"))
class Pad:
    """Add margins to the dimensions of an array behind the first two.

    `pad_width` holds (before, after) for every dimension, zeros for the first two. The margins are
    filled with `constant_value`, with the nearest element (``'edge'``) or with the elements
    mirrored at the edge element (``'reflect'``). Negative widths cut, in mode ``'constant'``.

    Raises
    ------
    MXNetError
        When the array has not 4 or 5 dimensions or the widths do not fit it.
    """

    mode: Enum("constant", "edge", "reflect")
    pad_width: Shape
    constant_value: Double = 0.0

    infer = _pad_infer

    def grad(a, F, g, specs):
        return F._backward_pad(g, mode=a.mode, pad_width=a.pad_width, shape=specs[0].shape)

    def ref(a, xp, data):
        margins = _margins(a)
        if a.mode != "constant":
            for axis, (before, after) in enumerate(margins):
                index = _source_indices(xp, a.mode, data.shape[axis], before, after)
                data = xp.take(data, index, axis)
            return data
        inner, outer = _interiors(a, data.shape)
        shape = tuple(n + sum(margin) for n, margin in zip(data.shape, margins, strict=True))
        out = xp.full(shape, a.constant_value, data.dtype)
        out[outer] = data[inner]
        return out

    kernels = (
        strided(_pad_loops, when=_not_constant),
        _mirror("pad", lambda a, ins: ins[0].shape),
    )
    samples = (
        sample(
            (1, 2, 3, 4), mode="constant", pad_width=(0, 0, 0, 0, 1, 2, 3, 0), constant_value=7.5
        ),
        sample((1, 2, 3, 4), mode="constant", pad_width=(0, 0, 0, 0, 1, -1, -2, 0)),
        sample((1, 2, 3, 4), mode="edge", pad_width=(0, 0, 0, 0, 1, 2, 5, 0)),
        sample((2, 1, 3, 4), mode="reflect", pad_width=(0, 0, 0, 0, 1, 2, 3, 0)),
        sample((1, 1, 2, 3, 4), mode="reflect", pad_width=(0, 0, 0, 0, 1, 0, 2, 2, 0, 3)),
    )


def _interiors(a, shape):
    """The part that a constant padding keeps, as slices of the input and of the output."""
    kept = _overlap(a, shape)
    inner = tuple(slice(start, start + n) for start, _, n in kept)
    outer = tuple(slice(start, start + n) for _, start, n in kept)
    return inner, outer


def _fold(xp, mode, g, axis, extent, before, after):
    """Add the gradients of the margins of one dimension to the elements that they repeat."""
    g = xp.moveaxis(g, axis, 0)
    inner = xp.array(g[before : before + extent])
    if mode == "edge":
        inner[0] += g[:before].sum(0)
        inner[extent - 1] += g[before + extent :].sum(0)
    else:
        inner[1 : before + 1] += g[:before][::-1]
        inner[extent - 1 - after : extent - 1] += g[before + extent :][::-1]
    return xp.moveaxis(inner, 0, axis)


def _unpad_loops(a, ins, outs):
    whole = _pad_loops(a, outs, ins)  # the same loops the other way round
    whole.update(src=whole["dst"], dst=whole["src"], scalar=0.0)
    whole.update(src_offset=whole["dst_offset"], dst_offset=whole["src_offset"])
    return whole


@op("_backward_pad")
class PadGradient:
    """The gradient of Pad: `shape` is the input's; margins add to the elements they repeat."""

    mode: Enum("constant", "edge", "reflect")
    pad_width: Shape
    shape: Shape
    constant_value: Double = 0.0

    def infer(a, data):
        return Spec(a.shape, data.dtype)

    def grad(a, F, g):
        return F.Pad(g, mode=a.mode, pad_width=a.pad_width)

    def ref(a, xp, data):
        if a.mode == "constant":
            inner, outer = _interiors(a, a.shape)
            out = xp.zeros(a.shape, data.dtype)
            out[inner] = data[outer]
            return out
        for axis, (before, after) in enumerate(_margins(a)):
            data = _fold(xp, a.mode, data, axis, a.shape[axis], before, after)
        return data

    kernels = (
        strided(_unpad_loops, when=_not_constant),
        _mirror("pad_grad", lambda a, ins: a.shape),
    )
    samples = (
        sample(
            (1, 1, 3, 3), mode="constant", pad_width=(0, 0, 0, 0, 1, 0, -2, 0), shape=(1, 1, 2, 5)
        ),
        sample((1, 1, 4, 5), mode="edge", pad_width=(0, 0, 0, 0, 1, 1, 2, 0), shape=(1, 1, 2, 3)),
        sample(
            (1, 1, 4, 5), mode="reflect", pad_width=(0, 0, 0, 0, 1, 1, 2, 0), shape=(1, 1, 2, 3)
        ),
    )
