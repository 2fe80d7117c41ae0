"""Structs of ``optimizer_params.gen.h``: steps of training for all weights at once."""

from mxcy.ops.core.struct_layout import Params

STEP_ALL = Params(
    "optimizer.step_all",
    "one step of an optimizer for all weights, whose inputs come in turns of `per`; the last input "
    "has a row of rates, one of decays, and perhaps one of etas",
    weights="i32", per="i32", momentum="f64", beta1="f64", beta2="f64", epsilon="f64",
    rescale_grad="f64", clip_gradient="f64",
)
