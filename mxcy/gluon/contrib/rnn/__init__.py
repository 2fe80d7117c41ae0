"""Recurrent cells under their MXNet 1.x names."""

from mxcy._base.listing import listing
from mxcy.gluon.contrib.rnn import conv_rnn_cell, rnn_cell
from mxcy.gluon.contrib.rnn.conv_rnn_cell import *  # noqa: F403
from mxcy.gluon.contrib.rnn.conv_rnn_cell import __all__ as _conv_rnn_cell
from mxcy.gluon.contrib.rnn.rnn_cell import LSTMPCell, VariationalDropoutCell

__all__ = ["LSTMPCell", "VariationalDropoutCell", "conv_rnn_cell", "rnn_cell", *_conv_rnn_cell]

__dir__ = listing(__name__)
