"""Alias of `conv_cells`, under MXNet's name."""

from mxcy.gluon.rnn.conv_cells import *  # noqa: F403
from mxcy.gluon.rnn.conv_cells import __all__ as _cells

__all__ = list(_cells)
