"""Operators that are strided copies: transposition, reversal, diagonals."""

import math

from mxcy.ops.core.attrs import Int, Shape
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, back_data, normal_axis, require, whole_shape
from mxcy.ops.core.quantized import Quantized
from mxcy.ops.core.record import Public, op, sample
from mxcy.ops.shape.strided import FILL, loops, strided, strides_of

__all__ = []

_NARROW = ("float16", "bfloat16", "int8", "int64", "bool")


# --- permutations --------------------------------------------------------------------------------


def permuted(axes, ins, outs):
    """Return the loops of a copy with permuted axes."""
    strides = strides_of(ins[0].shape)
    return loops(outs[0].shape, [strides[axis] for axis in axes])


def _transpose_axes(a, ndim):
    return a.axes if a.axes else tuple(range(ndim))[::-1]


def _check_permutation(axes, shape):
    require(
        sorted(axes) == list(range(len(shape))),
        f"axes: {axes} is not a permutation of the {len(shape)} dimensions of {shape}",
    )


@op("transpose")
class Transpose:
    """Permute the dimensions: dimension i of the result is ``axes[i]`` of the input.

    By default the dimensions are reversed.

    Raises
    ------
    MXNetError
        If `axes` is not a permutation of 0, 1, ..., ndim - 1.
    """

    axes: Shape = ()

    def infer(a, data):
        if data.shape is None:
            return Spec((-1,) * len(a.axes) if a.axes else None, data.dtype)
        axes = _transpose_axes(a, data.ndim)
        _check_permutation(axes, data.shape)
        return Spec(tuple(data.shape[axis] for axis in axes), data.dtype)

    def infer_back(a, ins, outs):
        shape = outs[0].shape
        if shape is not None:
            axes = _transpose_axes(a, len(shape))
            _check_permutation(axes, shape)
            shape = tuple(shape[axes.index(i)] for i in range(len(axes)))
        ins[0].fill("data", shape, outs[0].dtype)

    def grad(a, F, g):
        if not a.axes:
            return F.transpose(g)
        inverse = sorted(range(len(a.axes)), key=a.axes.__getitem__)
        return F.transpose(g, axes=tuple(inverse))

    def ref(a, xp, data):
        return xp.transpose(data, a.axes or None)

    quantized = Quantized("_contrib_quantized_transpose")
    kernels = (strided(lambda a, ins, outs: permuted(_transpose_axes(a, ins[0].ndim), ins, outs)),)
    complexes = True
    samples = (
        sample((2, 3)),
        sample((2, 3, 4), axes=(1, 2, 0)),
        sample((40, 37), dtypes=("float32", *_NARROW)),
        sample((2, 1, 3, 2, 2, 1, 2), axes=(6, 0, 5, 1, 4, 2, 3)),
    )


def _swapped(a, ndim):
    axes = list(range(ndim))
    first, second = normal_axis(a.dim1, ndim, "dim1"), normal_axis(a.dim2, ndim, "dim2")
    axes[first], axes[second] = second, first
    return axes


@op(
    "SwapAxis",
    aliases=("swapaxes", "_npi_swapaxes"),
    in_symbols=InSymbols(named_input=True),
    numpy=Public("swapaxes(a, axis1, axis2)", rename={"axis1": "dim1", "axis2": "dim2"}),
)
class SwapAxis:
    """Swap dimensions `dim1` and `dim2`."""

    dim1: Int = 0
    dim2: Int = 0

    def infer(a, data):
        if data.shape is None:
            return Spec(None, data.dtype)
        axes = _swapped(a, data.ndim)
        return Spec(tuple(data.shape[axis] for axis in axes), data.dtype)

    def infer_back(a, ins, outs):
        shape = outs[0].shape
        if shape is not None:
            shape = tuple(shape[axis] for axis in _swapped(a, len(shape)))
        ins[0].fill("data", shape, outs[0].dtype)

    def grad(a, F, g):
        return F.SwapAxis(g, dim1=a.dim1, dim2=a.dim2)

    def ref(a, xp, data):
        return xp.swapaxes(data, a.dim1, a.dim2)

    kernels = (strided(lambda a, ins, outs: permuted(_swapped(a, ins[0].ndim), ins, outs)),)
    complexes = True
    samples = (sample((2, 3, 4), dim1=0, dim2=2), sample((2, 3, 4), dim1=1, dim2=-1))


def _check_blocks(a, data, divided, divisor, what):
    require(data.ndim == 4, f"data: needs 4 dimensions, got {data.shape}")
    require(a.block_size > 0, f"block_size: must be positive, got {a.block_size}")
    require(0 not in data.shape[1:], f"data: channels and images are empty in {data.shape}")
    for axis in divided:
        require(
            data.shape[axis] == -1 or data.shape[axis] % divisor == 0,
            f"data: dimension {axis} of {data.shape} is not a multiple of {what}",
        )


def _times(extent, factor):
    return -1 if extent == -1 else extent * factor


def _over(extent, factor):
    return -1 if extent == -1 else extent // factor


# For both operators: the input as six dimensions, their order in the output, and which of the
# reordered dimensions are merged in the output.


def _depth_parts(a, shape):
    n, channels, height, width = shape
    block = a.block_size
    parts = (n, block, block, channels // block**2, height, width)
    return parts, (0, 3, 4, 1, 5, 2), ((0,), (1,), (2, 3), (4, 5))


def _space_parts(a, shape):
    n, channels, height, width = shape
    block = a.block_size
    parts = (n, channels, height // block, block, width // block, block)
    return parts, (0, 3, 5, 1, 2, 4), ((0,), (1, 2, 3), (4,), (5,))


def _move_blocks(parts_of):
    """Return ref and kernels of depth_to_space and space_to_depth."""

    def ref(a, xp, data):
        parts, order, joined = parts_of(a, data.shape)
        moved = xp.transpose(xp.reshape(data, parts), order)
        shape = tuple(math.prod(moved.shape[i] for i in group) for group in joined)
        return xp.reshape(moved, shape)

    def params(a, ins, outs):
        parts, order, _ = parts_of(a, ins[0].shape)
        strides = strides_of(parts)
        return loops([parts[i] for i in order], [strides[i] for i in order])

    return ref, (strided(params, rank=lambda a, ins, outs: 6),)


@op("depth_to_space", in_symbols=InSymbols(named_input=True))
class DepthToSpace:
    """Rearrange channels into blocks of pixels: (n, c, h, w) becomes (n, c/b/b, h*b, w*b)."""

    block_size: Int

    def infer(a, data):
        if data.shape is None:
            return Spec((-1,) * 4, data.dtype)
        _check_blocks(a, data, (1,), a.block_size**2, "block_size squared")
        n, channels, height, width = data.shape
        block = a.block_size
        shape = (n, _over(channels, block**2), _times(height, block), _times(width, block))
        return Spec(shape, data.dtype)

    def grad(a, F, g):
        return F.space_to_depth(g, block_size=a.block_size)

    ref, kernels = _move_blocks(_depth_parts)
    complexes = True
    samples = (sample((1, 8, 2, 3), block_size=2),)


@op("space_to_depth", in_symbols=InSymbols(named_input=True))
class SpaceToDepth:
    """Rearrange blocks of pixels into channels: (n, c, h, w) becomes (n, c*b*b, h/b, w/b)."""

    block_size: Int

    def infer(a, data):
        if data.shape is None:
            return Spec((-1,) * 4, data.dtype)
        _check_blocks(a, data, (2, 3), a.block_size, "block_size")
        n, channels, height, width = data.shape
        block = a.block_size
        shape = (n, _times(channels, block**2), _over(height, block), _over(width, block))
        return Spec(shape, data.dtype)

    def grad(a, F, g):
        return F.depth_to_space(g, block_size=a.block_size)

    ref, kernels = _move_blocks(_space_parts)
    complexes = True
    samples = (sample((1, 2, 4, 6), block_size=2),)


# --- reversal ------------------------------------------------------------------------------------


def _reverse_loops(a, ins, outs):
    shape = ins[0].shape
    strides, offset = strides_of(shape), 0
    for axis in a.axis:
        offset += max(shape[axis] - 1, 0) * strides[axis]
        strides[axis] = -strides[axis]
    return loops(shape, strides, src_offset=offset)


@op("reverse", aliases=("flip",), in_symbols=InSymbols(named_input=True))
class Reverse:
    """Reverse the order of elements along the dimensions `axis` (non-negative)."""

    axis: Shape

    def infer(a, data):
        if data.shape is not None:
            for axis in a.axis:
                require(0 <= axis < data.ndim, f"axis: {axis} is out of bounds for {data.shape}")
            require(len(set(a.axis)) == len(a.axis), f"axis: repeated dimension in {a.axis}")
        return Spec(data.shape, data.dtype)

    infer_back = back_data

    def grad(a, F, g):
        return F.reverse(g, axis=a.axis)

    def ref(a, xp, data):
        return xp.flip(data, a.axis)

    kernels = (strided(_reverse_loops),)
    complexes = True
    samples = (
        sample((2, 3), axis=0),
        sample((2, 3, 4), axis=(0, 2), dtypes=("float32", "float64", *_NARROW)),
        sample((2, 0), axis=(0, 1)),
    )


# --- diagonals -----------------------------------------------------------------------------------


def _diagonal(a, shape):
    """Return axes, first row, first column and length of a diagonal of a shape of rank >= 2."""
    first, second = (
        normal_axis(a.axis1, len(shape), "axis1"),
        normal_axis(a.axis2, len(shape), "axis2"),
    )
    require(first != second, f"axis1 and axis2 are both {first}")
    row, column = max(-a.k, 0), max(a.k, 0)
    if -1 in (shape[first], shape[second]):
        return first, second, row, column, -1
    length = min(shape[first] - row, shape[second] - column)
    require(length > 0, f"k: an array of shape {shape} has no diagonal {a.k}")
    return first, second, row, column, length


def _diagonal_loops(a, shape, part):
    """Return extents, strides and offset of the diagonal `part` in an array of shape `shape`."""
    first, second, row, column, _ = _diagonal(a, shape)
    strides = strides_of(shape)
    walked = [n for i, n in enumerate(strides) if i not in (first, second)]
    walked.append(strides[first] + strides[second])
    return part, walked, row * strides[first] + column * strides[second]


def _diag_loops(a, ins, outs):
    if ins[0].ndim > 1:
        shape, walked, offset = _diagonal_loops(a, ins[0].shape, outs[0].shape)
        return loops(shape, walked, src_offset=offset)
    n = outs[0].shape[0]
    offset = max(-a.k, 0) * n + max(a.k, 0)
    return loops(ins[0].shape, [1], [n + 1], dst_offset=offset, before=FILL)


@op("diag", in_symbols=InSymbols(named_input=True))
class Diag:
    """Extract diagonal `k` over two dimensions, or construct a matrix from a vector.

    With two or more dimensions, the diagonal over `axis1` and `axis2` becomes the last dimension. A
    vector of n elements gives a square matrix of n + abs(k) rows.
    """

    k: Int = 0
    axis1: Int = 0
    axis2: Int = 1

    def infer(a, data):
        if data.shape is None:
            return Spec(None, data.dtype)
        require(data.ndim > 0, "data: needs at least one dimension")
        if data.ndim == 1:
            n = -1 if data.shape[0] == -1 else data.shape[0] + abs(a.k)
            return Spec((n, n), data.dtype)
        first, second, _, _, length = _diagonal(a, data.shape)
        kept = tuple(n for i, n in enumerate(data.shape) if i not in (first, second))
        return Spec((*kept, length), data.dtype)

    def grad(a, F, g, specs):
        if specs[0].ndim == 1:
            return F.diag(g, k=a.k)
        return F._backward_diag(g, k=a.k, axis1=a.axis1, axis2=a.axis2, shape=specs[0].shape)

    def ref(a, xp, data):
        return xp.diag(data, a.k) if data.ndim == 1 else xp.diagonal(data, a.k, a.axis1, a.axis2)

    kernels = (strided(_diag_loops, rank=lambda a, ins, outs: max(ins[0].ndim, 2)),)
    complexes = True
    samples = (
        sample((3,)),
        sample((3,), k=-2),
        sample((3, 4), k=1),
        sample((2, 3, 4), k=-1),
        sample((2, 3, 4), axis1=-1, axis2=0),
    )


def _undiag_loops(a, ins, outs):
    shape, walked, offset = _diagonal_loops(a, outs[0].shape, ins[0].shape)
    return loops(shape, strides_of(shape), walked, dst_offset=offset, before=FILL)


@op("_backward_diag")
class DiagGradient:
    """Write `data` to diagonal `k` over `axis1` and `axis2` of zeros of the given shape."""

    k: Int = 0
    axis1: Int = 0
    axis2: Int = 1
    shape: Shape

    def infer(a, data):
        shape = whole_shape(a.shape)
        require(len(shape) > 1, f"shape: expected at least two dimensions, got {shape}")
        data.fill("data", Diag._infer(a, Spec(shape)).shape)
        return Spec(shape, data.dtype)

    def grad(a, F, g):
        return F.diag(g, k=a.k, axis1=a.axis1, axis2=a.axis2)

    def ref(a, xp, data):
        out = xp.zeros(a.shape, data.dtype)
        first, second, row, column, length = _diagonal(a, a.shape)
        moved = xp.moveaxis(out, (first, second), (-2, -1))
        steps = xp.arange(length)
        moved[..., row + steps, column + steps] = data
        return out

    kernels = (strided(_undiag_loops),)
    complexes = True
    samples = (sample((2, 2), k=-1, axis1=0, axis2=1, shape=(3, 4, 2)),)
