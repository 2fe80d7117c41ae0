"""The same elements in another shape or order."""

import numpy as np

from mxcy.onnx.mx2onnx.registry import convert

__all__ = []


def _to(G, x, extents=None):
    """The elements in the result's shape, where one extent at most is free."""
    shape = G.out.shape
    if shape.count(-1) <= 1 and not (0 in shape and -1 in shape):
        return G.reshape(x, shape)
    if extents is None:
        G.unsupported("a shape with several free extents")
    return G.reshape(x, extents())


# --- Reshape and its codes -----------------------------------------------------------------------


def _split(G, whole, first, second):
    if first == -1:
        first = G.over(whole, second)
    elif second == -1:
        second = G.over(whole, first)
    return [first, second]


def _inferred(G, found, source):
    """What takes the place of the extent None, so that the numbers of elements are equal."""
    if None not in found:
        return found
    others, left = [n for n in found if n is not None], list(source)
    for extent in list(others):  # extents that are on both sides need no division
        if any(extent is other for other in left) or (
            isinstance(extent, int) and extent in [n for n in left if isinstance(n, int)]
        ):
            at = next(
                i
                for i, n in enumerate(left)
                if n is extent or (isinstance(n, int) and isinstance(extent, int) and n == extent)
            )
            left.pop(at)
            others.remove(extent)
    rest = G.over(G.times(*left), G.times(*others)) if others else G.times(*left)
    return [rest if n is None else n for n in found]


def _classic(G, source, codes):
    """The extents that Reshape's codes make of others."""
    found, at, codes = [], 0, list(codes)
    while codes:
        code = codes.pop(0)
        if code == 0:
            found.append(source[at])
        elif code == -1:
            found.append(None)
        elif code == -2:
            found += source[at:]
            at = len(source) - 1
        elif code == -3:
            found.append(G.times(*source[at : at + 2]))
            at += 1
        elif code == -4:
            found += _split(G, source[at], codes.pop(0), codes.pop(0))
        else:
            found.append(code)
        at += 1
    return found


def _newer(G, source, codes):
    """The extents that the codes of `npx.reshape` make of others."""
    found, at, codes = [], 0, list(codes)
    while codes:
        code = codes.pop(0)
        if code == -1:
            found.append(None)
        elif code >= 0:
            found.append(code)
        elif code == -2:
            found.append(source[at])
        elif code == -4:
            found += source[at:]
            at = len(source) - 1
        elif code == -5:
            found.append(G.times(*source[at : at + 2]))
            at += 1
        elif code == -6:
            found += _split(G, source[at], codes.pop(0), codes.pop(0))
        at += 1
    return found


def _coded(G, x, codes, apply, reverse):
    def extents():
        source = G.dims(x)
        if reverse:
            found = apply(G, source[::-1], codes[::-1])[::-1]
        else:
            found = apply(G, source, codes)
        return _inferred(G, found, source)

    return _to(G, x, extents)


@convert("Reshape")
def reshape(a, G, x):
    """Codes that ONNX lacks are reckoned from the input's extents."""
    if not a.shape and a.target_shape:
        return _to(G, x)
    return _coded(G, x, list(a.shape or ()), _classic, a.reverse)


@convert("_npx_reshape")
def npx_reshape(a, G, x):
    """Codes of another kind."""
    return _coded(G, x, list(a.newshape or ()), _newer, a.reverse)


@convert("_backward_reshape")
def reshape_exactly(a, G, x):
    """To numbers."""
    return G.reshape(x, a.shape)


@convert("_contrib_dynamic_reshape")
def dynamic_reshape(a, G, x, shape):
    """To a shape that is an array."""
    return G.op("Reshape", x, G.cast(shape, np.int64))


def _part(ndim, begin, end):
    first = 0 if begin is None else begin % ndim
    return first, ndim if end is None else end + ndim if end < 0 else end


@convert("reshape_like")
def reshape_like(a, G, x, like):
    """Some extents are the other array's."""

    def extents():
        begin, end = _part(x.ndim, a.lhs_begin, a.lhs_end)
        first, last = _part(like.ndim, a.rhs_begin, a.rhs_end)
        own, theirs = G.dims(x), G.dims(like)
        return [*own[:begin], *theirs[first:last], *own[end:]]

    return _to(G, x, extents)


@convert("Flatten")
def flatten(a, G, x):
    """Rows of samples."""
    return G.op("Flatten", x, axis=1) if x.ndim else G.reshape(x, [1, 1])


@convert("expand_dims")
def expand_dims(a, G, x):
    """An axis of extent 1."""
    return G.unsqueeze(x, (a.axis,))


@convert("squeeze", "_npi_squeeze")
def squeeze(a, G, x):
    """Without axes of extent 1."""
    axis = a.axis
    if axis is None:
        if -1 in x.shape:
            G.unsupported("axis=None with free extents")
        axes = [i for i, extent in enumerate(x.shape) if extent == 1]
    else:
        axes = [axis] if isinstance(axis, int) else list(axis)
    if x.ndim and len({i % x.ndim for i in axes}) == x.ndim and len(G.out.shape):
        return G.reshape(x, [1])
    return G.squeeze(x, axes)


@convert("_npi_atleast_1d", "_npi_atleast_2d", "_npi_atleast_3d")
def at_least(a, G, *values):
    """With axes of extent 1 as NumPy adds them."""
    least = int(G.node.op.name[-2])
    return [_raised(G, x, least) for x in values]


def _raised(G, x, least):
    if x.ndim >= least:
        return x
    if least == 3:
        return G.unsqueeze(x, {0: (0, 1, 2), 1: (0, 2), 2: (2,)}[x.ndim])
    return G.unsqueeze(x, tuple(range(least - x.ndim)))


# --- order ---------------------------------------------------------------------------------------


@convert("transpose", "_npi_transpose")
def transpose(a, G, x):
    """All axes reversed by default."""
    axes = a.axes
    order = [axis % x.ndim for axis in axes] if axes else range(x.ndim)[::-1]
    return G.transpose(x, order)


@convert("SwapAxis")
def swap_axes(a, G, x):
    """Two axes exchanged."""
    order = list(range(x.ndim))
    first, second = a.dim1 % x.ndim, a.dim2 % x.ndim
    order[first], order[second] = order[second], order[first]
    return G.transpose(x, order)


def _axes(axes):
    return [axes] if isinstance(axes, int) else list(axes)


@convert("_npi_moveaxis")
def move_axes(a, G, x):
    """Axes put in other places."""
    source = [axis % x.ndim for axis in _axes(a.source)]
    target = [axis % x.ndim for axis in _axes(a.destination)]
    order = [i for i in range(x.ndim) if i not in source]
    for place, axis in sorted(zip(target, source, strict=True)):
        order.insert(place, axis)
    return G.transpose(x, order)


@convert("_npi_rollaxis")
def roll_axis(a, G, x):
    """An axis put before another."""
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
    """Backwards along axes, all of them by default."""
    axes = range(x.ndim) if a.axis is None else [axis % x.ndim for axis in _axes(a.axis)]
    return _reversed(G, x, list(axes))


@convert("_npi_rot90")
def rotate(a, G, x):
    """A quarter turn is a transposition and a reversal."""
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
    """Two pieces exchanged, for each axis."""
    shifts = _axes(a.shift)
    if a.axis is None:
        return G.reshape(_rolled(G, G.flat(x), shifts[0], 0), G.dims(x))
    axes = _axes(a.axis)
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
    """The order of blocks is ONNX' DCR."""
    return G.DepthToSpace(x, blocksize=a.block_size, mode="DCR")


@convert("space_to_depth")
def space_to_depth(a, G, x):
    """ONNX' own."""
    return G.SpaceToDepth(x, blocksize=a.block_size)


@convert("shape_array")
def shape_array(a, G, x):
    """The extents."""
    return G.shape(x)


@convert("size_array")
def size_array(a, G, x):
    """The number of elements, as a vector."""
    return G.as_vector(G.times(*G.dims(x)) if x.ndim else 1)


# --- repetition ----------------------------------------------------------------------------------


@convert("broadcast_to", "_npi_broadcast_to")
def broadcast_to(a, G, x):
    """Extents that are 0 are the input's."""
    shape = list(a.shape)
    if G.node.op.name == "broadcast_to":
        shape = [own if wish == 0 else wish for own, wish in zip(G.dims(x), shape, strict=True)]
    else:  # -2 keeps an extent
        own = [1] * (len(shape) - x.ndim) + G.dims(x)
        shape = [n if wish == -2 else wish for n, wish in zip(own, shape, strict=True)]
    return G.expand(x, shape)


@convert("broadcast_axis")
def broadcast_axis(a, G, x):
    """Axes of extent 1 repeated."""
    shape = G.dims(x)
    for axis, extent in zip(_axes(a.axis), _axes(a.size), strict=True):
        shape[axis] = extent
    return G.expand(x, shape)


@convert("broadcast_like")
def broadcast_like(a, G, x, like):
    """To the extents of another array, or some of them."""
    if a.lhs_axes is None:
        return G.expand(x, G.dims(like))
    shape, theirs = G.dims(x), G.dims(like)
    for own, other in zip(_axes(a.lhs_axes), _axes(a.rhs_axes), strict=True):
        shape[own] = theirs[other]
    return G.expand(x, shape)


@convert("tile", "_npi_tile")
def tile(a, G, x):
    """Repetitions for each axis, with more axes where there are more numbers."""
    reps = _axes(a.reps)
    if len(reps) > x.ndim:
        x = G.unsqueeze(x, tuple(range(len(reps) - x.ndim)))
    reps = [1] * (x.ndim - len(reps)) + reps
    shape = tuple(-1 if n == -1 else n * rep for n, rep in zip(x.shape, reps, strict=True))
    return G.op("Tile", x, G.ints(*reps), shape=shape) if reps else x


@convert("repeat")
def repeat(a, G, x):
    """Each element as often, one after the other."""
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
    """Each element as often as its number says."""
    x, axis = (G.flat(x), 0) if a.axis is None else (x, a.axis % x.ndim)
    counts = _axes(a.repeats)
    if len(counts) == 1:
        return _repeated(G, x, counts[0], axis)
    places = np.repeat(np.arange(len(counts)), counts)
    return G.gather(x, G.const(places.astype(np.int64)), axis)


# --- diagonals -----------------------------------------------------------------------------------


def _triangle(G, x, k, upper):
    if x.ndim == 1:
        x = G.expand(x, [G.dim(x, 0), G.dim(x, 0)])
    if G.opset >= 14:
        return G.op("Trilu", x, G.const(np.int64(k)), upper=int(upper), shape=x.shape)
    if -1 in x.shape[-2:]:
        G.unsupported("free extents before opset 14")
    kept = (np.triu if upper else np.tril)(np.ones(x.shape[-2:], bool), k)
    return G.Where(G.const(kept), x, G.like(x, 0))


@convert("_npi_tril")
def lower_triangle(a, G, x):
    """Zeros above a diagonal."""
    return _triangle(G, x, a.k, False)


@convert("_npi_triu")
def upper_triangle(a, G, x):
    """Zeros below a diagonal."""
    return _triangle(G, x, a.k, True)


def _diagonal(G, x, offset, first, second):
    """The diagonal of two axes, as the last axis."""
    first, second = first % x.ndim, second % x.ndim
    rest = [i for i in range(x.ndim) if i not in (first, second)]
    x = G.transpose(x, [*rest, first, second])
    rows, columns = x.shape[-2:]
    if -1 in (rows, columns):
        G.unsupported("free extents")
    count = len(np.diagonal(np.empty((rows, columns), bool), offset))
    start = offset if offset >= 0 else -offset * columns
    places = start + np.arange(count, dtype=np.int64) * (columns + 1)
    flat = G.reshape(x, [*G.dims(x)[:-2], rows * columns])
    return G.gather(flat, G.const(places), flat.ndim - 1)


def _as_diagonal(G, x, k):
    """A matrix with a vector on a diagonal."""
    extent = x.shape[0]
    if extent == -1:
        G.unsupported("a free extent")
    size = extent + abs(k)
    places = np.diag(np.arange(1, extent + 1), k).reshape(-1)
    padded = G.concat([G.full([1], 0, x.dtype), x], 0)
    return G.reshape(G.gather(padded, G.const(places.astype(np.int64))), [size, size])


@convert("diag")
def diag(a, G, x):
    """A diagonal, or a matrix with one."""
    if x.ndim == 1:
        return _as_diagonal(G, x, a.k)
    return _diagonal(G, x, a.k, a.axis1, a.axis2)


@convert("_npi_diag")
def np_diag(a, G, x):
    """A diagonal of a matrix, or a matrix with one."""
    return _as_diagonal(G, x, a.k) if x.ndim == 1 else _diagonal(G, x, a.k, 0, 1)


@convert("_npi_diagflat")
def diagonal_of_all(a, G, x):
    """A matrix with all elements on a diagonal."""
    return _as_diagonal(G, G.flat(x), a.k)


@convert("_npi_diagonal")
def diagonal(a, G, x):
    """The diagonal of two axes."""
    return _diagonal(G, x, a.offset, a.axis1, a.axis2)


@convert("_npi_trace")
def trace(a, G, x):
    """The sum of a diagonal."""
    found = _diagonal(G, x, a.offset, a.axis1, a.axis2)
    return G.reduce("Sum", G.cast(found, G.out.dtype), (-1,))
