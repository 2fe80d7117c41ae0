"""Structs of elementwise kernels: ``kernels/params/elementwise.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "elementwise")

SCALAR = _struct("scalar", "elementwise operator of an array and a scalar", scalar="f64")
SCALAR2 = _struct(
    "scalar2", "elementwise operator with two scalars, such as clip",
    p="f64", q="f64",
)
LINSPACE = _struct(
    "linspace", "evenly spaced values; has_last: the last one is set exactly",
    start="f64", step="f64", last="f64", has_last="i32",
)
BROADCAST = _struct(
    "broadcast",
    "binary operator over a collapsed shape; strides count elements, the innermost are 0 or 1",
    ndim="i32", shape="i64[32]", lhs="i64[32]", rhs="i64[32]",
)
