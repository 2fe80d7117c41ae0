"""Structs of reductions: ``kernels/params/reduce.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "reduce")

REDUCE = _struct(
    "reduce", "reduction over a collapsed shape, whose dimensions are kept and reduced alternately",
    ndim="i32", first_reduced="i32", shape="i64[32]",
)
ARG = _struct(
    "arg", "index of an extreme element along a dimension",
    outer="i64", extent="i64", inner="i64",
)
ALL_FINITE = _struct(
    "all_finite", "whether all elements are finite; without `init`, and-ed with the output's value",
    init="i32",
)
SPREAD = _struct(
    "spread",
    "variance along a dimension; ddof: subtracted from the divisor",
    outer="i64", extent="i64", inner="i64", ddof="f64",
)
PERCENTILE = _struct(
    "percentile",
    "percentiles of rows; mode: 0 linear, 1 lower, 2 higher, 3 midpoint, 4 nearest; percent: used"
    " without a second input",
    outer="i64", extent="i64", mode="i32", percent="f64",
)
