"""Structs of optimizers' steps: ``kernels/params/optimizer.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "optimizer")

_STEP = {"lr": "f64", "wd": "f64", "rescale_grad": "f64", "clip_gradient": "f64"}
SGD = _struct("sgd", "one step of gradient descent", **_STEP)
SGD_MOM = _struct("sgd_mom", "one step with momentum", momentum="f64", **_STEP)
ADAM = _struct("adam", "one step of Adam", beta1="f64", beta2="f64", epsilon="f64", **_STEP)
RMSPROP = _struct(
    "rmsprop", "one step of RMSProp",
    gamma1="f64", epsilon="f64", clip_weights="f64", **_STEP,
)
SIGNUM = _struct("signum", "one step along signs", momentum="f64", wd_lh="f64", **_STEP)
RMSPROPALEX = _struct(
    "rmspropalex", "one step of centred RMSProp",
    gamma1="f64", gamma2="f64", epsilon="f64", clip_weights="f64", **_STEP,
)
FTRL = _struct("ftrl", "one step behind the regularised leader", lamda1="f64", beta="f64", **_STEP)
FTML = _struct(
    "ftml", "one step behind the moving leader",
    lr="f64", beta1="f64", beta2="f64", epsilon="f64", t="f64", wd="f64", rescale_grad="f64",
    clip_grad="f64",
)
ADAGRAD = _struct("adagrad", "one step of AdaGrad", epsilon="f64", **_STEP)
ADAMW = _struct(
    "adamw", "one step of AdamW or AdaBelief",
    lr="f64", beta1="f64", beta2="f64", epsilon="f64", wd="f64", eta="f64", clip_gradient="f64",
)
MULTI_SGD = _struct(
    "multi_sgd",
    "one step for weights whose inputs come in turns of `per`; the rates of up to 60 of them, or, "
    "when preloaded, those in two arrays at the end",
    weights="i32", per="i32", preloaded="i32", momentum="f64", rescale_grad="f64",
    clip_gradient="f64", lrs="f64[60]", wds="f64[60]",
)
MULTI_ADAMW = _struct(
    "multi_adamw",
    "one step of AdamW or AdaBelief for weights whose inputs come in turns of `per`, with the "
    "rates of up to 60 of them",
    weights="i32", per="i32", beta1="f64", beta2="f64", epsilon="f64", clip_gradient="f64",
    lrs="f64[60]", wds="f64[60]", etas="f64[60]",
)
LAMB = _struct(
    "lamb", "the direction of a step of LAMB",
    beta1="f64", beta2="f64", epsilon="f64", t="f64", bias_correction="i32", wd="f64",
    rescale_grad="f64", clip_gradient="f64",
)
LAMB_STEP = _struct(
    "lamb_step", "a step of LAMB along its direction; negative bounds are none",
    lr="f64", lower_bound="f64", upper_bound="f64",
)
MULTI_LAMB = _struct(
    "multi_lamb",
    "one step of LAMB or LANS for weights whose inputs come in turns of `per`, with the rates and "
    "counts of up to 60 of them; negative bounds are none",
    weights="i32", per="i32", bias_correction="i32", beta1="f64", beta2="f64", epsilon="f64",
    rescale_grad="f64", lower_bound="f64", upper_bound="f64", clip_gradient="f64",
    learning_rates="f64[60]", wds="f64[60]", step_count="f64[60]",
)
STEP_ALL = _struct(
    "step_all",
    "one step of an optimizer for all weights, whose inputs come in turns of `per`; the last input "
    "has a row of rates, one of decays, and perhaps one of etas",
    weights="i32", per="i32", momentum="f64", beta1="f64", beta2="f64", epsilon="f64",
    rescale_grad="f64", clip_gradient="f64",
)
