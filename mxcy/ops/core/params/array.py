"""Structs of ``array_params.gen.h``."""

from mxcy.ops.core.struct_layout import Params

SPREAD = Params(
    "array.spread",
    "a variance along a dimension, of which `ddof` elements do not count in the divisor",
    outer="i64", extent="i64", inner="i64", ddof="f64",
)
PERCENTILE = Params(
    "array.percentile",
    "percentiles of rows; mode: 0 between two elements, 1 the lower, 2 the higher one, 3 in the "
    "middle, 4 the nearest; without a second input `percent` tells which",
    outer="i64", extent="i64", mode="i32", percent="f64",
)
ROLL = Params(
    "array.roll", "elements that move along a dimension by 0 <= shift < extent, round its end",
    outer="i64", extent="i64", inner="i64", shift="i64",
)
TRIANGLE = Params(
    "array.triangle", "so many matrices, cut along diagonal k",
    outer="i64", rows="i64", columns="i64", k="i64",
)
