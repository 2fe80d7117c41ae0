"""Structs of reductions: ``kernels/params/reduce.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "reduce")

REDUCE = _struct(
    "reduce", "a reduction over a collapsed shape, whose dimensions are kept and reduced in turn",
    ndim="i32", first_reduced="i32", shape="i64[32]",
)
ARG = _struct(
    "arg", "the position of an extreme element along a dimension",
    outer="i64", extent="i64", inner="i64",
)
ALL_FINITE = _struct("all_finite", "init starts afresh, else the output's value counts", init="i32")
SPREAD = _struct(
    "spread",
    "a variance along a dimension, of which `ddof` elements do not count in the divisor",
    outer="i64", extent="i64", inner="i64", ddof="f64",
)
PERCENTILE = _struct(
    "percentile",
    "percentiles of rows; mode: 0 between two elements, 1 the lower, 2 the higher one, 3 in the "
    "middle, 4 the nearest; without a second input `percent` tells which",
    outer="i64", extent="i64", mode="i32", percent="f64",
)
