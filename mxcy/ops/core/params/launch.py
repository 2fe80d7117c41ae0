"""Structs of launches on CUDA devices, see cuda/launch.cc: ``kernels/params/launch.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

__all__ = ["BLAS", "CONV_PLAN", "LAUNCH", "RNN_PLAN"]

_struct = partial(Params, "launch")

LAUNCH = _struct(
    "launch",
    "up to 4 launches on a device, one after the other; each has a function, perhaps another one "
    "for addresses that are multiples of 16, and `arguments` out of the lists, from `first` on: "
    "`kind` as in launch.cc, `index` an operand's number or a whole number or a place in `value`; "
    "`mutated`: bits of the inputs that are written, the last bit for all from 63 on",
    device="i32", count="i32", mutated="i64", function="i64[4]", wide="i64[4]", grid="i64[12]",
    block="i32[4]", shared="i32[4]", first="i32[4]", arguments="i32[4]", kind="i32[64]",
    index="i64[64]", value="f64[200]",
)  # fmt: skip

BLAS = _struct(
    "blas",
    "out = alpha * op(lhs) op(rhs) + beta * in[2], `batch` times, by cuBLAS; `type`, `compute` and "
    "`scalar` are its numbers of the type of elements (of `bytes`), of how it adds up, and of the "
    "type of alpha and beta; `fill`: a kernel that makes rows of in[2] with a grid, before",
    device="i32", type="i32", compute="i32", scalar="i32", bytes="i32", transpose_a="i32",
    transpose_b="i32", grid="i32", batch="i64", m="i64", n="i64", k="i64", fill="i64", alpha="f64",
    beta="f64",
)  # fmt: skip

CONV_PLAN = _struct(
    "conv_plan",
    "a convolution, or one of its transposes, by a `plan` of cuDNN; `bias`: a kernel with a grid "
    "that adds in[2] to the `count` elements of the result, one for each of `channels`, which "
    "have `inner` elements",
    device="i32", grid="i32", plan="i64", bias="i64", count="i64", channels="i64", inner="i64",
)  # fmt: skip

RNN_PLAN = _struct(
    "rnn_plan",
    "what recurrent layers run on a device, behind the struct rnn: `type`, `compute` and `scalar` "
    "as in blas; kernels for a product (0: cuBLAS), a step of a cell, sums of columns, a mask of "
    "dropout, its counter, products of elements, and with a projection hidden states; the bytes of "
    "the workspace where arrays begin",
    device="i32", type="i32", compute="i32", scalar="i32", bytes="i64", product="i64", cell="i64",
    sums="i64", drop="i64", counted="i64", scale="i64", states="i64", own="i64", saved="i64",
    below="i64", then="i64", d_gates="i64", d_own="i64", d_below="i64", d_above="i64", raw="i64",
    d_raw="i64", d_projected="i64",
)  # fmt: skip
