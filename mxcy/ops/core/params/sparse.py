"""Structs of sparse storage: ``kernels/params/sparse.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "sparse")

CSR = _struct(
    "csr", "a csr array of so many columns, or its transpose",
    columns="i64", transposed="i32",
)
CSR_MERGE = _struct("csr_merge", "an operation, numbered as in merge.cc", operation="i32")
IDS = _struct(
    "ids", "ids from 0 to extent - 1; others are clipped or refused",
    extent="i64", clips="i32",
)
