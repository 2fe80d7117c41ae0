"""Structs of recurrent layers: ``kernels/params/recurrent.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "recurrent")

RNN = _struct(
    "rnn",
    "a stack of recurrent layers, see ops/recurrent/layers.py; mode: 0 and 1 plain ones with ReLU "
    "and tanh, 2 LSTM, 3 GRU; drop: the part of what a layer puts out that is dropped; saves: "
    "whether what the gradient needs is an output; lengths: whether an input says how many steps "
    "count; projection: the size that hidden states are projected to, 0 without projection; clips: "
    "whether an LSTM's cell states are clipped to [low, high], 2 if NaN becomes the lower bound",
    steps="i64", batch="i64", inputs="i64", hidden="i64", projection="i64", layers="i64",
    directions="i64", mode="i32", gates="i32", extra="i32", saves="i32", lengths="i32", clips="i32",
    drop="f64", low="f64", high="f64",
)
