"""Recurrent layers and cells."""

# Written by `python -m tools.stubs --write`.

from mxcy.gluon.rnn import (
    conv_rnn_cell as conv_rnn_cell, rnn_cell as rnn_cell, rnn_layer as rnn_layer,
)
from mxcy.gluon.rnn.cell import (
    HybridRecurrentCell as HybridRecurrentCell, RecurrentCell as RecurrentCell,
)
from mxcy.gluon.rnn.cells import (
    GRUCell as GRUCell, LSTMCell as LSTMCell, LSTMPCell as LSTMPCell, RNNCell as RNNCell,
)
from mxcy.gluon.rnn.containers import (
    BidirectionalCell as BidirectionalCell, HybridSequentialRNNCell as HybridSequentialRNNCell,
    SequentialRNNCell as SequentialRNNCell,
)
from mxcy.gluon.rnn.conv_cells import (
    Conv1DGRUCell as Conv1DGRUCell, Conv1DLSTMCell as Conv1DLSTMCell,
    Conv1DRNNCell as Conv1DRNNCell, Conv2DGRUCell as Conv2DGRUCell,
    Conv2DLSTMCell as Conv2DLSTMCell, Conv2DRNNCell as Conv2DRNNCell,
    Conv3DGRUCell as Conv3DGRUCell, Conv3DLSTMCell as Conv3DLSTMCell,
    Conv3DRNNCell as Conv3DRNNCell,
)
from mxcy.gluon.rnn.layers import (
    GRU as GRU, LSTM as LSTM, RNN as RNN,
)
from mxcy.gluon.rnn.modifiers import (
    DropoutCell as DropoutCell, ModifierCell as ModifierCell, ResidualCell as ResidualCell,
    VariationalDropoutCell as VariationalDropoutCell, ZoneoutCell as ZoneoutCell,
)
