"""Conversion of recurrent layers to stacks of cells that share their parameters."""

from mxcy.gluon.rnn.cells import GRUCell, LSTMCell, RNNCell
from mxcy.gluon.rnn.containers import BidirectionalCell, HybridSequentialRNNCell
from mxcy.gluon.rnn.modifiers import DropoutCell

__all__ = ["unfused"]

#: mode of a layer -> class and arguments of its cells
_CELLS = {
    "rnn_relu": (RNNCell, {"activation": "relu"}),
    "rnn_tanh": (RNNCell, {"activation": "tanh"}),
    "lstm": (LSTMCell, {}),
    "gru": (GRUCell, {}),
}


def unfused(layer):
    """Return an equivalent stack of cells with the same parameters.

    Parameters
    ----------
    layer : RNN, LSTM or GRU
        A layer without projection or bounds of the cell state.

    Returns
    -------
    HybridSequentialRNNCell
    """
    kind, options = _CELLS[layer._mode]
    names = ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias")
    initializers = zip(names, layer._initializers, strict=True)
    options = options | {f"{name}_initializer": value for name, value in initializers}
    stack = HybridSequentialRNNCell(prefix=layer.prefix, params=layer.params)
    width = layer._input_size
    with stack.name_scope():
        for number in range(layer._num_layers):
            cells = [
                kind(
                    layer._hidden_size, prefix=f"{direction}{number}_", input_size=width, **options
                )
                for direction in ("l", "r")[: layer._dir]
            ]
            stack.add(cells[0] if len(cells) == 1 else BidirectionalCell(*cells))
            if layer._dropout > 0 and number != layer._num_layers - 1:
                stack.add(DropoutCell(layer._dropout))
            width = layer._hidden_size * layer._dir
    return stack
