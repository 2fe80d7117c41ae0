"""Structs of optimizer steps: ``kernels/params/optimizer.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "optimizer")

_STEP = {"lr": "f64", "wd": "f64", "rescale_grad": "f64", "clip_gradient": "f64"}
SGD = _struct("sgd", "step of gradient descent", **_STEP)
SGD_MOM = _struct("sgd_mom", "step of gradient descent with momentum", momentum="f64", **_STEP)
ADAM = _struct("adam", "step of Adam", beta1="f64", beta2="f64", epsilon="f64", **_STEP)
RMSPROP = _struct(
    "rmsprop", "step of RMSProp",
    gamma1="f64", epsilon="f64", clip_weights="f64", **_STEP,
)
SIGNUM = _struct(
    "signum", "step of Signum, along the sign of the momentum",
    momentum="f64", wd_lh="f64", **_STEP,
)
RMSPROPALEX = _struct(
    "rmspropalex", "step of centred RMSProp",
    gamma1="f64", gamma2="f64", epsilon="f64", clip_weights="f64", **_STEP,
)
FTRL = _struct(
    "ftrl", "step of FTRL, follow the regularized leader",
    lamda1="f64", beta="f64", **_STEP,
)
FTML = _struct(
    "ftml", "step of FTML, follow the moving leader",
    lr="f64", beta1="f64", beta2="f64", epsilon="f64", t="f64", wd="f64", rescale_grad="f64",
    clip_grad="f64",
)
ADAGRAD = _struct("adagrad", "step of AdaGrad", epsilon="f64", **_STEP)
ADAMW = _struct(
    "adamw", "step of AdamW or AdaBelief",
    lr="f64", beta1="f64", beta2="f64", epsilon="f64", wd="f64", eta="f64", clip_gradient="f64",
)
MULTI_SGD = _struct(
    "multi_sgd",
    "step for several weights, with `per` inputs each; rates of up to 60 weights or, if "
    "preloaded, in the last two inputs",
    weights="i32", per="i32", preloaded="i32", momentum="f64", rescale_grad="f64",
    clip_gradient="f64", lrs="f64[60]", wds="f64[60]",
)
MULTI_ADAMW = _struct(
    "multi_adamw",
    "step of AdamW or AdaBelief for several weights, with `per` inputs each and rates of up to 60"
    " weights",
    weights="i32", per="i32", beta1="f64", beta2="f64", epsilon="f64", clip_gradient="f64",
    lrs="f64[60]", wds="f64[60]", etas="f64[60]",
)
LAMB = _struct(
    "lamb", "direction of a LAMB step",
    beta1="f64", beta2="f64", epsilon="f64", t="f64", bias_correction="i32", wd="f64",
    rescale_grad="f64", clip_gradient="f64",
)
LAMB_STEP = _struct(
    "lamb_step", "LAMB step along its direction; negative bounds are disabled",
    lr="f64", lower_bound="f64", upper_bound="f64",
)
MULTI_LAMB = _struct(
    "multi_lamb",
    "step of LAMB or LANS for several weights, with `per` inputs each and rates and counts of up "
    "to 60 weights; negative bounds are disabled",
    weights="i32", per="i32", bias_correction="i32", beta1="f64", beta2="f64", epsilon="f64",
    rescale_grad="f64", lower_bound="f64", upper_bound="f64", clip_gradient="f64",
    learning_rates="f64[60]", wds="f64[60]", step_count="f64[60]",
)
STEP_ALL = _struct(
    "step_all",
    "step of an optimizer for all weights, with `per` inputs each; the last input has a row of "
    "learning rates, one of weight decays and, for some, one of etas",
    weights="i32", per="i32", momentum="f64", beta1="f64", beta2="f64", epsilon="f64",
    rescale_grad="f64", clip_gradient="f64",
)
