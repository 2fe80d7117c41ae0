"""Cells and unrolling that `mxcy.gluon.rnn.rnn_cell` has as well."""

from mxcy.gluon.rnn.rnn_cell import LSTMPCell, VariationalDropoutCell, dynamic_unroll

__all__ = ["LSTMPCell", "VariationalDropoutCell", "dynamic_unroll"]
