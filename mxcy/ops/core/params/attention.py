"""Structs of attention: ``kernels/params/attention.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "attention")

WINDOW = _struct(
    "window",
    "sliding-window attention: each step attends to `w` earlier steps, itself and, if two-sided, "
    "`w` later ones: `places` in all",
    batch="i64", steps="i64", heads="i64", depth="i64", w="i64", places="i64",
)
ATTENTION = _struct(
    "attention",
    "out = softmax(scale * queries keys' + mask) values for `outer` x `inner` matrices: matrix "
    "(i, j) of operand o (queries, keys, values, out) starts at offset[o] + i outer_step[o] + j "
    "inner_step[o] and has a row stride of row[o]; source[o]: index of its input among `arrays`; "
    "clear[s]: the gradient of input s has elements outside the matrices, to be zeroed; masking: "
    "1 adds the mask, 2 takes it as a keep mask, 3 as the number of kept keys per row",
    outer="i64", inner="i64", queries="i64", keys="i64", depth="i64", width="i64", offset="i64[4]",
    outer_step="i64[4]", inner_step="i64[4]", row="i64[4]", mask_step="i64[4]", source="i64[3]",
    clear="i64[3]", scale="f64", masking="i32", arrays="i32",
)
