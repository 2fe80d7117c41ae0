"""Structs of matrix products and factorizations: ``kernels/params/matrix.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "matrix")

GEMM = _struct(
    "gemm", "out = alpha * op(lhs) op(rhs) + beta * in[2], `batch` times over contiguous matrices",
    batch="i64", m="i64", n="i64", k="i64", transpose_a="i32", transpose_b="i32", alpha="f64",
    beta="f64",
)
STRIDED_DOT = _struct(
    "strided_dot",
    "out = scale * op(lhs) op(rhs) for `outer` x `inner` matrices: matrix (i, j) of operand o "
    "(lhs, rhs, out) starts at offset[o] + i outer_step[o] + j inner_step[o] and has a row stride"
    " of row[o]; lhs, rhs: input indices; other elements of the output are in[2] if `base`, zero "
    "if `clear`",
    outer="i64", inner="i64", m="i64", n="i64", k="i64", offset="i64[3]", outer_step="i64[3]",
    inner_step="i64[3]", row="i64[3]", scale="f64", lhs="i32", rhs="i32", transpose_lhs="i32",
    transpose_rhs="i32", base="i32", clear="i32",
)
MATRICES = _struct(
    "matrices", "`batch` matrices of rows x columns",
    batch="i64", rows="i64", columns="i64",
)
TRIANGULAR = _struct(
    "triangular",
    "`batch` triangular n x n systems with m right-hand sides, or the matrices alone",
    batch="i64", n="i64", m="i64", transpose="i32", rightside="i32", lower="i32", alpha="f64",
)
FULLY_CONNECTED = _struct(
    "fully_connected", "out (rows x hidden) = data (rows x depth) weight^T (hidden x depth) + bias",
    rows="i64", hidden="i64", depth="i64",
)
KRON = _struct(
    "kron", "Kronecker product of a matrix with blocks",
    rows="i64", columns="i64", block_rows="i64", block_columns="i64",
)
