"""Reductions, sorting, and positions of extremes."""

import numpy as np

from mxcy.onnx.mx2onnx.registry import convert
from mxcy.ops.reduce.reduce import reduced_axes

__all__ = []


def _axes(a, x):
    """The axes of a record's attributes; all by default."""
    if not hasattr(a, "exclude"):
        if a.axis is None:
            return tuple(range(x.ndim))
        axis = (a.axis,) if isinstance(a.axis, int) else a.axis
        return tuple(sorted(i % x.ndim for i in axis))
    return reduced_axes(a, x.ndim)


def _fitted(G, value):
    """A full reduction by classic operators has shape (1,)."""
    if value.shape == () and len(G.outs[0].shape) == 1:
        return G.reshape(value, [1])
    return value


def _wrapping_product(G, x, axes, keepdims):
    """Multiply the halves of each axis until one element is left: ReduceProd may saturate."""
    for axis in axes:
        extent = x.shape[axis]
        half = 1 << max(extent - 1, 0).bit_length()
        after = [half - extent if i == axis else 0 for i in range(x.ndim)]
        x = G.pad(x, [0] * x.ndim, after, number=1) if half != extent else x
        while half > 1:
            half //= 2
            x = G.Mul(*G.split(x, [half, half], axis))
    return x if keepdims else G.squeeze(x, axes)


def _reduced(kind):
    def rule(a, G, x):
        x = G.cast(x, G.out.dtype) if kind in ("Sum", "Prod", "Mean") else x
        axes = _axes(a, x)
        integers = x.dtype in (np.int32, np.int64)
        if kind == "Prod" and integers and all(x.shape[axis] > 0 for axis in axes):
            return _fitted(G, _wrapping_product(G, x, axes, a.keepdims))
        if x.dtype == bool:
            reduced = G.reduce(kind, G.cast(x, np.float32), axes, a.keepdims)
            return G.cast(reduced, bool)  # ReduceMean truncates integers
        return _fitted(G, G.reduce(kind, x, axes, a.keepdims))

    return rule


convert("sum", "_npi_sum")(_reduced("Sum"))
convert("mean", "_npi_mean")(_reduced("Mean"))
convert("prod", "_npi_prod")(_reduced("Prod"))
convert("max", "_npi_max")(_reduced("Max"))
convert("min", "_npi_min")(_reduced("Min"))


def _without_nan(kind, neutral):
    def rule(a, G, x):
        if G.is_float(x):
            x = G.Where(G.IsNaN(x), G.like(x, neutral), x)
        return _fitted(G, G.reduce(kind, x, _axes(a, x), a.keepdims))

    return rule


convert("nansum")(_without_nan("Sum", 0))
convert("nanprod")(_without_nan("Prod", 1))


def _truth(kind):
    def rule(a, G, x):
        flags = G.cast(G.to_bool(x), np.int32)
        return G.cast(G.reduce(kind, flags, _axes(a, x), a.keepdims), bool)

    return rule


convert("_npi_all")(_truth("Min"))
convert("_npi_any")(_truth("Max"))


@convert("norm")
def norm(a, G, x):
    """Orders 1 and 2."""
    x = G.cast(x, G.out.dtype)
    return _fitted(G, G.reduce("L1" if a.ord == 1 else "L2", x, _axes(a, x), a.keepdims))


@convert("_npi_norm")
def np_norm(a, G, x):
    """Vector norms, and matrix norms without singular values."""
    x = G.cast(x, G.out.dtype)
    axes, order = _axes(a, x), a.ord
    if a.flag in (-1, 2) and len(axes) == 2:
        return _matrix_norm(a, G, x, axes)
    if order == 2:
        return G.reduce("L2", x, axes, a.keepdims)
    if order == 1:
        return G.reduce("L1", x, axes, a.keepdims)
    if np.isinf(order):
        return G.reduce("Max" if order > 0 else "Min", G.Abs(x), axes, a.keepdims)
    if order == 0:
        counted = G.cast(G.Not(G.Equal(x, G.like(x, 0))), x.dtype)
        return G.reduce("Sum", counted, axes, a.keepdims)
    powers = G.reduce("Sum", G.Pow(G.Abs(x), G.like(x, order)), axes, a.keepdims)
    return G.Pow(powers, G.like(x, 1 / order))


def _matrix_norm(a, G, x, axes):
    """Extreme absolute column or row sum; ONNX has no singular values."""
    if a.flag == 2 or abs(a.ord) not in (1, np.inf):
        G.unsupported("norms of singular values")
    rows, columns = axes
    summed, other = (rows, columns) if abs(a.ord) == 1 else (columns, rows)
    sums = G.reduce("Sum", G.Abs(x), (summed,), True)
    norm = G.reduce("Max" if a.ord > 0 else "Min", sums, (other,), True)
    return norm if a.keepdims else G.squeeze(norm, axes)


def _variance(a, G, x):
    x = G.cast(x, G.out.dtype)
    axes = _axes(a, x)
    away = G.Sub(x, G.reduce("Mean", x, axes, True))
    variance = G.reduce("Mean", away * away, axes, a.keepdims)
    if a.ddof == 0:
        return variance
    count = G.times(*(G.dim(x, axis) for axis in axes))
    if isinstance(count, int):
        return variance * (count / (count - a.ddof))
    elements = G.cast(G.squeeze(count, (0,)), x.dtype)
    return G.Mul(variance, G.Div(elements, elements - a.ddof))


@convert("_npi_var")
def variance(a, G, x):
    """Mean of squared deviations."""
    return _variance(a, G, x)


@convert("_npi_std")
def deviation(a, G, x):
    """Square root of the variance."""
    return G.Sqrt(_variance(a, G, x))


@convert("_npi_average")
def average(a, G, x, weights=None):
    """Mean, or weighted mean."""
    dtype = G.out.dtype
    x = G.cast(x, dtype)
    axes = _axes(a, x)
    if weights is None or not a.weighted:
        mean = G.reduce("Mean", x, axes)
        total = G.times(*(G.dim(x, axis) for axis in axes))
        if isinstance(total, int):
            scale = G.full(G.dims(mean), total, dtype)
        else:
            scale = G.expand(G.cast(G.squeeze(total, (0,)), dtype), G.dims(mean))
        return [mean, scale]
    weights = G.cast(weights, dtype)
    if weights.ndim != x.ndim:
        shape = [1] * x.ndim
        shape[axes[0]] = -1
        weights = G.reshape(weights, shape)
    expanded = G.expand(weights, G.dims(x))
    scale = G.reduce("Sum", expanded, axes)
    return [G.Div(G.reduce("Sum", G.Mul(x, expanded), axes), scale), scale]


# --- positions -----------------------------------------------------------------------------------


def _position(kind):
    def rule(a, G, x):
        if x.dtype == bool:
            x = G.cast(x, np.int32)
        if a.axis is None:
            position = G.op(kind, G.flat(x), axis=0, keepdims=0, shape=())
            if a.keepdims:
                return G.reshape(position, [1] * x.ndim)
            return _fitted(G, position)
        axis = a.axis % x.ndim
        shape = tuple(
            1 if i == axis else n for i, n in enumerate(x.shape) if a.keepdims or i != axis
        )
        position = G.op(kind, x, axis=axis, keepdims=int(a.keepdims), shape=shape)
        return _fitted(G, position)

    return rule


convert("argmax", "_npi_argmax")(_position("ArgMax"))
convert("argmin", "_npi_argmin")(_position("ArgMin"))


@convert("argmax_channel")
def argmax_channel(a, G, x):
    """ArgMax along axis 1."""
    return G.op("ArgMax", x, axis=1, keepdims=0)


# --- sorting -------------------------------------------------------------------------------------


def _along(a, G, x):
    if x.dtype in (np.dtype(np.uint8), np.dtype(np.int8), np.dtype(bool)):
        x = G.cast(x, np.int32)
    return (G.flat(x), 0) if a.axis is None else (x, a.axis % x.ndim)


@convert("topk")
def topk(a, G, x):
    """The first elements in order, or a mask of them."""
    values, axis = _along(a, G, x)
    count = a.k if a.k >= 1 else G.dim(values, axis)
    if isinstance(count, int) and values.shape[axis] != -1:
        count = min(count, values.shape[axis])
    elements, places = G.top(values, count, axis, not a.is_ascend)
    if a.ret_typ == "mask":
        zeros = G.full(G.dims(values), 0, x.dtype)
        ones = G.full(G.dims(places), 1, x.dtype)
        mask = G.op("ScatterElements", zeros, places, ones, axis=axis, shape=values.shape)
        return G.reshape(mask, G.dims(x)) if a.axis is None else mask
    if a.ret_typ == "indices":
        return places
    if a.ret_typ == "value":
        return [G.cast(elements, x.dtype), places]
    return [G.cast(elements, x.dtype), places]


@convert("sort")
def sort(a, G, x):
    """Sort by TopK."""
    values, axis = _along(a, G, x)
    elements, _ = G.top(values, G.dim(values, axis), axis, not a.is_ascend)
    return G.cast(elements, x.dtype)


@convert("argsort")
def argsort(a, G, x):
    """Positions in sorted order, by TopK."""
    values, axis = _along(a, G, x)
    return G.top(values, G.dim(values, axis), axis, not a.is_ascend)[1]


@convert("_np_cumsum", "_npi_cumsum")
def cumsum(a, G, x):
    """Cumulative sums."""
    x = G.cast(x, G.out.dtype)
    values, axis = (G.flat(x), 0) if a.axis is None else (x, a.axis % x.ndim)
    if values.ndim == 0:
        return G.reshape(values, [1]) if G.out.shape else values
    return G.op("CumSum", values, G.const(np.int64(axis)), shape=values.shape)


@convert("_mx_searchsorted")
def searchsorted(a, G, sequence, x):
    """Count the smaller elements; NaN sorts last."""
    sequence, x = G.meet(sequence, x)
    values = G.unsqueeze(x, (x.ndim,))
    before = G.Less(sequence, values)
    if G.is_float(x):
        before = G.Or(before, G.And(G.Not(G.IsNaN(sequence)), G.IsNaN(values)))
    if a.side == "right":
        before = G.Or(before, G.Equal(sequence, values))
        if G.is_float(x):
            before = G.Or(before, G.IsNaN(values))
    return G.reduce("Sum", G.cast(before, np.int64), (-1,))
