"""Recurrent layers and cells."""

from mxcy._base.listing import listing
from mxcy._base.suggestions import module_getattr
from mxcy.gluon.rnn import conv_rnn_cell, rnn_cell, rnn_layer
from mxcy.gluon.rnn.cell import HybridRecurrentCell, RecurrentCell
from mxcy.gluon.rnn.cells import GRUCell, LSTMCell, LSTMPCell, RNNCell
from mxcy.gluon.rnn.containers import BidirectionalCell, HybridSequentialRNNCell, SequentialRNNCell
from mxcy.gluon.rnn.conv_cells import (
    Conv1DGRUCell,
    Conv1DLSTMCell,
    Conv1DRNNCell,
    Conv2DGRUCell,
    Conv2DLSTMCell,
    Conv2DRNNCell,
    Conv3DGRUCell,
    Conv3DLSTMCell,
    Conv3DRNNCell,
)
from mxcy.gluon.rnn.layers import GRU, LSTM, RNN
from mxcy.gluon.rnn.modifiers import (
    DropoutCell,
    ModifierCell,
    ResidualCell,
    VariationalDropoutCell,
    ZoneoutCell,
)

__all__ = [
    "BidirectionalCell",
    "Conv1DGRUCell",
    "Conv1DLSTMCell",
    "Conv1DRNNCell",
    "Conv2DGRUCell",
    "Conv2DLSTMCell",
    "Conv2DRNNCell",
    "Conv3DGRUCell",
    "Conv3DLSTMCell",
    "Conv3DRNNCell",
    "DropoutCell",
    "GRU",
    "GRUCell",
    "HybridRecurrentCell",
    "HybridSequentialRNNCell",
    "LSTM",
    "LSTMCell",
    "LSTMPCell",
    "ModifierCell",
    "RNN",
    "RNNCell",
    "RecurrentCell",
    "ResidualCell",
    "SequentialRNNCell",
    "VariationalDropoutCell",
    "ZoneoutCell",
    "conv_rnn_cell",
    "rnn_cell",
    "rnn_layer",
]

__getattr__ = module_getattr(__name__)
__dir__ = listing(__name__)
