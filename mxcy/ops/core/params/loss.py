"""Structs of losses: ``kernels/params/loss.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "loss")

CTC = _struct(
    "ctc", "CTC loss; data_lengths, label_lengths: input indices, -1 if absent",
    steps="i64", batch="i64", classes="i64", labels="i64", blank="i64", padding="i64",
    data_lengths="i32", label_lengths="i32",
)
SOFTMAX_OUTPUT = _struct(
    "softmax_output",
    "gradient of SoftmaxOutput over (rows, classes, inner), with a label per row and inner "
    "position, or with probabilities; valid: divide by the number of labels that are not ignored",
    rows="i64", classes="i64", inner="i64", labels="i64", probabilities="i32", use_ignore="i32",
    valid="i32", ignore_label="f64", smooth_alpha="f64", scale="f64",
)
SVM_OUTPUT = _struct(
    "svm_output", "gradient of SVMOutput over rows of scores with one label each",
    rows="i64", classes="i64", margin="f64", weight="f64", linear="i32",
)
