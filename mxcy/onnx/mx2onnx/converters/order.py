"""Permutations of elements."""

from mxcy.onnx.mx2onnx.registry import convert

__all__ = ["axes_of"]


def axes_of(axes):
    """Return axes, or other numbers, as a list even if there is only one."""
    return [axes] if isinstance(axes, int) else list(axes)


@convert("transpose", "_npi_transpose")
def transpose(a, G, x):
    """Reverse all axes by default."""
    axes = a.axes
    order = [axis % x.ndim for axis in axes] if axes else range(x.ndim)[::-1]
    return G.transpose(x, order)


@convert("SwapAxis")
def swapaxes_of(a, G, x):
    """Exchange two axes."""
    order = list(range(x.ndim))
    first, second = a.dim1 % x.ndim, a.dim2 % x.ndim
    order[first], order[second] = order[second], order[first]
    return G.transpose(x, order)


@convert("_npi_moveaxis")
def moveaxes_of(a, G, x):
    """Move axes."""
    source = [axis % x.ndim for axis in axes_of(a.source)]
    target = [axis % x.ndim for axis in axes_of(a.destination)]
    order = [i for i in range(x.ndim) if i not in source]
    for place, axis in sorted(zip(target, source, strict=True)):
        order.insert(place, axis)
    return G.transpose(x, order)


@convert("_npi_rollaxis")
def roll_axis(a, G, x):
    """Move an axis before another."""
    axis, start = a.axis % x.ndim, a.start + x.ndim if a.start < 0 else a.start
    start -= axis < start
    order = [i for i in range(x.ndim) if i != axis]
    order.insert(start, axis)
    return G.transpose(x, order)


def _reversed(G, x, axes):
    last = -(2**63)
    return G.slice(x, [-1] * len(axes), [last] * len(axes), axes, [-1] * len(axes))


@convert("reverse", "_npi_flip")
def reverse(a, G, x):
    """Reverse along axes, by default all."""
    axes = range(x.ndim) if a.axis is None else [axis % x.ndim for axis in axes_of(a.axis)]
    return _reversed(G, x, list(axes))


@convert("_npi_rot90")
def rotate(a, G, x):
    """Compose quarter turns of transpositions and reversals."""
    first, second = (axis % x.ndim for axis in (a.axes or (0, 1)))
    turns = a.k % 4
    if turns == 0:
        return x
    if turns == 2:
        return _reversed(G, x, [first, second])
    order = list(range(x.ndim))
    order[first], order[second] = order[second], order[first]
    if turns == 1:
        return G.transpose(_reversed(G, x, [second]), order)
    return _reversed(G, G.transpose(x, order), [second])


@convert("_npi_roll")
def roll(a, G, x):
    """Exchange two pieces per axis."""
    shifts = axes_of(a.shift)
    if a.axis is None:
        return G.reshape(_rolled(G, G.flat(x), shifts[0], 0), G.dims(x))
    axes = axes_of(a.axis)
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(axes) == 1:
        axes = axes * len(shifts)
    for shift, axis in zip(shifts, axes, strict=True):
        x = _rolled(G, x, shift, axis % x.ndim)
    return x


def _rolled(G, x, shift, axis):
    extent = x.shape[axis]
    if extent == -1:
        G.unsupported("a free extent")
    shift %= max(extent, 1)
    if shift == 0:
        return x
    left = G.slice(x, [0], [extent - shift], [axis])
    return G.concat([G.slice(x, [extent - shift], [extent], [axis]), left], axis)


@convert("depth_to_space")
def depth_to_space(a, G, x):
    """Convert to DepthToSpace in mode DCR."""
    return G.DepthToSpace(x, blocksize=a.block_size, mode="DCR")


@convert("space_to_depth")
def space_to_depth(a, G, x):
    """Convert to SpaceToDepth."""
    return G.SpaceToDepth(x, blocksize=a.block_size)
