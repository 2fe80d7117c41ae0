"""Structs of recurrent layers: ``kernels/params/recurrent.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "recurrent")

RNN = _struct(
    "rnn",
    "stack of recurrent layers, see ops/recurrent/layers.py; mode: 0 ReLU, 1 tanh, 2 LSTM, 3 GRU; "
    "drop: dropout rate between layers; saves: whether values for the gradient are an output; "
    "lengths: whether an input has the sequences' lengths; panels: whether weights are in panels "
    "of units; projection: size of projected hidden states, 0 without projection; clips: 1 clips "
    "an LSTM's cell states to [low, high], 2 also replaces NaN by the lower bound",
    steps="i64", batch="i64", inputs="i64", hidden="i64", projection="i64", layers="i64",
    directions="i64", mode="i32", gates="i32", extra="i32", saves="i32", lengths="i32",
    panels="i32", clips="i32", drop="f64", low="f64", high="f64",
)
