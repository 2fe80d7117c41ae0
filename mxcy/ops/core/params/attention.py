"""Structs of attention: ``kernels/params/attention.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "attention")

WINDOW = _struct(
    "window",
    "sequences whose steps see `w` steps before them, themselves, and more behind: `places` in all",
    batch="i64", steps="i64", heads="i64", depth="i64", w="i64", places="i64",
)
ATTENTION = _struct(
    "attention",
    "out = softmax(scale * queries keys' + mask) values for `outer` times `inner` matrices: matrix "
    "(i, j) of operand o (queries, keys, values, out) starts at offset[o] + i outer_step[o] + j "
    "inner_step[o], its rows are row[o] apart; source[o]: the number of its array, of `arrays`; "
    "clear[s]: the gradient of array s has more elements than are computed; the mask is added "
    "(`masking` 1), tells what is kept (2) or how many of a row (3)",
    outer="i64", inner="i64", queries="i64", keys="i64", depth="i64", width="i64", offset="i64[4]",
    outer_step="i64[4]", inner_step="i64[4]", row="i64[4]", mask_step="i64[4]", source="i64[3]",
    clear="i64[3]", scale="f64", masking="i32", arrays="i32",
)
