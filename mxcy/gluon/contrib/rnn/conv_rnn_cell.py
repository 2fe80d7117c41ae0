"""Alias of `mxcy.gluon.rnn.conv_rnn_cell`."""

from mxcy.gluon.rnn.conv_cells import *  # noqa: F403
from mxcy.gluon.rnn.conv_cells import __all__ as _cells

__all__ = list(_cells)
