"""Structs of normalisations: ``kernels/params/norm.gen.h``."""

from functools import partial

from mxcy.ops.core.params.convolution import _CONV
from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "norm")

BATCH_NORM = _struct(
    "batch_norm",
    "batch normalisation of (outer, channels, inner) arrays; momentum: for the gradient only",
    outer="i64", channels="i64", inner="i64", eps="f64", momentum="f64", fix_gamma="i32",
    batch_stats="i32",
)
NORM_DEPTHWISE = _struct(
    "norm_depthwise",
    "batch normalisation, activation and a depthwise convolution with one filter per channel",
    **_CONV, eps="f64", momentum="f64", fix_gamma="i32",
)
ROW_NORM = _struct(
    "row_norm", "normalisation of rows; element i of the array has gamma index i / block % count",
    rows="i64", length="i64", block="i64", count="i64", eps="f64",
)
L2_NORMALIZE = _struct(
    "l2_normalize", "division by the L2 norm along a dimension",
    outer="i64", extent="i64", inner="i64", eps="f64",
)
LRN = _struct(
    "lrn", "local response normalisation across `nsize` neighbouring channels",
    outer="i64", channels="i64", inner="i64", nsize="i64", alpha="f64", beta="f64", knorm="f64",
)
FOLD = _struct(
    "fold", "folding of batch normalisation into weights (groups, outer, channels, inner)",
    groups="i64", outer="i64", channels="i64", inner="i64", eps="f64", fix_gamma="i32",
)
