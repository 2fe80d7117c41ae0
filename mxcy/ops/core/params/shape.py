"""Structs of kernels that move elements: ``kernels/params/shape.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "shape")

PAD = _struct(
    "pad",
    "margins before and after the dimensions of an array; reflect: 0 repeats the nearest element, 1"
    " mirrors at it, 2 behind it, 3 goes round to the other end, where `after` may be negative",
    ndim="i32", reflect="i32", shape="i64[5]", before="i64[5]", after="i64[5]",
)
COPY = _struct(
    "copy", "loops over two strided sides; source is an input's index, or -1 for the scalar",
    ndim="i32", before="i32", source="i32", shape="i64[32]", src="i64[32]", dst="i64[32]",
    src_offset="i64", dst_offset="i64", scalar="f64",
)
BLOCKS = _struct(
    "blocks", "arrays side by side along a dimension: each is `rows` blocks, one after the other",
    rows="i64",
)
ROLL = _struct(
    "roll", "elements that move along a dimension by 0 <= shift < extent, round its end",
    outer="i64", extent="i64", inner="i64", shift="i64",
)
TRIANGLE = _struct(
    "triangle", "so many matrices, cut along diagonal k",
    outer="i64", rows="i64", columns="i64", k="i64",
)
