"""Deformable convolutions."""

import math

import numpy as np

from mxcy.onnx.mx2onnx.registry import convert
from mxcy.ops.convolution.windows import resolve

__all__ = []


def _places(a, G, offset, extents):
    """Sampling positions (y, x), each (batch * groups, kernel elements * rows, columns)."""
    kernel, stride, dilate, pad = resolve(a)
    taps, (rows, columns) = math.prod(kernel), offset.shape[2:]
    moves = G.reshape(offset, [-1, taps, 2, rows, columns])
    positions = []
    for axis in range(2):
        move = G.squeeze(G.slice(moves, [axis], [axis + 1], [2]), (2,))
        move.shape = (-1, taps, rows, columns)
        regular = np.indices((rows, columns))[axis] * stride[axis] - pad[axis]
        tap = np.indices(kernel)[axis].reshape(-1, 1, 1) * dilate[axis]
        place = G.Add(move, G.const((regular + tap).astype(offset.dtype)[None]))
        positions.append(G.reshape(place, [-1, taps * rows, columns]))
    return positions


def _deformable(a, G, x, offset, weight, mask=None, bias=None):
    """One GridSample for all kernel elements, then a 1x1 convolution over the samples."""
    extents, (rows, columns) = x.shape[2:], G.out.shape[2:]
    if G.opset < 16:
        G.unsupported("GridSample needs opset 16")
    if -1 in (*extents, rows, columns, x.shape[1]) or 1 in extents:
        G.unsupported("free spatial extents, or extents of 1")
    groups, taps = a.num_deformable_group, math.prod(a.kernel)
    channels = x.shape[1] // groups
    places = _places(a, G, offset, extents)
    grid = [
        G.unsqueeze(place * (2 / (n - 1)) - 1, (3,))
        for place, n in zip(places, extents, strict=True)
    ]
    images = G.reshape(x, [-1, channels, *extents])
    mode = "linear" if G.opset >= 20 else "bilinear"
    read = G.GridSample(
        images,
        G.concat(grid[::-1], 3),
        mode=mode,
        align_corners=1,
        padding_mode="border" if mask is None else "zeros",
    )
    if mask is not None:
        read = G.Mul(read, G.reshape(mask, [-1, 1, taps * rows, columns]))
    else:  # all positions are inside the image
        inside = None
        for place, n in zip(places, extents, strict=True):
            fits = G.And(G.Not(G.Less(place, G.like(place, 0))), G.Less(place, G.like(place, n)))
            inside = fits if inside is None else G.And(inside, fits)
        read = G.Where(G.unsqueeze(inside, (1,)), read, G.like(x, 0))
    read = G.reshape(read, [-1, x.shape[1] * taps, rows, columns])
    depth = x.shape[1] // a.num_group * taps
    filters = G.reshape(weight, [a.num_filter, depth, 1, 1])
    return G.Conv(read, filters, bias, kernel_shape=(1, 1), group=a.num_group)


@convert("_contrib_DeformableConvolution")
def deformable(a, G, x, offset, weight, bias=None):
    """Without modulation."""
    return _deformable(a, G, x, offset, weight, bias=bias)


@convert("_contrib_ModulatedDeformableConvolution")
def modulated(a, G, x, offset, mask, weight, bias=None):
    """With a weight per kernel element and position."""
    return _deformable(a, G, x, offset, weight, mask, bias)
