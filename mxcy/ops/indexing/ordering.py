"""Sorting operators: topk, sort, argsort, searchsorted.

Sorting is stable, and NaN is larger than every number.
"""

from math import prod

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, DType, Enum, Int, IntOrNone
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, normal_axis, require
from mxcy.ops.core.params import ORDER, SEARCH
from mxcy.ops.core.record import native, op, sample, stop

__all__ = []

_INT32, _INT64 = dtypes.CODES["int32"], dtypes.CODES["int64"]
_INDEX = DType("float16", "float32", "float64", "int32", "int64", "uint8")
_WIDE = ("float32", "float64", "float16", "bfloat16", "int8", "uint8", "int32", "int64")


def _axis(a, shape):
    """Return the axis to sort along and the shape it refers to, flattened for axis=None."""
    if a.axis is None:
        return 0, (-1 if -1 in shape else prod(shape),)
    return normal_axis(a.axis, len(shape)), shape


def _with(shape, axis, extent):
    return (*shape[:axis], extent, *shape[axis + 1 :])


def _order(xp, values, axis, ascending):
    """Return a stable argsort of `values` along `axis`."""
    if ascending:
        return xp.argsort(values, axis, kind="stable")
    # Reversing a stable order of the reversed elements is stable.
    mirrored = xp.argsort(xp.flip(values, axis), axis, kind="stable")
    return values.shape[axis] - 1 - xp.flip(mirrored, axis)


def _kernel(values, indices, mask=None, name="order"):
    """Return the kernel, given the output positions of values, indices and mask (or None)."""

    def number(output, a):
        kind = output(a) if callable(output) else output
        return -1 if kind is None else kind

    def params(a, ins, outs):
        axis, shape = _axis(a, ins[0].shape)
        return {
            "outer": prod(shape[:axis]),
            "extent": shape[axis],
            "inner": prod(shape[axis + 1 :]),
            "taken": _taken(a, shape[axis]),
            "ascending": a.is_ascend,
            "values": number(values, a),
            "indices": number(indices, a),
            "mask": number(mask, a),
        }

    def when(a, ins, outs):
        axis, shape = _axis(a, ins[0].shape)
        return None if shape[axis] < 2**32 else "positions need more than 32 bits"

    return native(name, struct=ORDER, params=params, when=when, work=_work, mixed=True)


def _work(a, ins, outs):
    return 8 * ins[0].size  # an element costs several elementwise steps


def _taken(a, extent):
    """Return the number of elements to keep along the axis."""
    k = getattr(a, "k", 0)
    return extent if k < 1 else k


# --- topk ----------------------------------------------------------------------------------------


def _topk_outputs(a):
    return ("output0", "output1") if a.ret_typ in ("value", "both") else ("output",)


@op(
    "topk",
    aliases=("_npx_topk",),
    names={"indices": ("out", 1)},
    numpy=(
        "npx.topk(data, axis=-1, k=1, ret_typ='indices', is_ascend=False, dtype='float32', "
        "out=None, name=None)"
    ),
    amp="fp32",
)
class TopK:
    """Return the `k` largest (with `is_ascend`, smallest) elements along `axis`, sorted.

    ``ret_typ`` selects the result: ``'indices'`` (of dtype `dtype`), ``'value'``, ``'both'``, or a
    ``'mask'`` of the input's shape with ones at the selected elements. ``axis=None`` flattens the
    array, and k < 1 keeps all elements.

    Raises
    ------
    MXNetError
        If k is larger than the extent.
    """

    axis: IntOrNone = -1
    k: Int = 1
    ret_typ: Enum("both", "indices", "mask", "value") = "indices"
    is_ascend: Bool = False
    dtype: _INDEX = "float32"

    outputs = _topk_outputs

    def visible(a):
        return 2 if a.ret_typ == "both" else 1

    def infer(a, data):
        kinds = _topk_dtypes(a, data.dtype)
        if data.shape is None:
            return [Spec(None, kind) for kind in kinds]
        axis, shape = _axis(a, data.shape)
        extent = shape[axis]
        require(
            extent == -1 or a.k <= extent, f"k: cannot take {a.k} elements of {extent} in {shape}"
        )
        if a.ret_typ == "mask":
            return [Spec(data.shape, kinds[0])]
        kept = _with(shape, axis, a.k if a.k >= 1 else extent)
        return [Spec(kept, kind) for kind in kinds]

    def grad(a, F, g, outs, specs):
        if a.ret_typ not in ("value", "both"):
            return None
        axis, shape = _axis(a, specs[0].shape)
        gradient = F._backward_along(g[0], outs[1], axis=axis, shape=shape)
        return F._backward_reshape(gradient, shape=specs[0].shape)

    def ref(a, xp, data):
        axis, shape = _axis(a, data.shape)
        values = data.reshape(-1) if a.axis is None else data
        chosen = _order(xp, values, axis, a.is_ascend)
        chosen = xp.take(chosen, xp.arange(_taken(a, values.shape[axis])), axis)
        if a.ret_typ == "mask":
            mask = xp.zeros_like(values)
            xp.put_along_axis(mask, chosen, 1, axis)
            return mask.reshape(data.shape)
        if a.ret_typ == "indices":
            return chosen.astype(a.dtype)
        indices = chosen.astype(a.dtype if a.ret_typ == "both" else "int64")
        return xp.take_along_axis(values, chosen, axis), indices

    kernels = (
        _kernel(
            values=lambda a: 0 if a.ret_typ in ("value", "both") else None,
            indices=lambda a: {"both": 1, "value": 1, "indices": 0}.get(a.ret_typ),
            mask=lambda a: 0 if a.ret_typ == "mask" else None,
        ),
    )
    samples = (
        sample((3, 7), k=3, dtypes=_WIDE),
        sample((3, 7), k=2, ret_typ="value", dtypes=_WIDE),
        sample((2, 1500), k=5, ret_typ="both", dtypes=_WIDE),
        sample((2, 1500), k=3, ret_typ="mask", is_ascend=True, dtypes=_WIDE),
        sample((2, 600), k=9),
        sample((3, 7, 2), k=3, ret_typ="both", axis=1, is_ascend=True, dtype="int32"),
        sample((3, 7), k=4, ret_typ="mask", dtypes=_WIDE),
        sample((3, 4), k=5, ret_typ="both", axis=None, dtype="int64"),
        sample((2, 300), k=0, ret_typ="value"),
        sample((2, 300), k=40, dtypes=("float32", "float64", "int8", "float16")),
    )


def _topk_dtypes(a, data):
    if a.ret_typ == "mask":
        return (data,)
    if a.ret_typ == "indices":
        return (dtypes.CODES[a.dtype],)
    return data, dtypes.CODES[a.dtype] if a.ret_typ == "both" else _INT64


# --- sort and argsort ----------------------------------------------------------------------------


@op(
    "sort",
    aliases=("_npi_sort",),
    in_symbols=InSymbols(listed=2, tells=True, spellings={"is_ascend_s": "is_ascend"}),
)  # MXNet also outputs the indices
class Sort:
    """Sort elements along `axis`; ``axis=None`` flattens the array."""

    axis: IntOrNone = -1
    is_ascend: Bool = True

    def infer(a, data):
        shape = None if data.shape is None else _axis(a, data.shape)[1]
        return Spec(shape, data.dtype)

    def grad(a, F, g, data, specs):
        axis, shape = _axis(a, specs[0].shape)
        chosen = F.argsort(data, axis=a.axis, is_ascend=a.is_ascend, dtype="int64")
        gradient = F._backward_along(g, chosen, axis=axis, shape=shape)
        return F._backward_reshape(gradient, shape=specs[0].shape)

    def ref(a, xp, data):
        axis, _ = _axis(a, data.shape)
        values = data.reshape(-1) if a.axis is None else data
        chosen = _order(xp, values, axis, a.is_ascend)
        return xp.take_along_axis(values, chosen, axis)

    kernels = (_kernel(values=0, indices=None, name="sort"), _kernel(values=0, indices=None))
    samples = (
        sample((3, 7), dtypes=_WIDE),
        sample((5, 3), axis=0, is_ascend=False, dtypes=_WIDE),
        sample((3, 2, 2), axis=None),
        sample((2, 700), dtypes=_WIDE),
        sample((2, 700), is_ascend=False, dtypes=("float32", "float64", "int8")),
    )


@op(
    "argsort",
    aliases=("_npi_argsort",),
    in_symbols=InSymbols(spellings={"is_ascend_s": "is_ascend"}),
    amp="fp32",
)
class ArgSort:
    """Return the indices that sort an array along `axis`, with dtype `dtype`."""

    axis: IntOrNone = -1
    is_ascend: Bool = True
    dtype: _INDEX = "float32"

    def infer(a, data):
        shape = None if data.shape is None else _axis(a, data.shape)[1]
        return Spec(shape, dtypes.CODES[a.dtype])

    grad = stop

    def ref(a, xp, data):
        axis, _ = _axis(a, data.shape)
        values = data.reshape(-1) if a.axis is None else data
        return _order(xp, values, axis, a.is_ascend).astype(a.dtype)

    kernels = (_kernel(values=None, indices=0, name="argsort"), _kernel(values=None, indices=0))
    samples = (
        sample((3, 7), dtypes=_WIDE),
        sample((7, 3), axis=0, is_ascend=False, dtype="int64"),
        sample((3, 4), axis=None, dtype="int32"),
        sample((2, 700), dtypes=_WIDE, dtype="int32"),
    )


# --- searching -----------------------------------------------------------------------------------


@op("_mx_searchsorted", inputs="a v")
class SearchSorted:
    """Find the int64 indices at which to insert `v` into the sorted `a` to keep it sorted."""

    side: Enum("left", "right") = "left"

    grad = stop
    dtypes = ("float32", "float64", "int8", "int64")
    samples = (
        sample(np.array([-1.0, 0, 0, 2], "float32"), (3, 4)),
        sample(np.array([-1, 0, 0, 2], "int32"), (5,), side="right"),
        sample(np.zeros(0, "float32"), (2, 0)),
        sample(np.zeros(1, "float32"), ()),
        sample(np.arange(-3.0, 4), (130,), dtypes=("float64",), grad=False),
        sample(np.arange(5, dtype="int32"), (70,), side="right", dtypes=("int32",)),
        *(
            sample(
                np.array([-2.0, 0, 1, np.inf, np.nan]),
                np.array([np.nan, 0, 3, -np.inf, np.inf]),
                side=side,
                dtypes=("float64",),
                grad=False,
            )
            for side in ("left", "right")
        ),
    )

    def infer(a, sequence, v):
        ndim = 1 if sequence.shape is None else sequence.ndim
        require(ndim == 1, f"a: expected one dimension, got shape {sequence.shape}")
        return Spec(v.shape, _INT64)

    kernels = (
        native(
            "searchsorted",
            SEARCH,
            lambda a, ins, outs: {"right": a.side == "right"},
            when=lambda a, ins, outs: (
                None if ins[0].dtype == ins[1].dtype else "the values have another type"
            ),
            work=lambda a, ins, outs: 2 * ins[1].size * (1 + ins[0].size).bit_length(),
            mixed=True,
        ),
    )

    def ref(a, xp, sequence, v):
        return xp.asarray(xp.searchsorted(sequence, v, a.side)).astype("int64")
