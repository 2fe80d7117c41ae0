"""`mx.np` padding along any axes."""

import numpy as np

from mxcy._base.errors import MXNetError
from mxcy.ops.core.attrs import Double, Enum, Shape, ShapeTuple, Str
from mxcy.ops.core.infer import Spec, require, whole_shape
from mxcy.ops.core.record import op, sample
from mxcy.ops.shape.pad import repeating
from mxcy.ops.shape.strided import FILL, loops, strided, strides_of

__all__ = []

_MODE = Enum("constant", "edge", "maximum", "minimum", "reflect", "symmetric")


def _margins(a, ndim):
    """Return (before, after) of every axis; a single pair applies to all."""
    pairs = a.pad_width * ndim if len(a.pad_width) == 1 else a.pad_width
    require(
        len(pairs) == ndim and all(len(pair) == 2 for pair in pairs),
        f"pad_width: expected a pair for each of {ndim} axes, got {a.pad_width}",
    )
    require(
        min((n for pair in pairs for n in pair), default=0) >= 0,
        f"pad_width: index can't contain negative values, got {a.pad_width}",
    )
    return pairs


def _padded(a, shape):
    margins = _margins(a, len(shape))
    for extent, pair in zip(shape, margins, strict=True):
        require(
            extent or not sum(pair) or a.mode == "constant",
            f"mode: cannot pad an empty axis of {shape} in mode {a.mode!r}",
        )
    pairs = zip(shape, margins, strict=True)
    return tuple(-1 if n == -1 else n + before + after for n, (before, after) in pairs)


def _kept(a, shape):
    """Return the slices of the original elements in the padded array."""
    pairs = zip(shape, _margins(a, len(shape)), strict=True)
    return tuple(slice(before, before + n) for n, (before, _) in pairs)


def _inside(strides, a, shape):
    margins = _margins(a, len(shape))
    return sum(before * stride for (before, _), stride in zip(margins, strides, strict=True))


def _pad_loops(a, ins, outs):
    shape, strides = ins[0].shape, strides_of(outs[0].shape)
    return loops(
        shape,
        strides_of(shape),
        strides,
        dst_offset=_inside(strides, a, shape),
        before=FILL,
        scalar=a.constant_values,
    )


def _cut_loops(a, ins, outs):
    shape, strides = outs[0].shape, strides_of(ins[0].shape)
    return loops(shape, strides, src_offset=_inside(strides, a, shape))


def _not_constant(a, ins, outs):
    return None if a.mode == "constant" else f"mode {a.mode}"


@op("_npi_pad")
class Pad:
    """Pad an array: ``pad_width`` holds (before, after) for every axis.

    Padding values are `constant_values`, the edge element (``'edge'``), a reflection without
    (``'reflect'``) or with the edge element (``'symmetric'``), or the maximum or minimum along the
    axis (``'maximum'``, ``'minimum'``, not differentiable). `reflect_type` must be ``'even'``.
    """

    pad_width: ShapeTuple
    mode: _MODE = "constant"
    constant_values: Double = 0.0
    reflect_type: Str = "even"

    dtypes = ("float32", "float64", "int8", "bool")
    complexes = True
    samples = (
        sample((2, 3), pad_width=((1, 1), (0, 2)), constant_values=1),
        sample((2, 3), pad_width=((1, 3), (0, 2)), mode="edge"),
        sample((2, 3), pad_width=((1, 0), (4, 1)), mode="reflect"),
        sample((2, 3), pad_width=((1, 2),), mode="symmetric"),
        sample((2, 3, 1, 2), pad_width=((0, 0), (5, 7), (2, 1), (0, 0)), mode="symmetric"),
        sample((3, 2, 20), pad_width=((1, 2), (0, 0), (9, 30)), mode="reflect"),
        sample((2, 1, 2, 1, 2, 1, 2), pad_width=((1, 0),), mode="edge"),
        sample((2, 3, 2), pad_width=((1, 2),), mode="maximum", grad=False),
        sample((2, 3), pad_width=((0, 2), (1, 0)), mode="minimum", grad=False),
        sample((), pad_width=(), grad=False),
        sample((0, 2), pad_width=((1, 2), (0, 1)), grad=False),
    )
    kernels = (
        strided(_pad_loops, when=_not_constant),
        repeating("pad", lambda a, ins: ins[0].shape, lambda a, shape: _margins(a, len(shape))),
    )

    def infer(a, data):
        require(a.reflect_type == "even", f"unsupported reflect_type {a.reflect_type!r}")
        return Spec(None if data.shape is None else _padded(a, data.shape), data.dtype)

    def grad(a, F, g, specs):
        if a.mode in ("maximum", "minimum"):
            raise MXNetError(f"_npi_pad: mode {a.mode!r} has no gradient")
        return F._backward_npi_pad(g, pad_width=a.pad_width, mode=a.mode, shape=specs[0].shape)

    def ref(a, xp, data):
        more = {"constant_values": a.constant_values} if a.mode == "constant" else {}
        if a.mode == "constant" and data.dtype.kind in "biu":
            more = {"constant_values": xp.asarray(a.constant_values).astype(data.dtype)}
        return xp.pad(data, _margins(a, data.ndim), a.mode, **more) if data.ndim else data


@op("_backward_npi_pad")
class PadGradient:
    """Gradient of padding: sum `data` over the copies of each element, in the given shape."""

    pad_width: ShapeTuple
    mode: _MODE = "constant"
    shape: Shape

    complexes = True
    samples = (
        sample((4, 5), pad_width=((1, 1), (0, 2)), shape=(2, 3)),
        sample((6, 5), pad_width=((1, 3), (0, 2)), mode="edge", shape=(2, 3)),
        sample((3, 8), pad_width=((1, 0), (4, 1)), mode="reflect", shape=(2, 3)),
        sample((5, 6), pad_width=((1, 2),), mode="symmetric", shape=(2, 3)),
        sample((14,), pad_width=((5, 6),), mode="symmetric", shape=(3,)),
        sample((2, 3, 7), pad_width=((0, 0), (1, 1), (2, 4)), mode="edge", shape=(2, 1, 1)),
    )
    kernels = (
        strided(_cut_loops, when=_not_constant),
        repeating("pad_grad", lambda a, ins: a.shape, lambda a, shape: _margins(a, len(shape))),
    )

    def infer(a, data):
        require(a.mode not in ("maximum", "minimum"), f"mode: {a.mode!r} is not linear")
        data.fill("data", _padded(a, whole_shape(a.shape)))
        return Spec(a.shape, data.dtype)

    def grad(a, F, g):
        return F._npi_pad(g, pad_width=a.pad_width, mode=a.mode)

    def ref(a, xp, data):
        if a.mode == "constant":
            return data[_kept(a, a.shape)]
        for axis, (extent, pair) in enumerate(zip(a.shape, _margins(a, data.ndim), strict=True)):
            source = np.pad(np.arange(extent), pair, a.mode)
            moved = xp.moveaxis(data, axis, 0)
            out = xp.zeros((extent, *moved.shape[1:]), data.dtype)
            xp.add.at(out, source, moved)
            data = xp.moveaxis(out, 0, axis)
        return data
