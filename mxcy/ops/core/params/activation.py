"""Structs of activations: ``kernels/params/activation.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "activation")

PRELU = _struct(
    "prelu", "leaky ReLU of an (outer, channels, inner) array with one slope per channel",
    outer="i64", channels="i64", inner="i64",
)
SOFTMAX = _struct(
    "softmax", "softmax of scale * data along a dimension, or scale times its gradient",
    outer="i64", extent="i64", inner="i64", scale="f64",
)
