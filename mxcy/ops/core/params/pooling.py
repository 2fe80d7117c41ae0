"""Structs of pooling: ``kernels/params/pooling.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "pooling")

POOL = _struct(
    "pool",
    "pooling over three spatial dimensions between `outer` planes and `inner` channels; kind: 0 "
    "max, 1 average, 2 sum, 3 L2 norm, 4 L3 norm",
    kind="i32", count_pad="i32", outer="i64", inner="i64", source="i64[3]", target="i64[3]",
    kernel="i64[3]", stride="i64[3]", pad="i64[3]",
)
