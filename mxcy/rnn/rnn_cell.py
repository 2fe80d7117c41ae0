"""All cells, under MXNet's module name."""

from mxcy.rnn.cell import BaseRNNCell, RNNParams
from mxcy.rnn.cells import GRUCell, LSTMCell, RNNCell
from mxcy.rnn.containers import BidirectionalCell, SequentialRNNCell
from mxcy.rnn.conv_cells import BaseConvRNNCell, ConvGRUCell, ConvLSTMCell, ConvRNNCell
from mxcy.rnn.fused import FusedRNNCell
from mxcy.rnn.modifiers import DropoutCell, ModifierCell, ResidualCell, ZoneoutCell

__all__ = [
    "BaseConvRNNCell",
    "BaseRNNCell",
    "BidirectionalCell",
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
]
