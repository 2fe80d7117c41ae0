"""Structs of indexing, sorting and sequence kernels: ``kernels/params/indexing.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "indexing")

TAKE = _struct(
    "take",
    "blocks of `inner` elements at indices along a dimension; data, index: input indices",
    outer="i64", extent="i64", inner="i64", mode="i32", data="i32", index="i32",
)
ALONG = _struct(
    "along", "one index along a dimension per element of the other dimensions",
    outer="i64", extent="i64", inner="i64", taken="i64", mode="i32",
)
ONE_HOT = _struct(
    "one_hot", "rows with one element set to `on`, the others to `off`",
    depth="i64", on="f64", off="f64",
)
GATHER = _struct(
    "gather", "blocks of `inner` elements at indices into the first `ndim` dimensions of `shape`",
    ndim="i32", data="i32", index="i32", inner="i64", shape="i64[32]",
)
UNRAVEL = _struct(
    "unravel", "coordinates in an array of this shape; the first extent is ignored",
    ndim="i32", shape="i64[32]",
)
ORDER = _struct(
    "order",
    "sorting along a dimension, or its `taken` first elements; values, indices, mask: output "
    "indices, -1 if absent",
    outer="i64", extent="i64", inner="i64", taken="i64", ascending="i32", values="i32",
    indices="i32", mask="i32",
)
SEQUENCE = _struct(
    "sequence", "batch of sequences whose steps are along dimension `axis`, 0 or 1",
    steps="i64", batch="i64", inner="i64", axis="i32", value="f64",
)
SEARCH = _struct(
    "search", "binary search; right: the position after equal elements instead of before",
    right="i32",
)
INTERP = _struct(
    "interp", "piecewise linear interpolation; left, right: values outside the range of the points",
    has_left="i32", has_right="i32", left="f64", right="f64",
)
SCAN = _struct("scan", "cumulative sum along a dimension", outer="i64", extent="i64", inner="i64")
