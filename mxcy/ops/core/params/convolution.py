"""Structs of convolutions: ``kernels/params/convolution.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "convolution")

_CONV = {
    "batch": "i64", "groups": "i64", "channels": "i64", "filters": "i64", "source": "i64[3]",
    "target": "i64[3]", "kernel": "i64[3]", "stride": "i64[3]", "dilate": "i64[3]", "pad": "i64[3]",
}
CONV = _struct(
    "conv",
    "convolution over three spatial dimensions (missing ones are 1); channels are per group",
    **_CONV,
)
FUSED_CONV = _struct(
    "fused_conv",
    "convolution with packed weights and epilogue: act(conv + bias + sum), see "
    "ops/fused/layer.py; in_block, out_block: 0 for (N, C, spatial...), else the number of "
    "innermost channels; spare_channels, spare_filters: number of last ones with zero weights; "
    "before: 1 scales and shifts the data first, 2 also applies a ReLU; tile: parameter of the "
    "algorithm",
    **_CONV, in_block="i32", out_block="i32", spare_channels="i32", spare_filters="i32",
    before="i32", bias="i32", sum="i32", act="i32", tile="i32", alpha="f64", beta="f64",
)
DEFORMABLE = _struct(
    "deformable",
    "deformable convolution; `moved`: number of offset groups, whose channels share offsets",
    batch="i64", groups="i64", moved="i64", channels="i64", filters="i64", source="i64[2]",
    target="i64[2]", kernel="i64[2]", stride="i64[2]", dilate="i64[2]", pad="i64[2]",
    modulated="i32",
)
