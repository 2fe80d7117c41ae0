"""Reductions and cumulative sums."""

import numpy as np

from mxcy.onnx.onnx2mx.table import row

__all__ = ["axes_of"]


def axes_of(a, x, axes=None):
    """The non-negative axes of a reduction; None if there is nothing to reduce."""
    if axes is not None:
        axes_given = axes.integers("the input axes")
    else:
        axes_given = tuple(a.axes or ())
    if not axes_given:
        if a.noop_with_empty_axes:
            return None
        axes_given = range(x.ndim)
    result = tuple(sorted(axis % max(x.ndim, 1) for axis in axes_given))
    if any(not -x.ndim <= axis < max(x.ndim, 1) for axis in axes_given):
        raise ValueError(f"axes {tuple(axes_given)} do not fit {x.ndim} dimensions")
    return result


def _is_empty(x, axes):
    return any(x.shape[axis] == 0 for axis in axes)


def _kept(x, axes, keepdims):
    extents = x.full_shape
    if keepdims:
        return tuple(1 if i in axes else n for i, n in enumerate(extents))
    return tuple(n for i, n in enumerate(extents) if i not in axes)


def _sum(F, x, axes, keepdims):
    if not axes:
        return x
    return F("_npi_sum", x, axis=axes, keepdims=keepdims).astype(x.dtype)


def _mean(F, x, axes, keepdims):
    if x.kind != "f":
        return _mean(F, x.astype("float64"), axes, keepdims).astype(x.dtype)
    return F("_npi_mean", x, axis=axes, keepdims=keepdims) if axes else x


def _prod(F, x, axes, keepdims):
    return F("_npi_prod", x, axis=axes, keepdims=keepdims).astype(x.dtype) if axes else x


def _extreme(name):
    def reduce(F, x, axes, keepdims):
        if not axes:
            return x
        if _is_empty(x, axes):
            ends = {"f": np.finfo, "i": np.iinfo, "u": np.iinfo}.get(x.kind)
            bound = (
                (name == "min")
                if ends is None
                else getattr(ends(x.dtype), "max" if name == "min" else "min")
            )
            if x.kind == "f":
                bound = np.inf if name == "min" else -np.inf
            return F.constant(np.full(_kept(x, axes, keepdims), bound, x.dtype))
        if x.kind == "b":
            return reduce(F, x.astype("uint8"), axes, keepdims).astype("bool")
        return F(f"_npi_{name}", x, axis=axes, keepdims=keepdims)

    return reduce


def _log_sum_exp(F, x, axes, keepdims):
    if not axes:
        return x
    if _is_empty(x, axes):
        return F("log", _sum(F, x, axes, keepdims))
    top = F("_npi_max", x, axis=axes, keepdims=True)
    top = F.where(F("_npi_isinf", top), F.like(0, x), top)
    total = F("log", _sum(F, F("exp", x - top), axes, True)) + top
    if keepdims:
        return total
    return F("_npi_squeeze", total, axis=axes)


_REDUCTIONS = {
    "ReduceSum": _sum,
    "ReduceMean": _mean,
    "ReduceProd": _prod,
    "ReduceMax": _extreme("max"),
    "ReduceMin": _extreme("min"),
    "ReduceL1": lambda F, x, axes, kept: _sum(F, F("_npi_absolute", x), axes, kept),
    "ReduceL2": lambda F, x, axes, kept: F("sqrt", _sum(F, F.binary("multiply", x, x), axes, kept)),
    "ReduceSumSquare": lambda F, x, axes, kept: _sum(F, F.binary("multiply", x, x), axes, kept),
    "ReduceLogSum": lambda F, x, axes, kept: F("log", _sum(F, x, axes, kept)),
    "ReduceLogSumExp": _log_sum_exp,
}


#: reduction -> operator between extents
_OF_EXTENTS = {"ReduceProd": "*", "ReduceSum": "+", "ReduceMax": "max", "ReduceMin": "min"}


def _of_extents(F, sign, x, keepdims):
    """Reduce all extents of a shape with open ones."""
    first, *others = F.open.named(x.array)
    for other in others:
        first = F.open.combined(sign, first, other)
    return F.constant(F.open.array([first]).reshape((1,) * x.ndim if keepdims else ()))


def _reduction(onnx_name, reduce):
    def function(F, a, x, axes=None):
        chosen = axes_of(a, x, axes)
        if chosen is None and onnx_name not in ("ReduceL2", "ReduceSumSquare"):
            chosen = ()
        if x.is_open and onnx_name in _OF_EXTENTS and len(chosen) == x.ndim:
            return _of_extents(F, _OF_EXTENTS[onnx_name], x, bool(a.keepdims))
        return reduce(F, x, chosen or (), bool(a.keepdims))

    row(onnx_name)(function)


for _name, _reduce in _REDUCTIONS.items():
    _reduction(_name, _reduce)


def _arg(onnx_name, operator):
    def function(F, a, x):
        axis, keepdims = a.axis % max(x.ndim, 1), bool(a.keepdims)
        if not a.select_last_index:
            return F(operator, x, axis=axis, keepdims=keepdims).astype("int64")
        last = F(operator, F("_npi_flip", x, axis=axis), axis=axis, keepdims=keepdims)
        return (x.full_shape[axis] - 1) - last.astype("int64")

    row(onnx_name)(function)


_arg("ArgMax", "_npi_argmax")
_arg("ArgMin", "_npi_argmin")


def _running(onnx_name, operator, start, since):
    def function(F, a, x, axis):
        (axis,) = axis.integers("the input axis")
        axis %= x.ndim
        if a.reverse:
            x = F("_npi_flip", x, axis=axis)
        result = F(operator, x, axis=axis).astype(x.dtype)
        if a.exclusive:
            extents = list(x.full_shape)
            extents[axis] = 1
            first = F.constant(np.full(extents, start, x.dtype))
            earlier = F.part(result, axis, 0, x.full_shape[axis] - 1)
            result = F.concat([first, earlier], axis)
        return F("_npi_flip", result, axis=axis) if a.reverse else result

    row(onnx_name, since=since)(function)


_running("CumSum", "_npi_cumsum", 0, 11)
_running("CumProd", "_mx_cumprod", 1, 26)
