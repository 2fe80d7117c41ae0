"""Convolutional recurrent cells, whose states are images."""

from mxcy.gluon.rnn.cell import StepCell
from mxcy.gluon.rnn.cells import activate, gru_step, lstm_step

__all__ = [
    "Conv1DGRUCell",
    "Conv1DLSTMCell",
    "Conv1DRNNCell",
    "Conv2DGRUCell",
    "Conv2DLSTMCell",
    "Conv2DRNNCell",
    "Conv3DGRUCell",
    "Conv3DLSTMCell",
    "Conv3DRNNCell",
]

_LAYOUTS = {1: ("NCW", "NWC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}


def _tuple(value, dims, name):
    value = (value,) * dims if isinstance(value, int) else tuple(value)
    if len(value) != dims:
        raise ValueError(f"{name}: expected a number or {dims} of them, got {value}")
    return value


class _ConvCell(StepCell):
    """Base of convolutional cells; the recurrent convolution preserves extents."""

    _dims, _gates, _states = 2, 1, 1

    def __init__(
        self,
        input_shape,
        hidden_channels,
        i2h_kernel,
        h2h_kernel,
        i2h_pad,
        i2h_dilate,
        h2h_dilate,
        initializers,
        conv_layout,
        activation,
        prefix,
        params,
    ):
        super().__init__(prefix=prefix, params=params)
        dims = self._dims
        if conv_layout not in _LAYOUTS[dims]:
            raise ValueError(
                f"conv_layout: expected one of {', '.join(_LAYOUTS[dims])}, got {conv_layout!r}"
            )
        self._hidden_channels, self._layout, self._activation = (
            hidden_channels,
            conv_layout,
            activation,
        )
        i2h_kernel = _tuple(i2h_kernel, dims, "i2h_kernel")
        h2h_kernel = _tuple(h2h_kernel, dims, "h2h_kernel")
        assert all(extent % 2 for extent in h2h_kernel), (
            f"Only support odd number, get h2h_kernel= {h2h_kernel}"
        )
        i2h_pad = _tuple(i2h_pad, dims, "i2h_pad")
        i2h_dilate = _tuple(i2h_dilate, dims, "i2h_dilate")
        h2h_dilate = _tuple(h2h_dilate, dims, "h2h_dilate")
        h2h_pad = tuple(d * (k - 1) // 2 for d, k in zip(h2h_dilate, h2h_kernel, strict=True))
        self._i2h = {"kernel": i2h_kernel, "pad": i2h_pad, "dilate": i2h_dilate}
        self._h2h = {"kernel": h2h_kernel, "pad": h2h_pad, "dilate": h2h_dilate}
        first = conv_layout[1] == "C"
        channels, *extents = input_shape if first else (input_shape[-1], *input_shape[:-1])
        extents = tuple(
            size + 2 * pad - dilate * (kernel - 1)
            for size, pad, dilate, kernel in zip(
                extents, i2h_pad, i2h_dilate, i2h_kernel, strict=True
            )
        )
        self._input_channels = channels
        self._state_shape = (hidden_channels, *extents) if first else (*extents, hidden_channels)
        rows = self._gates * hidden_channels

        def weight(source, kernel):
            return (rows, source, *kernel) if first else (rows, *kernel, source)

        shapes = {
            "i2h_weight": weight(channels, i2h_kernel),
            "h2h_weight": weight(hidden_channels, h2h_kernel),
            "i2h_bias": (rows,),
            "h2h_bias": (rows,),
        }
        for (name, shape), init in zip(shapes.items(), initializers, strict=True):
            parameter = self.params.get(name, shape=shape, init=init, allow_deferred_init=True)
            setattr(self, name, parameter)

    def state_info(self, batch_size=0):
        info = {"shape": (batch_size, *self._state_shape), "__layout__": self._layout}
        return [dict(info) for _ in range(self._states)]

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        shared = {"num_filter": self._gates * self._hidden_channels, "layout": self._layout}
        i2h_name, h2h_name = (f"{self._step_prefix}{name}" for name in ("i2h", "h2h"))
        i2h = F.Convolution(inputs, i2h_weight, i2h_bias, **self._i2h, **shared, name=i2h_name)
        h2h = F.Convolution(states[0], h2h_weight, h2h_bias, **self._h2h, **shared, name=h2h_name)
        return self._step(F, i2h, h2h, states)

    @property
    def _axis(self):
        return self._layout.index("C")

    def __repr__(self):
        return (
            f"{type(self).__name__}({self._input_channels} -> "
            f"{self._gates * self._hidden_channels}, {self._activation}, {self._layout})"
        )


class _ConvRNN:
    _gates, _states = 1, 1

    def _alias(self):
        return "conv_rnn"

    def _step(self, F, i2h, h2h, states):
        output = activate(F, i2h + h2h, self._activation, f"{self._step_prefix}out")
        return output, [output]


class _ConvLSTM:
    _gates, _states = 4, 2

    def _alias(self):
        return "conv_lstm"

    def _step(self, F, i2h, h2h, states):
        hidden, cell = lstm_step(
            F, i2h, h2h, states[1], self._step_prefix, self._activation, axis=self._axis
        )
        return hidden, [hidden, cell]


class _ConvGRU:
    _gates, _states = 3, 1

    def _alias(self):
        return "conv_gru"

    def _step(self, F, i2h, h2h, states):
        output = gru_step(
            F, i2h, h2h, states[0], self._step_prefix, self._activation, axis=self._axis
        )
        return output, [output]


_DOC = """A recurrent cell on {dims}-dimensional images: {kind}.

    Parameters
    ----------
    input_shape : tuple of int
        Shape of an input without the batch, in the layout's order.
    hidden_channels : int
        Channels of states and outputs.
    i2h_kernel, h2h_kernel : int or tuple of int
        Kernels of the convolutions of input and state; the latter's extents are odd.
    i2h_pad : int or tuple of int
    i2h_dilate, h2h_dilate : int or tuple of int
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer
    conv_layout : str
        Such as ``{layout}``.
    activation : str or callable
    prefix, params
        See `Block`.
    """
_KINDS = {
    "RNN": (_ConvRNN, "``h' = activation(W * x + b + R * h + c)``"),
    "LSTM": (_ConvLSTM, "an LSTM (Shi et al., 2015)"),
    "GRU": (_ConvGRU, "a GRU"),
}


def _cell_class(dims, kind):
    base, what = _KINDS[kind]
    layout, ones = _LAYOUTS[dims][0], (1,) * dims

    def __init__(
        self,
        input_shape,
        hidden_channels,
        i2h_kernel,
        h2h_kernel,
        i2h_pad=(0,) * dims,
        i2h_dilate=ones,
        h2h_dilate=ones,
        i2h_weight_initializer=None,
        h2h_weight_initializer=None,
        i2h_bias_initializer="zeros",
        h2h_bias_initializer="zeros",
        conv_layout=layout,
        activation="tanh",
        prefix=None,
        params=None,
    ):
        initializers = (
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
        )
        _ConvCell.__init__(
            self,
            input_shape,
            hidden_channels,
            i2h_kernel,
            h2h_kernel,
            i2h_pad,
            i2h_dilate,
            h2h_dilate,
            initializers,
            conv_layout,
            activation,
            prefix,
            params,
        )

    doc = _DOC.format(dims=dims, kind=what, layout=layout)
    members = {"__init__": __init__, "__doc__": doc, "__module__": __name__, "_dims": dims}
    return type(f"Conv{dims}D{kind}Cell", (base, _ConvCell), members)


Conv1DRNNCell = _cell_class(1, "RNN")
Conv2DRNNCell = _cell_class(2, "RNN")
Conv3DRNNCell = _cell_class(3, "RNN")
Conv1DLSTMCell = _cell_class(1, "LSTM")
Conv2DLSTMCell = _cell_class(2, "LSTM")
Conv3DLSTMCell = _cell_class(3, "LSTM")
Conv1DGRUCell = _cell_class(1, "GRU")
Conv2DGRUCell = _cell_class(2, "GRU")
Conv3DGRUCell = _cell_class(3, "GRU")
