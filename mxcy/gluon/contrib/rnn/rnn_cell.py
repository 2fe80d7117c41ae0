"""Aliases of cells and unrolling in `mxcy.gluon.rnn.rnn_cell`."""

from mxcy.gluon.rnn.rnn_cell import LSTMPCell, VariationalDropoutCell, dynamic_unroll

__all__ = ["LSTMPCell", "VariationalDropoutCell", "dynamic_unroll"]
