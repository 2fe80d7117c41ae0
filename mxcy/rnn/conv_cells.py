"""Convolutional cells, whose inputs and states are images."""

import functools

from mxcy import symbol
from mxcy.base import MXNetError
from mxcy.rnn.cell import BaseRNNCell
from mxcy.rnn.cells import gru_step, lstm_step

__all__ = ["BaseConvRNNCell", "ConvGRUCell", "ConvLSTMCell", "ConvRNNCell"]

_LEAKY = functools.partial(symbol.LeakyReLU, act_type="leaky", slope=0.2)


class BaseConvRNNCell(BaseRNNCell):
    """Base class of convolutional cells.

    Parameters
    ----------
    input_shape : tuple of int
        Shape of a step's input, including the batch axis.
    num_hidden : int
        Channels of states and output.
    h2h_kernel, h2h_dilate : tuple of int
        Recurrent convolution, which preserves extents; its kernel is odd.
    i2h_kernel, i2h_stride, i2h_pad, i2h_dilate : tuple of int
        Input convolution.
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer, optional
        Initializers of the weights.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer, optional
        Initializers of the biases.
    activation : str or callable
        Activation; leaky ReLU with slope 0.2 by default.
    prefix : str
        Prefix of names.
    params : RNNParams, optional
        Variables to share with other cells.
    conv_layout : str
        ``'NCHW'`` or ``'NHWC'``.

    Raises
    ------
    MXNetError
        If `h2h_kernel` is even.
    """

    _states = 2

    def __init__(
        self,
        input_shape,
        num_hidden,
        h2h_kernel,
        h2h_dilate,
        i2h_kernel,
        i2h_stride,
        i2h_pad,
        i2h_dilate,
        i2h_weight_initializer,
        h2h_weight_initializer,
        i2h_bias_initializer,
        h2h_bias_initializer,
        activation,
        prefix="",
        params=None,
        conv_layout="NCHW",
    ):
        super().__init__(prefix=prefix, params=params)
        if not all(extent % 2 for extent in h2h_kernel):
            raise MXNetError(f"Only support odd number, get h2h_kernel= {h2h_kernel}")
        self._num_hidden = num_hidden
        self._activation = activation
        self._conv_layout = conv_layout
        self._i2h = {
            "kernel": i2h_kernel,
            "stride": i2h_stride,
            "pad": i2h_pad,
            "dilate": i2h_dilate,
        }
        pad = tuple(d * (k - 1) // 2 for d, k in zip(h2h_dilate, h2h_kernel, strict=True))
        self._h2h = {"kernel": h2h_kernel, "dilate": h2h_dilate, "pad": pad, "stride": (1, 1)}
        state = symbol.Convolution(
            symbol.var("data"), num_filter=num_hidden, layout=conv_layout, **self._i2h
        )
        self._state_shape = (0, *state.infer_shape(data=input_shape)[1][0][1:])
        self._iW = self.params.get("i2h_weight", init=i2h_weight_initializer)
        self._hW = self.params.get("h2h_weight", init=h2h_weight_initializer)
        self._iB = self.params.get("i2h_bias", init=i2h_bias_initializer)
        self._hB = self.params.get("h2h_bias", init=h2h_bias_initializer)

    @property
    def state_info(self):
        info = {"shape": self._state_shape, "__layout__": self._conv_layout}
        return [dict(info) for _ in range(self._states)]

    def _next_step(self):
        self._counter += 1
        return f"{self._prefix}t{self._counter}_"

    def _products(self, inputs, hidden, name):
        channels = self._num_hidden * len(self._gate_names)
        shared = {"num_filter": channels, "layout": self._conv_layout}
        i2h = symbol.Convolution(
            inputs, self._iW, self._iB, **self._i2h, **shared, name=f"{name}i2h"
        )
        h2h = symbol.Convolution(
            hidden, self._hW, self._hB, **self._h2h, **shared, name=f"{name}h2h"
        )
        return i2h, h2h


def _defaults(prefix):
    """Create a constructor with MXNet's defaults for a cell."""

    def __init__(  # noqa: N807  it becomes one
        self,
        input_shape,
        num_hidden,
        h2h_kernel=(3, 3),
        h2h_dilate=(1, 1),
        i2h_kernel=(3, 3),
        i2h_stride=(1, 1),
        i2h_pad=(1, 1),
        i2h_dilate=(1, 1),
        i2h_weight_initializer=None,
        h2h_weight_initializer=None,
        i2h_bias_initializer="zeros",
        h2h_bias_initializer="zeros",
        activation=_LEAKY,
        prefix=prefix,
        params=None,
        conv_layout="NCHW",
    ):
        BaseConvRNNCell.__init__(
            self,
            input_shape,
            num_hidden,
            h2h_kernel,
            h2h_dilate,
            i2h_kernel,
            i2h_stride,
            i2h_pad,
            i2h_dilate,
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
            activation,
            prefix,
            params,
            conv_layout,
        )

    return __init__


class ConvRNNCell(BaseConvRNNCell):
    """``h' = activation(W * x + b + R * h + c)``; see `BaseConvRNNCell`."""

    _states = 1
    _gate_names = ("",)

    __init__ = _defaults("ConvRNN_")

    def __call__(self, inputs, states):
        name = self._next_step()
        i2h, h2h = self._products(inputs, states[0], name)
        output = self._get_activation(i2h + h2h, self._activation, name=f"{name}out")
        return output, [output]


class ConvLSTMCell(BaseConvRNNCell):
    """Convolutional LSTM; see `BaseConvRNNCell`."""

    _gate_names = ("_i", "_f", "_c", "_o")

    __init__ = _defaults("ConvLSTM_")

    def __call__(self, inputs, states):
        name = self._next_step()
        i2h, h2h = self._products(inputs, states[0], name)
        axis = self._conv_layout.find("C")
        gates = symbol.SliceChannel(i2h + h2h, num_outputs=4, axis=axis, name=f"{name}slice")
        return lstm_step(gates, states[1], name, self._get_activation, activation=self._activation)


class ConvGRUCell(BaseConvRNNCell):
    """Convolutional GRU; see `BaseConvRNNCell`. Its gates are split along axis 1."""

    _states = 1
    _gate_names = ("_r", "_z", "_o")

    __init__ = _defaults("ConvGRU_")

    def __call__(self, inputs, states):
        name = self._next_step()
        i2h, h2h = self._products(inputs, states[0], name)
        return gru_step(
            i2h, h2h, states[0], name, self._get_activation, activation=self._activation
        )
