"""All cells but the convolutional ones, under MXNet's module name."""

from mxcy._base.listing import listing
from mxcy.gluon.rnn.cell import HybridRecurrentCell, RecurrentCell
from mxcy.gluon.rnn.cells import GRUCell, LSTMCell, LSTMPCell, RNNCell
from mxcy.gluon.rnn.containers import BidirectionalCell, HybridSequentialRNNCell, SequentialRNNCell
from mxcy.gluon.rnn.dynamic import dynamic_unroll
from mxcy.gluon.rnn.modifiers import (
    DropoutCell,
    ModifierCell,
    ResidualCell,
    VariationalDropoutCell,
    ZoneoutCell,
)
from mxcy.ndarray import NDArray
from mxcy.symbol import Symbol

__all__ = [
    "BidirectionalCell",
    "DropoutCell",
    "GRUCell",
    "HybridRecurrentCell",
    "HybridSequentialRNNCell",
    "LSTMCell",
    "LSTMPCell",
    "ModifierCell",
    "RNNCell",
    "RecurrentCell",
    "ResidualCell",
    "SequentialRNNCell",
    "VariationalDropoutCell",
    "ZoneoutCell",
    "dynamic_unroll",
    "tensor_types",
]

__dir__ = listing(__name__)

#: types that cells accept as inputs
tensor_types = (Symbol, NDArray)
