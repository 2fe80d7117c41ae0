"""Structs of elementwise kernels: ``kernels/params/elementwise.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "elementwise")

SCALAR = _struct("scalar", "an array and a number: elementwise with a scalar operand", scalar="f64")
SCALAR2 = _struct("scalar2", "elementwise with two numbers, such as clip", p="f64", q="f64")
LINSPACE = _struct(
    "linspace", "evenly spaced numbers, of which the last may be given exactly",
    start="f64", step="f64", last="f64", has_last="i32",
)
BROADCAST = _struct(
    "broadcast",
    "a binary operator over a collapsed shape; strides count elements, the last are 0 or 1",
    ndim="i32", shape="i64[32]", lhs="i64[32]", rhs="i64[32]",
)
