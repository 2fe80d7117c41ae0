"""Broadcasting and repetition."""

import numpy as np

from mxcy.onnx.mx2onnx.converters.order import axes_of
from mxcy.onnx.mx2onnx.registry import convert

__all__ = []


@convert("broadcast_to", "_npi_broadcast_to")
def broadcast_to(a, G, x):
    """Extents of 0 are copied from the input."""
    shape = list(a.shape)
    if G.node.op.name == "broadcast_to":
        shape = [
            own if target == 0 else target for own, target in zip(G.dims(x), shape, strict=True)
        ]
    else:  # -2 keeps an extent
        own = [1] * (len(shape) - x.ndim) + G.dims(x)
        shape = [n if target == -2 else target for n, target in zip(own, shape, strict=True)]
    return G.expand(x, shape)


@convert("broadcast_axis")
def broadcast_axis(a, G, x):
    """Repeat axes of size 1."""
    shape = G.dims(x)
    for axis, extent in zip(axes_of(a.axis), axes_of(a.size), strict=True):
        shape[axis] = extent
    return G.expand(x, shape)


@convert("broadcast_like")
def broadcast_like(a, G, x, like):
    """Broadcast to (some of) the extents of another array."""
    if a.lhs_axes is None:
        return G.expand(x, G.dims(like))
    shape, target = G.dims(x), G.dims(like)
    for own, other in zip(axes_of(a.lhs_axes), axes_of(a.rhs_axes), strict=True):
        shape[own] = target[other]
    return G.expand(x, shape)


@convert("tile", "_npi_tile")
def tile(a, G, x):
    """Repeat each axis, adding axes if there are more numbers."""
    reps = axes_of(a.reps)
    if len(reps) > x.ndim:
        x = G.unsqueeze(x, tuple(range(len(reps) - x.ndim)))
    reps = [1] * (x.ndim - len(reps)) + reps
    shape = tuple(-1 if n == -1 else n * rep for n, rep in zip(x.shape, reps, strict=True))
    return G.op("Tile", x, G.ints(*reps), shape=shape) if reps else x


@convert("repeat")
def repeat(a, G, x):
    """Repeat each element."""
    if a.axis is None:
        x, axis = G.flat(x), 0
    else:
        axis = a.axis % x.ndim
    return _repeated(G, x, a.repeats, axis)


def _repeated(G, x, count, axis):
    dims = G.dims(x)
    spread = G.expand(G.unsqueeze(x, (axis + 1,)), [*dims[: axis + 1], count, *dims[axis + 1 :]])
    return G.reshape(spread, [*dims[:axis], G.times(dims[axis], count), *dims[axis + 1 :]])


@convert("_npi_repeats")
def repeats(a, G, x):
    """Repeat each element a given number of times."""
    x, axis = (G.flat(x), 0) if a.axis is None else (x, a.axis % x.ndim)
    counts = axes_of(a.repeats)
    if len(counts) == 1:
        return _repeated(G, x, counts[0], axis)
    places = np.repeat(np.arange(len(counts)), counts)
    return G.gather(x, G.const(places.astype(np.int64)), axis)
