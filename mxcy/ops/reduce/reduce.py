"""Reductions over axes, argmax and argmin."""

import functools
import math

import numpy as np

from mxcy._base.dtypes import code_of, name_of
from mxcy.ops.core.attrs import Bool, Enum, Field, Int, IntOrNone, ShapeOrNone
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, back_dtype, normal_axes, normal_axis, require
from mxcy.ops.core.params import ARG, REDUCE
from mxcy.ops.core.record import native, op, register, sample
from mxcy.ops.reduce.float16_sum import narrow_first
from mxcy.ops.sparse.rules import csr_reduced, norm_rules

__all__ = ["along_axis", "reduction", "reduced_axes", "reduce_params"]

_FLOATS = ("float32", "float64", "float16", "bfloat16")
_ALL = (*_FLOATS, "int32", "int64", "int8", "uint8")
_FIELDS = (
    Field("axis", ShapeOrNone, None),
    Field("keepdims", Bool, False),
    Field("exclude", Bool, False),
)


def reduced_axes(a, ndim):
    """Return the sorted axes selected by attributes `axis` and `exclude`, all by default."""
    return _selected(a.axis, getattr(a, "exclude", False), ndim)


@functools.lru_cache(1024)  # each eager step asks for the same ones
def _selected(axis, exclude, ndim):
    if axis is None or axis == ():
        return tuple(range(ndim))
    axes = normal_axes(axis, ndim)
    return tuple(i for i in range(ndim) if i not in axes) if exclude else axes


def reduced_shape(shape, axes, keepdims):
    """Return the shape after a reduction; the classic interface keeps at least one dimension."""
    if keepdims:
        return tuple(1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes) or (1,)


def _infer(a, data):
    if data.shape is None:
        return Spec(None, data.dtype)
    return Spec(reduced_shape(data.shape, reduced_axes(a, data.ndim), a.keepdims), data.dtype)


def reduce_params(shape, axes):
    """Return the fields of REDUCE: dimensions merged so that kept and reduced ones alternate."""
    merged = []  # [reduced?, extent]
    for i, extent in enumerate(shape):
        if extent == 1:
            continue
        if merged and merged[-1][0] == (i in axes):
            merged[-1][1] *= extent
        else:
            merged.append([i in axes, extent])
    merged = merged or [[True, 1]]
    return {
        "ndim": len(merged),
        "first_reduced": merged[0][0],
        "shape": [extent for _, extent in merged],
    }


def _params(a, ins, outs):
    return reduce_params(ins[0].shape, reduced_axes(a, ins[0].ndim))


def _infer_of_some(a, data):
    """Infer as `_infer`, requiring at least one element per result."""
    if data.shape is not None:
        gone = any(data.shape[i] == 0 for i in reduced_axes(a, data.ndim))
        require(not gone, f"data: shape {data.shape} has no elements to reduce")
    return _infer(a, data)


def _refuse_empty(a, ins, outs):
    return None if ins[0].size else "there are no elements"


def spread(F, value, a, spec):
    """Restore the reduced axes of a result or gradient with extent 1."""
    axes = reduced_axes(a, len(spec.shape))
    kept = tuple(1 if i in axes else n for i, n in enumerate(spec.shape))
    return value if tuple(value.shape) == kept else F.Reshape(value, shape=kept)


def _over(F, value, a, spec):
    """Broadcast a result or gradient over the reduced axes."""
    if 0 in spec.shape:  # broadcast_to would read 0 as "keep the extent"
        empty = F.slice(value, begin=(0,), end=(0,))
        return F._backward_reshape(empty, shape=spec.shape)
    value = spread(F, value, a, spec)
    shape = tuple(spec.shape)
    return value if tuple(value.shape) == shape else F.broadcast_to(value, shape=shape)


def count_reduced(a, spec):
    """Return the number of elements per result."""
    return math.prod(spec.shape[i] for i in reduced_axes(a, len(spec.shape)))


def reduction(
    name,
    doc,
    define,
    grad,
    aliases=(),
    domain=(-1, 1),
    dtypes=_ALL,
    tol=1.0,
    stypes=(),
    complexes=False,
    infer=_infer,
    amp="fp32",
):
    """Register a reduction with parameters axis, keepdims and exclude.

    Parameters
    ----------
    define : callable
        ``define(xp, data, axes)`` keeps the reduced axes with extent 1.
    grad : callable
        Gradient rule, see `Op.grad`.
    amp : str, optional
        Mixed precision category.
    """

    def ref(a, xp, data):
        axes = reduced_axes(a, data.ndim)
        shape = reduced_shape(data.shape, axes, a.keepdims)
        return define(xp, data, axes).astype(data.dtype).reshape(shape)

    return register(
        name,
        aliases=aliases,
        fields=_FIELDS,
        infer=infer,
        infer_back=back_dtype,
        grad=grad,
        ref=ref,
        doc=doc,
        stypes=stypes,
        kernels=(native(name, REDUCE, _params, when=_refuse_empty),),
        domain=domain,
        dtypes=dtypes,
        complexes=complexes,
        amp=amp,
        samples=(
            sample((3, 4), tol=tol),
            sample((2, 3, 4), axis=1, tol=tol),
            sample((2, 3, 4), axis=(0, 2), keepdims=True, tol=tol),
            sample((2, 3, 4), axis=-1, exclude=True, tol=tol),
            sample((2, 70, 3), axis=(1,), grad=False, tol=tol),
            sample((5, 130), axis=1, grad=False, tol=tol),
        ),
    )


def _extremum_grad(a, F, g, data, out, specs):
    chosen = F.broadcast_equal(data, spread(F, out, a, specs[0]))
    return chosen * _over(F, g, a, specs[0])


reduction(
    "sum",
    "Compute the sum over axes.",
    lambda xp, x, axes: x.sum(axes, keepdims=True),
    lambda a, F, g, specs: _over(F, g, a, specs[0]),
    aliases=("_sparse_sum", "sum_axis"),
    stypes=(csr_reduced("sum"),),
    complexes=True,
)
reduction(
    "mean",
    "Compute the mean over axes; integer results are truncated towards zero.",
    lambda xp, x, axes: x.mean(axes, keepdims=True),
    lambda a, F, g, specs: _over(F, g / count_reduced(a, specs[0]), a, specs[0]),
    aliases=("_sparse_mean",),
    stypes=(csr_reduced("mean"),),
)
reduction(
    "prod",
    "Compute the product over axes.",
    lambda xp, x, axes: x.prod(axes, keepdims=True),
    lambda a, F, g, data, out, specs: _over(F, g * out, a, specs[0]) / data,
    domain=(0.7, 1.3),
    dtypes=_FLOATS,
)
reduction(
    "max",
    "Compute the maximum over axes.",
    lambda xp, x, axes: x.max(axes, keepdims=True),
    _extremum_grad,
    amp=None,
    aliases=("max_axis",),
    infer=_infer_of_some,
)
reduction(
    "min",
    "Compute the minimum over axes.",
    lambda xp, x, axes: x.min(axes, keepdims=True),
    _extremum_grad,
    amp=None,
    aliases=("min_axis",),
    infer=_infer_of_some,
)
reduction(
    "nansum",
    "Compute the sum over axes, treating NaN as 0.",
    lambda xp, x, axes: xp.nansum(x, axes, keepdims=True),
    lambda a, F, g, data, specs: _over(F, g, a, specs[0]) * F.broadcast_equal(data, data),
)
reduction(
    "nanprod",
    "Compute the product over axes, treating NaN as 1.",
    lambda xp, x, axes: xp.nanprod(x, axes, keepdims=True),
    lambda a, F, g, data, out, specs: F.where(
        F.broadcast_equal(data, data), _over(F, g * out, a, specs[0]) / data, F.zeros_like(data)
    ),
    domain=(0.7, 1.3),
    dtypes=_FLOATS,
)


@op("norm", aliases=("_npx_norm", "_sparse_norm"), amp="fp32")
class Norm:
    """Compute the 1-norm (sum of magnitudes) or 2-norm (root of sum of squares) over axes."""

    ord: Int = 2
    axis: ShapeOrNone = None
    out_dtype: Enum(None, "float16", "float32", "float64", "int32", "int64", "int8") = None
    keepdims: Bool = False

    dtypes = _FLOATS
    domain = (0.2, 1)
    stypes = norm_rules()
    kernels = narrow_first(
        native(
            lambda a, ins, outs: "sum_abs" if a.ord == 1 else "norm2",
            REDUCE,
            _params,
            when=lambda a, ins, outs: (
                _refuse_empty(a, ins, outs)
                or (None if ins[0].dtype == outs[0].dtype else "the result has another dtype")
            ),
        )
    )
    samples = (
        sample((3, 4)),
        sample((3, 4), ord=1),
        sample((2, 3, 4), axis=1),
        sample((2, 3, 4), axis=(0, 1)),
        sample((2, 3, 4), axis=-1, keepdims=True, ord=1),
        sample((3, 4), out_dtype="float64", dtypes=("float32",)),
    )

    def infer(a, data):
        require(a.ord in (1, 2), f"ord: expected 1 or 2, got {a.ord}")
        dtype = data.dtype if a.out_dtype is None else code_of(a.out_dtype)
        if data.shape is None:
            return Spec(None, dtype)
        return Spec(reduced_shape(data.shape, reduced_axes(a, data.ndim), a.keepdims), dtype)

    def grad(a, F, g, data, out, specs):
        if a.ord == 2:
            g = g / out
        over = spread(F, g, a, specs[0])
        if a.out_dtype is not None:
            over = F.Cast(over, dtype=name_of(specs[0].dtype))
        return F.broadcast_mul(F.sign(data) if a.ord == 1 else data, over)

    def ref(a, xp, data):
        axes = reduced_axes(a, data.ndim)
        values = data.astype("float64")
        norm = xp.abs(values).sum(axes) if a.ord == 1 else xp.sqrt((values * values).sum(axes))
        return norm.astype(a.out_dtype or data.dtype).reshape(
            reduced_shape(data.shape, axes, a.keepdims)
        )


def _infer_position(a, data):
    dtype = data.dtype
    if data.shape is None:
        return Spec(None, dtype)
    if a.axis is None:
        return Spec((1,) * data.ndim if a.keepdims else (1,), dtype)
    axis = normal_axis(a.axis, data.ndim)
    return Spec(reduced_shape(data.shape, (axis,), a.keepdims), dtype)


def along_axis(axis, data):
    """Return the fields of ARG; without an axis, all elements form one row."""
    if axis is None:
        return {"outer": 1, "extent": data.size, "inner": 1}
    axis = normal_axis(axis, data.ndim)
    return {
        "outer": math.prod(data.shape[:axis]),
        "extent": data.shape[axis],
        "inner": math.prod(data.shape[axis + 1 :]),
    }


_POSITION_SAMPLES = (
    sample((3, 4)),
    sample((2, 3, 4), axis=1),
    sample((2, 3, 4), axis=-1, keepdims=True),
    sample((5, 70), axis=1, grad=False),
    sample((70, 19), axis=0, grad=False),
    sample((2, 5, 300), axis=1, grad=False),
    sample(np.array([[1, 3, 3], [np.nan, 5, np.nan], [-np.inf] * 3]), axis=1, grad=False),
    sample(np.array([[1, np.nan, 3], [np.nan, 5, 3]]), axis=0, grad=False),
)

for _name in ("argmax", "argmin"):

    def _position_ref(a, xp, data, _name=_name):
        shape = _infer_position(a, Spec(data.shape, 0)).shape
        return getattr(xp, _name)(data, axis=a.axis).astype(data.dtype).reshape(shape)

    register(
        _name,
        fields=(Field("axis", IntOrNone, None), Field("keepdims", Bool, False)),
        in_symbols=InSymbols(flat_axis=True),
        infer=_infer_position,
        grad=lambda a, F, g: None,
        ref=_position_ref,
        dtypes=_ALL,
        kernels=(
            native(_name, ARG, lambda a, ins, outs: along_axis(a.axis, ins[0]), when=_refuse_empty),
        ),
        samples=_POSITION_SAMPLES,
        doc=f"Return the index of the {_name[3:]}imum along an axis, as float; the first on ties.",
    )


@op("argmax_channel")
class ArgmaxChannel:
    """Return the index of the maximum along axis 1, as float."""

    dtypes = _ALL
    kernels = (
        native("argmax", ARG, lambda a, ins, outs: along_axis(1, ins[0]), when=_refuse_empty),
    )
    samples = (sample((3, 4)), sample((2, 5, 3)))

    def infer(a, data):
        if data.shape is None:
            return Spec(None, data.dtype)
        require(data.ndim >= 2, f"data: expected at least two dimensions, got {data.shape}")
        return Spec((data.shape[0], *data.shape[2:]), data.dtype)

    def ref(a, xp, data):
        return data.argmax(1).astype(data.dtype)
