"""Alias of `layers`, under MXNet's name."""

from mxcy.gluon.rnn.layers import GRU, LSTM, RNN
from mxcy.gluon.rnn.rnn_cell import tensor_types

__all__ = ["GRU", "LSTM", "RNN", "tensor_types"]
