"""Another name of `conv_cells`, as in MXNet."""

from mxcy.gluon.rnn.conv_cells import *  # noqa: F403
from mxcy.gluon.rnn.conv_cells import __all__ as _cells

__all__ = list(_cells)
