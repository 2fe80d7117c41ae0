"""Structs of convolutions and dense layers of 8-bit numbers: ``kernels/params/int8.gen.h``."""

from functools import partial

from mxcy.ops.core.params.convolution import _CONV
from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "int8")

_INT8 = {
    "bias": "i32", "sum": "i32", "act": "i32", "source_type": "i32", "target_type": "i32",
    "other_type": "i32", "zero": "i32",
    "limit": "f64", "other_scale": "f64",
}
INT8_CONV = _struct(
    "int8_conv",
    "a convolution of 8-bit channels-last data and what follows it: act(scale[f] * sum + bias[f] + "
    "other_scale * other), rounded; act: 0 none, 1 ReLU, 2 cut to 0 ... limit; the types are those "
    "of data, output and the other array; `zero` of the data stands for 0, which padding is",
    **_CONV, **_INT8,
)
INT8_DENSE = _struct(
    "int8_dense", "a dense layer of 8-bit data and what follows it, as INT8_CONV",
    rows="i64", hidden="i64", depth="i64", **_INT8,
)
