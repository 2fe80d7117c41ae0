"""Sorting: top k and unique elements."""

import numpy as np

from mxcy._base import dtypes
from mxcy.onnx.onnx2mx.table import row

__all__ = []


def _top(F, x, axis, k, largest):
    extent = x.shape[axis]
    if k == 0 or extent == 0:
        shape = tuple(k if i == axis else n for i, n in enumerate(x.full_shape))
        return F.constant(np.zeros(shape, x.dtype)), F.constant(np.zeros(shape, np.int64))
    if extent != -1 and k > extent:
        raise ValueError(f"k is {k}, axis {axis} has {extent} elements")
    result = F("topk", x, axis=axis, k=k, ret_typ="both", is_ascend=not largest, dtype="int64")
    return tuple(result)


@row("TopK")
def top_k_by_attribute(F, a, x):
    return _top(F, x, a.axis % x.ndim, a.k, True)


@row("TopK", since=10)
def top_k(F, a, x, k):
    (k,), axis = k.integers_or_names("the input K"), a.axis % x.ndim
    largest = a.largest is None or bool(a.largest)
    if not isinstance(k, str):
        return _top(F, x, axis, k, largest)
    shape = tuple(k if i == axis else n for i, n in enumerate(F.extents(x)))
    attrs = {"axis": axis, "k": k, "ret_typ": "both", "is_ascend": not largest, "dtype": "int64"}
    return tuple(
        F.shaped("topk", [x], attrs, (shape, dtypes.name_of(x.spec.dtype)), (shape, "int64"))
    )


@row("Unique", since=11)
def unique(F, a, x):
    if x.array is None:
        return _unique(F, a, x)
    array = x.numbers("the input of Unique")
    values, first, inverse, counts = np.unique(
        array, return_index=True, return_inverse=True, return_counts=True, axis=a.axis
    )
    inverse = inverse.reshape(-1)
    if not a.sorted:
        order = np.argsort(first)
        values = np.take(values, order, 0 if a.axis is None else a.axis)
        first, counts = first[order], counts[order]
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        inverse = back[inverse]
    return F.constant(values, x.spec.dtype), *(
        F.constant(part.astype(np.int64)) for part in (first, inverse, counts)
    )


def _unique(F, a, x):
    """Unique for values known only at run time."""
    attrs = {"return_index": True, "return_inverse": True, "return_counts": True, "axis": a.axis}
    distinct, first, inverse, counts = F("_npi_unique", x, **attrs)
    if not a.sorted:  # in order of first occurrence
        order = F("argsort", first, dtype="int64")
        places = F("argsort", order, dtype="int64")
        distinct = F("take", distinct, order, axis=a.axis or 0, mode="clip")
        first, counts = (F("take", part, order, axis=0, mode="clip") for part in (first, counts))
        inverse = F("take", places, inverse, axis=0, mode="clip")
    return distinct, first, inverse, counts
