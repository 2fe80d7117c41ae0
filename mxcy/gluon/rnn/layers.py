"""Recurrent layers: RNN, LSTM and GRU."""

from mxcy.gluon.rnn.layer import RecurrentLayer

__all__ = ["GRU", "LSTM", "RNN"]


class RNN(RecurrentLayer):
    """Simple recurrent layers, ``h' = activation(W x + b + R h + c)``.

    Parameters
    ----------
    hidden_size : int
        Size of a state.
    num_layers : int
    activation : {'relu', 'tanh'}
    layout : {'TNC', 'NTC'}
        Layout of inputs and outputs.
    dropout : float
        Dropout rate, in training, of the outputs of all layers but the last.
    bidirectional : bool
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer
        Initializers of the input and recurrent weights.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer
    input_size : int
        Size of the inputs; 0 infers it from the first batch.
    dtype : str
    **kwargs
        ``use_sequence_length``: whether calls must have `sequence_length`; ``prefix``,
        ``params``: see `Block`.
    """

    def __init__(
        self,
        hidden_size,
        num_layers=1,
        activation="relu",
        layout="TNC",
        dropout=0,
        bidirectional=False,
        i2h_weight_initializer=None,
        h2h_weight_initializer=None,
        i2h_bias_initializer="zeros",
        h2h_bias_initializer="zeros",
        input_size=0,
        dtype="float32",
        **kwargs,
    ):
        super().__init__(
            f"rnn_{activation}",
            hidden_size,
            num_layers,
            layout,
            dropout,
            bidirectional,
            input_size,
            (
                i2h_weight_initializer,
                h2h_weight_initializer,
                i2h_bias_initializer,
                h2h_bias_initializer,
            ),
            dtype,
            **kwargs,
        )

    def _alias(self):
        return "rnn"


class LSTM(RecurrentLayer):
    """Layers of long short-term memory; see `LSTMCell`.

    Parameters
    ----------
    hidden_size, num_layers, layout, dropout, bidirectional, input_size
        See `RNN`.
    i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer
        See `RNN`.
    projection_size : int, optional
        Project hidden states to this size.
    h2r_weight_initializer : str or Initializer
        Initializer of the projection.
    state_clip_min, state_clip_max : float, optional
        Bounds of the cell state; give both or neither.
    state_clip_nan : bool
        Clip NaN in the cell state to a bound.
    dtype : str
    **kwargs
        ``use_sequence_length``: whether calls must have `sequence_length`; ``prefix``,
        ``params``: see `Block`.
    """

    def __init__(
        self,
        hidden_size,
        num_layers=1,
        layout="TNC",
        dropout=0,
        bidirectional=False,
        input_size=0,
        i2h_weight_initializer=None,
        h2h_weight_initializer=None,
        i2h_bias_initializer="zeros",
        h2h_bias_initializer="zeros",
        projection_size=None,
        h2r_weight_initializer=None,
        state_clip_min=None,
        state_clip_max=None,
        state_clip_nan=False,
        dtype="float32",
        **kwargs,
    ):
        clip = {
            "lstm_state_clip_min": state_clip_min,
            "lstm_state_clip_max": state_clip_max,
            "lstm_state_clip_nan": state_clip_nan,
        }
        super().__init__(
            "lstm",
            hidden_size,
            num_layers,
            layout,
            dropout,
            bidirectional,
            input_size,
            (
                i2h_weight_initializer,
                h2h_weight_initializer,
                i2h_bias_initializer,
                h2h_bias_initializer,
            ),
            dtype,
            projection_size,
            h2r_weight_initializer,
            clip,
            **kwargs,
        )

    def _alias(self):
        return "lstm"


class GRU(RecurrentLayer):
    """Layers of gated recurrent units; see `GRUCell`.

    Parameters
    ----------
    hidden_size, num_layers, layout, dropout, bidirectional, input_size
        See `RNN`.
    i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer
        See `RNN`.
    dtype : str
    **kwargs
        ``use_sequence_length``: whether calls must have `sequence_length`; ``prefix``,
        ``params``: see `Block`.
    """

    def __init__(
        self,
        hidden_size,
        num_layers=1,
        layout="TNC",
        dropout=0,
        bidirectional=False,
        input_size=0,
        i2h_weight_initializer=None,
        h2h_weight_initializer=None,
        i2h_bias_initializer="zeros",
        h2h_bias_initializer="zeros",
        dtype="float32",
        **kwargs,
    ):
        super().__init__(
            "gru",
            hidden_size,
            num_layers,
            layout,
            dropout,
            bidirectional,
            input_size,
            (
                i2h_weight_initializer,
                h2h_weight_initializer,
                i2h_bias_initializer,
                h2h_bias_initializer,
            ),
            dtype,
            **kwargs,
        )

    def _alias(self):
        return "gru"
