"""`mx.rnn`: symbolic recurrent cells, their checkpoints, and bucketing of sentences."""

from mxcy._base.listing import listing
from mxcy.rnn import cell, cells, containers, conv_cells, fused, io, modifiers, rnn, rnn_cell
from mxcy.rnn.cell import BaseRNNCell, RNNParams
from mxcy.rnn.cells import GRUCell, LSTMCell, RNNCell
from mxcy.rnn.containers import BidirectionalCell, SequentialRNNCell
from mxcy.rnn.conv_cells import BaseConvRNNCell, ConvGRUCell, ConvLSTMCell, ConvRNNCell
from mxcy.rnn.fused import FusedRNNCell
from mxcy.rnn.io import BucketSentenceIter, encode_sentences
from mxcy.rnn.modifiers import DropoutCell, ModifierCell, ResidualCell, ZoneoutCell
from mxcy.rnn.rnn import do_rnn_checkpoint, load_rnn_checkpoint, rnn_unroll, save_rnn_checkpoint

__all__ = [
    "BaseConvRNNCell",
    "BaseRNNCell",
    "BidirectionalCell",
    "BucketSentenceIter",
    "ConvGRUCell",
    "ConvLSTMCell",
    "ConvRNNCell",
    "DropoutCell",
    "FusedRNNCell",
    "GRUCell",
    "LSTMCell",
    "ModifierCell",
    "RNNCell",
    "RNNParams",
    "ResidualCell",
    "SequentialRNNCell",
    "ZoneoutCell",
    "cell",
    "cells",
    "containers",
    "conv_cells",
    "do_rnn_checkpoint",
    "encode_sentences",
    "fused",
    "io",
    "load_rnn_checkpoint",
    "modifiers",
    "rnn",
    "rnn_cell",
    "rnn_unroll",
    "save_rnn_checkpoint",
]

__dir__ = listing(__name__)
