"""Reshaping."""

import numpy as np

from mxcy.onnx.mx2onnx.registry import convert

__all__ = []


def _to(G, x, extents=None):
    """Reshape to the result's shape, with at most one free extent."""
    shape = G.out.shape
    if shape.count(-1) <= 1 and not (0 in shape and -1 in shape):
        return G.reshape(x, shape)
    if extents is None:
        G.unsupported("a shape with several free extents")
    return G.reshape(x, extents())


def _split(G, extent, first, second):
    if first == -1:
        first = G.over(extent, second)
    elif second == -1:
        second = G.over(extent, first)
    return [first, second]


def _inferred(G, extents, source):
    """Infer the extent None from the number of elements."""
    if None not in extents:
        return extents
    others, left = [n for n in extents if n is not None], list(source)
    for extent in list(others):  # extents on both sides cancel
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
    quotient = G.over(G.times(*left), G.times(*others)) if others else G.times(*left)
    return [quotient if n is None else n for n in extents]


def _classic(G, source, codes):
    """Apply Reshape's codes to the extents of the source."""
    extents, at, codes = [], 0, list(codes)
    while codes:
        code = codes.pop(0)
        if code == 0:
            extents.append(source[at])
        elif code == -1:
            extents.append(None)
        elif code == -2:
            extents += source[at:]
            at = len(source) - 1
        elif code == -3:
            extents.append(G.times(*source[at : at + 2]))
            at += 1
        elif code == -4:
            extents += _split(G, source[at], codes.pop(0), codes.pop(0))
        else:
            extents.append(code)
        at += 1
    return extents


def _newer(G, source, codes):
    """Apply the codes of `npx.reshape` to the extents of the source."""
    extents, at, codes = [], 0, list(codes)
    while codes:
        code = codes.pop(0)
        if code == -1:
            extents.append(None)
        elif code >= 0:
            extents.append(code)
        elif code == -2:
            extents.append(source[at])
        elif code == -4:
            extents += source[at:]
            at = len(source) - 1
        elif code == -5:
            extents.append(G.times(*source[at : at + 2]))
            at += 1
        elif code == -6:
            extents += _split(G, source[at], codes.pop(0), codes.pop(0))
        at += 1
    return extents


def _coded(G, x, codes, apply, reverse):
    def extents():
        source = G.dims(x)
        if reverse:
            result = apply(G, source[::-1], codes[::-1])[::-1]
        else:
            result = apply(G, source, codes)
        return _inferred(G, result, source)

    return _to(G, x, extents)


@convert("Reshape")
def reshape(a, G, x):
    """Compute codes that ONNX lacks from the input's extents."""
    if not a.shape and a.target_shape:
        return _to(G, x)
    return _coded(G, x, list(a.shape or ()), _classic, a.reverse)


@convert("_npx_reshape")
def npx_reshape(a, G, x):
    """With the codes of `npx.reshape`."""
    return _coded(G, x, list(a.newshape or ()), _newer, a.reverse)


@convert("_backward_reshape")
def reshape_exactly(a, G, x):
    """Reshape to explicit extents."""
    return G.reshape(x, a.shape)


@convert("_contrib_dynamic_reshape")
def dynamic_reshape(a, G, x, shape):
    """Reshape to a shape given as an array."""
    return G.op("Reshape", x, G.cast(shape, np.int64))


def _part(ndim, begin, end):
    first = 0 if begin is None else begin % ndim
    return first, ndim if end is None else end + ndim if end < 0 else end


@convert("reshape_like")
def reshape_like(a, G, x, like):
    """Copy some extents from the other array."""

    def extents():
        begin, end = _part(x.ndim, a.lhs_begin, a.lhs_end)
        first, last = _part(like.ndim, a.rhs_begin, a.rhs_end)
        own, target = G.dims(x), G.dims(like)
        return [*own[:begin], *target[first:last], *own[end:]]

    return _to(G, x, extents)


@convert("Flatten")
def flatten(a, G, x):
    """Flatten to rows of samples."""
    return G.op("Flatten", x, axis=1) if x.ndim else G.reshape(x, [1, 1])


@convert("expand_dims")
def expand_dims(a, G, x):
    """Insert an axis of size 1."""
    return G.unsqueeze(x, (a.axis,))


@convert("squeeze", "_npi_squeeze")
def squeeze(a, G, x):
    """Drop axes of size 1."""
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
    """Add axes of size 1, as in NumPy."""
    least = int(G.node.op.name[-2])
    return [_raised(G, x, least) for x in values]


def _raised(G, x, least):
    if x.ndim >= least:
        return x
    if least == 3:
        return G.unsqueeze(x, {0: (0, 1, 2), 1: (0, 2), 2: (2,)}[x.ndim])
    return G.unsqueeze(x, tuple(range(least - x.ndim)))


@convert("shape_array")
def shape_array(a, G, x):
    """Return the extents."""
    return G.shape(x)


@convert("size_array")
def size_array(a, G, x):
    """Return the number of elements, as a vector."""
    return G.as_vector(G.times(*G.dims(x)) if x.ndim else 1)
