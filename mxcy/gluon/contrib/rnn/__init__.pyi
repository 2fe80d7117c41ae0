"""Recurrent cells under their MXNet 1.x names."""

# Written by `python -m tools.stubs --write`.

from mxcy.gluon.contrib.rnn import (
    conv_rnn_cell as conv_rnn_cell, rnn_cell as rnn_cell,
)
from mxcy.gluon.rnn.cells import (
    LSTMPCell as LSTMPCell,
)
from mxcy.gluon.rnn.conv_cells import (
    Conv1DGRUCell as Conv1DGRUCell, Conv1DLSTMCell as Conv1DLSTMCell,
    Conv1DRNNCell as Conv1DRNNCell, Conv2DGRUCell as Conv2DGRUCell,
    Conv2DLSTMCell as Conv2DLSTMCell, Conv2DRNNCell as Conv2DRNNCell,
    Conv3DGRUCell as Conv3DGRUCell, Conv3DLSTMCell as Conv3DLSTMCell,
    Conv3DRNNCell as Conv3DRNNCell,
)
from mxcy.gluon.rnn.modifiers import (
    VariationalDropoutCell as VariationalDropoutCell,
)
