"""Structs of launches on CUDA devices, see cuda/launch.cc: ``kernels/params/launch.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

__all__ = ["BLAS", "CONV_PLAN", "LAUNCH", "RNN_PLAN"]

_struct = partial(Params, "launch")

LAUNCH = _struct(
    "launch",
    "up to 4 consecutive launches on a device; function: its handle, wide: that of a variant for "
    "addresses aligned to 16 bytes; arguments: how many of the lists' entries, from `first` on, "
    "where kind is as in launch.cc and index is an operand's index, an integer, or an index into "
    "`value`; mutated: bit mask of written inputs, whose last bit covers all from 63 on",
    device="i32", count="i32", mutated="i64", function="i64[4]", wide="i64[4]", grid="i64[12]",
    block="i32[4]", shared="i32[4]", first="i32[4]", arguments="i32[4]", kind="i32[64]",
    index="i64[64]", value="f64[200]",
)  # fmt: skip

BLAS = _struct(
    "blas",
    "out = alpha * op(lhs) op(rhs) + beta * in[2], `batch` times, by cuBLAS; type, compute, "
    "scalar: cuBLAS's enumerators of the dtype (of `bytes` bytes), the accumulation, and alpha "
    "and beta; fill: kernel that first copies in[2] to all rows, with its grid",
    device="i32", type="i32", compute="i32", scalar="i32", bytes="i32", transpose_a="i32",
    transpose_b="i32", grid="i32", batch="i64", m="i64", n="i64", k="i64", fill="i64", alpha="f64",
    beta="f64",
)  # fmt: skip

CONV_PLAN = _struct(
    "conv_plan",
    "convolution or one of its gradients by a `plan` of cuDNN; bias: kernel, with its grid, that "
    "adds in[2] to the `count` elements of the result, per channel of `inner` elements",
    device="i32", grid="i32", plan="i64", bias="i64", count="i64", channels="i64", inner="i64",
)  # fmt: skip

RNN_PLAN = _struct(
    "rnn_plan",
    "recurrent layers on a device, after the struct rnn; type, compute, scalar: as in blas; "
    "kernels for products (0: cuBLAS), steps of cells, sums of columns, dropout masks and their "
    "counter, elementwise products and, with projection, hidden states; the others are byte "
    "offsets into the workspace of `bytes` bytes",
    device="i32", type="i32", compute="i32", scalar="i32", bytes="i64", product="i64", cell="i64",
    sums="i64", drop="i64", counted="i64", scale="i64", states="i64", own="i64", saved="i64",
    below="i64", then="i64", d_gates="i64", d_own="i64", d_below="i64", d_above="i64", raw="i64",
    d_raw="i64", d_projected="i64",
)  # fmt: skip
