"""Structs of kernels that read, write and order by places: ``kernels/params/indexing.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "indexing")

TAKE = _struct(
    "take",
    "blocks of `inner` elements at positions along a dimension; data and index are input numbers",
    outer="i64", extent="i64", inner="i64", mode="i32", data="i32", index="i32",
)
ALONG = _struct(
    "along", "one position along a dimension for each element of the other dimensions",
    outer="i64", extent="i64", inner="i64", taken="i64", mode="i32",
)
ONE_HOT = _struct("one_hot", "rows with one element switched on", depth="i64", on="f64", off="f64")
GATHER = _struct(
    "gather", "blocks of `inner` elements at positions in the first `ndim` dimensions of `shape`",
    ndim="i32", data="i32", index="i32", inner="i64", shape="i64[32]",
)
UNRAVEL = _struct(
    "unravel", "coordinates in an array of that shape; the first extent does not count",
    ndim="i32", shape="i64[32]",
)
ORDER = _struct(
    "order",
    "elements ordered along a dimension; values, indices and mask are output numbers or -1",
    outer="i64", extent="i64", inner="i64", taken="i64", ascending="i32", values="i32",
    indices="i32", mask="i32",
)
SEQUENCE = _struct(
    "sequence", "a batch of sequences with their steps along the dimension `axis`, 0 or 1",
    steps="i64", batch="i64", inner="i64", axis="i32", value="f64",
)
SEARCH = _struct("search", "a sorted sequence, before equal elements or behind", right="i32")
INTERP = _struct(
    "interp", "lines between points, and what stands before the first and behind the last",
    has_left="i32", has_right="i32", left="f64", right="f64",
)
SCAN = _struct("scan", "running sums along a dimension", outer="i64", extent="i64", inner="i64")
