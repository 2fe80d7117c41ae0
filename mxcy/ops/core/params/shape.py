"""Structs of kernels that rearrange elements: ``kernels/params/shape.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "shape")

PAD = _struct(
    "pad",
    "padding before and after each dimension; reflect: 0 edge, 1 reflect, 2 symmetric, 3 wrap, "
    "where `after` may be negative",
    ndim="i32", reflect="i32", shape="i64[5]", before="i64[5]", after="i64[5]",
)
COPY = _struct(
    "copy", "strided copy between two sides; source: input index, or -1 for the scalar",
    ndim="i32", before="i32", source="i32", shape="i64[32]", src="i64[32]", dst="i64[32]",
    src_offset="i64", dst_offset="i64", scalar="f64",
)
BLOCKS = _struct(
    "blocks", "concatenation along a dimension: each array is `rows` contiguous blocks",
    rows="i64",
)
ROLL = _struct(
    "roll", "cyclic shift along a dimension, 0 <= shift < extent",
    outer="i64", extent="i64", inner="i64", shift="i64",
)
TRIANGLE = _struct(
    "triangle", "`outer` matrices cut along diagonal k",
    outer="i64", rows="i64", columns="i64", k="i64",
)
