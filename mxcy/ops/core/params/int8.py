"""Structs of 8-bit convolutions and dense layers: ``kernels/params/int8.gen.h``."""

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
    "convolution of 8-bit channels-last data with epilogue: act(scale[f] * sum + bias[f] + "
    "other_scale * other), rounded; act: 0 none, 1 ReLU, 2 clip to [0, limit]; types: those of "
    "data, output and `other`; zero: zero point of the data, also the padding value",
    **_CONV, **_INT8,
)
INT8_DENSE = _struct(
    "int8_dense", "dense layer of 8-bit data with epilogue, as INT8_CONV",
    rows="i64", hidden="i64", depth="i64", **_INT8,
)
