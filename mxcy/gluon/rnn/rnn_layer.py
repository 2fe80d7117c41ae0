"""Another name of `layers`, as in MXNet."""

from mxcy.gluon.rnn.layers import GRU, LSTM, RNN
from mxcy.gluon.rnn.rnn_cell import tensor_types

__all__ = ["GRU", "LSTM", "RNN", "tensor_types"]
