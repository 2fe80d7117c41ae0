"""Another name of `layers`, as in MXNet."""

from mxcy.gluon.rnn.layers import GRU, LSTM, RNN

__all__ = ["GRU", "LSTM", "RNN"]
