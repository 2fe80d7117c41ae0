"""Structs of sparse storage: ``kernels/params/sparse.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "sparse")

CSR = _struct(
    "csr", "csr array with this number of columns, or its transpose",
    columns="i64", transposed="i32",
)
CSR_MERGE = _struct(
    "csr_merge", "elementwise operation on two csr arrays, numbered as in merge.cc",
    operation="i32",
)
IDS = _struct(
    "ids", "ids in [0, extent); others are clipped or raise an error",
    extent="i64", clips="i32",
)
