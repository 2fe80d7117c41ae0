"""Padding operators."""

from mxcy.ops.core.attrs import Double, Enum, Shape
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, require, whole_shape
from mxcy.ops.core.params import PAD
from mxcy.ops.core.record import native, op, sample
from mxcy.ops.shape.strided import FILL, loops, strided, strides_of

__all__ = ["repeating"]

_REPEATS = ("edge", "reflect", "symmetric", "wrap")  # in the kernel's order
_KERNEL_DIMS = 5


def _margins(a):
    """Return (before, after) of every dimension."""
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
    widths = a.pad_width
    require(widths and len(widths) % 2 == 0, f"pad_width: expected pairs of numbers, got {widths}")
    if data.shape is None:
        return Spec((-1,) * (len(a.pad_width) // 2), data.dtype)
    _check_padding(a, data.shape)
    shape = tuple(
        -1 if n == -1 else n + before + after
        for n, (before, after) in zip(data.shape, _margins(a), strict=True)
    )
    return Spec(shape, data.dtype)


def _source_indices(xp, mode, extent, before, after):
    """Return the source index of every index along a padded dimension."""
    index = xp.arange(-before, extent + after)
    if mode == "reflect" and extent > 1:
        index = abs(index)
        return xp.minimum(index, 2 * (extent - 1) - index)
    return xp.clip(index, 0, extent - 1)


def _overlap(a, shape):
    """Return the kept part of each dimension: start in the input and output, extent."""
    ranges = []
    for extent, (before, after) in zip(shape, _margins(a), strict=True):
        start = max(-before, 0)
        ranges.append((start, max(before, 0), extent - start - max(-after, 0)))
    return ranges


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


def _collapsed(shape, margins):
    """Merge adjacent dimensions without margins."""
    dims = []
    for extent, pair in zip(shape, margins, strict=True):
        if dims and not any(pair) and not any(dims[-1][1]):
            dims[-1] = (dims[-1][0] * extent, pair)
        else:
            dims.append((extent, pair))
    return dims


def repeating(name, shape, margins, mode=lambda a: a.mode):
    """Return a kernel for margins that repeat elements of an array.

    Parameters
    ----------
    name : str
        Kernel: ``'pad'``, or ``'pad_grad'``, which adds the margins to their sources.
    shape : callable
        ``shape(a, ins)``: the shape without margins.
    margins : callable
        ``margins(a, shape)``: (before, after) of every dimension.
    mode : callable
        ``mode(a)``: ``'edge'``, ``'reflect'``, ``'symmetric'``, ``'wrap'``, or else the kernel
        refuses.
    """

    def params(a, ins, outs):
        dims = _collapsed(shape(a, ins), margins(a, shape(a, ins)))
        return {
            "ndim": len(dims),
            "reflect": _REPEATS.index(mode(a)),
            "shape": [extent for extent, _ in dims],
            "before": [before for _, (before, _) in dims],
            "after": [after for _, (_, after) in dims],
        }

    def when(a, ins, outs):
        padded = shape(a, ins)
        if mode(a) not in _REPEATS:
            return f"mode {mode(a)}"
        if not padded or 0 in padded:
            return "nothing to repeat"
        needed = len(_collapsed(padded, margins(a, padded)))
        return None if needed <= _KERNEL_DIMS else f"margins in {needed} parts of the shape"

    return native(name, struct=PAD, params=params, when=when)


@op("Pad", aliases=("pad", "_npx_pad"), in_symbols=InSymbols(named_input=True))
class Pad:
    """Pad all dimensions of an array but the first two.

    `pad_width` holds (before, after) for every dimension, zeros for the first two. Padding values
    are `constant_value`, the edge element (``'edge'``) or a reflection about the edge element
    (``'reflect'``). Negative widths crop in mode ``'constant'``.

    Raises
    ------
    MXNetError
        If the array does not have 4 or 5 dimensions, or the widths are invalid.
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
        repeating("pad", lambda a, ins: ins[0].shape, lambda a, shape: _margins(a)),
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
    """Return the kept part of a constant padding, as slices of the input and the output."""
    kept = _overlap(a, shape)
    inner = tuple(slice(start, start + n) for start, _, n in kept)
    outer = tuple(slice(start, start + n) for _, start, n in kept)
    return inner, outer


def _fold(xp, mode, g, axis, extent, before, after):
    """Add the gradients of one dimension's margins to their source elements."""
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
    loops = _pad_loops(a, outs, ins)  # the same loops in the other direction
    loops.update(src=loops["dst"], dst=loops["src"], scalar=0.0)
    loops.update(src_offset=loops["dst_offset"], dst_offset=loops["src_offset"])
    return loops


@op("_backward_pad")
class PadGradient:
    """Gradient of Pad: `shape` is the input's; margins add to their source elements."""

    mode: Enum("constant", "edge", "reflect")
    pad_width: Shape
    shape: Shape
    constant_value: Double = 0.0

    def infer(a, data):
        data.fill("data", _pad_infer(a, Spec(whole_shape(a.shape))).shape)
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
        repeating("pad_grad", lambda a, ins: a.shape, lambda a, shape: _margins(a)),
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
