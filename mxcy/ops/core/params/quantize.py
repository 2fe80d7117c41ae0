"""Structs of ``quantize_params.gen.h``."""

from mxcy.ops.core.struct_layout import Params

CALIBRATED = Params(
    "quantize.calibrated", "the range of a result, where it is given",
    given="i32", low="f64", high="f64",
)
QUANTIZED_NORM = Params(
    "quantize.quantized_norm",
    "batch normalisation of 8-bit (outer, channels, inner) arrays into a given range",
    outer="i64", channels="i64", inner="i64", eps="f64", low="f64", high="f64", relu="i32",
)
