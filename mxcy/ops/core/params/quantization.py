"""Structs of 8-bit elementwise kernels: ``kernels/params/quantization.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "quantization")

CALIBRATED = _struct(
    "calibrated", "calibrated range of the result, if `given`",
    given="i32", low="f64", high="f64",
)
LINEAR = _struct(
    "linear", "scale and zero point of 8-bit values",
    step="f64", zero="i32",
)
LINEAR_SUM = _struct(
    "linear_sum", "sum of two 8-bit arrays: lhs * a + rhs * b + offset, rounded",
    lhs="f64", rhs="f64", offset="f64",
)
LINEAR_MAP = _struct(
    "linear_map", "requantization of 8-bit values: x * factor + offset, rounded",
    factor="f64", offset="f64",
)
LINEAR_MEAN = _struct(
    "linear_mean",
    "means over the positions of 8-bit (outer, positions, channels) arrays, requantized as in "
    "linear_map",
    outer="i64", positions="i64", channels="i64", factor="f64", offset="f64",
)
QUANTIZED_NORM = _struct(
    "quantized_norm",
    "batch normalisation of 8-bit (outer, channels, inner) arrays, quantized to a given range",
    outer="i64", channels="i64", inner="i64", eps="f64", low="f64", high="f64", relu="i32",
)
