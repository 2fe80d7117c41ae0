"""Initializers for specific layers."""

from math import ceil

import numpy as np

from mxcy.initializer.base import InitDesc, Initializer, create, register
from mxcy.ops.recurrent.packed import Packed

__all__ = ["Bilinear", "FusedRNN", "LSTMBias", "RNNFused"]


@register
class Bilinear(Initializer):
    """Fill the weight of an upsampling convolution with a bilinear kernel."""

    def __init__(self):
        super().__init__()

    def _init_weight(self, _, arr):
        if len(arr.shape) != 4:
            raise ValueError(f"Bilinear: expected a weight of 4 dimensions, got shape {arr.shape}")
        height, width = arr.shape[2:]
        factor = ceil(width / 2.0)
        center = (2 * factor - 1 - factor % 2) / (2.0 * factor)
        rows = 1 - abs(np.arange(height) / factor - center)
        columns = 1 - abs(np.arange(width) / factor - center)
        arr[:] = np.broadcast_to(np.outer(rows, columns).astype("float32"), arr.shape)


@register
class LSTMBias(Initializer):
    """Fill the bias of an LSTM with 0, except for the forget gate.

    Parameters
    ----------
    forget_bias : float
        Bias of the forget gate, the second quarter.
    """

    def __init__(self, forget_bias=1.0):
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, _, arr):
        units = arr.shape[0] // 4
        arr[:] = 0.0
        arr[units : 2 * units] = self.forget_bias


@register
class FusedRNN(Initializer):
    """Fill the packed parameter vector of a `FusedRNNCell`, part by part.

    Parameters
    ----------
    init : Initializer or str, optional
        Initializer of the parts, or its `dumps` string; the network's by default.
    num_hidden, num_layers, mode, bidirectional
        Arguments of the cell.
    forget_bias : float
        Bias of the forget gates of an LSTM.
    """

    def __init__(self, init, num_hidden, num_layers, mode, bidirectional=False, forget_bias=1.0):
        if init is not None:
            init = create(init)
        super().__init__(
            init=None if init is None else init.dumps(),
            num_hidden=num_hidden,
            num_layers=num_layers,
            mode=mode,
            bidirectional=bidirectional,
            forget_bias=forget_bias,
        )
        self._init = init
        self._cell_settings = (num_hidden, num_layers, mode, bidirectional)
        self._forget_bias = forget_bias if mode == "lstm" else None

    def _init_weight(self, name, arr):
        packed = Packed(*self._cell_settings)
        for part, values in packed.slices(arr, packed.width(arr.size)):
            if self._forget_bias is not None and part.endswith("_f_bias"):
                values[:] = self._forget_bias
            else:
                init = name.global_init if self._init is None else self._init
                init(InitDesc(part, global_init=name.global_init), values)


@register
class RNNFused(Initializer):
    """Fill the packed parameter vector of an `RNN` operator, part by part.

    Parameters
    ----------
    mode : {'rnn_relu', 'rnn_tanh', 'lstm', 'gru'}
    num_layers, state_size : int
        Attributes of the operator.
    bidirectional : bool
    projection_size : int, optional
        Size of the projected state of an LSTM.
    i2h_weight_initializer, h2h_weight_initializer, h2r_weight_initializer : str or Initializer
        Initializers of input, recurrent and projection weights, each filled as a matrix. Default:
        the initializer passed to `set_initializer`, or else uniform.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer
        Initializers of the biases; zeros by default.
    """

    def __init__(
        self,
        mode,
        num_layers,
        state_size,
        bidirectional=False,
        projection_size=None,
        i2h_weight_initializer=None,
        h2h_weight_initializer=None,
        i2h_bias_initializer=None,
        h2h_bias_initializer=None,
        h2r_weight_initializer=None,
    ):
        initializers = {
            "i2h_weight": i2h_weight_initializer,
            "h2h_weight": h2h_weight_initializer,
            "i2h_bias": i2h_bias_initializer,
            "h2h_bias": h2h_bias_initializer,
            "h2r_weight": h2r_weight_initializer,
        }
        super().__init__(
            mode=mode,
            num_layers=num_layers,
            state_size=state_size,
            bidirectional=bidirectional,
            projection_size=projection_size,
            **{f"{part}_initializer": init for part, init in initializers.items()},
        )
        self.gates = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}[mode]
        self.num_layers, self.num_hidden = num_layers, state_size
        self.dir, self.projection_size = 2 if bidirectional else 1, projection_size
        self._inits = initializers

    def set_initializer(self, init):
        """Set the default initializer of weights.

        Parameters
        ----------
        init : str or Initializer
        """
        for part, initializer in self._inits.items():
            if initializer is None and part.endswith("weight"):
                self._inits[part] = init

    def _input_size(self, length):
        """The input size that corresponds to a vector length."""
        rows, recurrent = self.gates * self.num_hidden, self.projection_size or self.num_hidden
        each = rows * self.dir
        further = (self.num_layers - 1) * each * (recurrent * self.dir + recurrent + 2)
        projections = (self.projection_size or 0) * self.num_hidden * self.num_layers * self.dir
        return (length - further - projections) // each - recurrent - 2

    def _shapes(self, length):
        """The parts of the vector in order: (name, shape)."""
        rows, recurrent = self.gates * self.num_hidden, self.projection_size or self.num_hidden
        cells = [layer for layer in range(self.num_layers) for _ in range(self.dir)]
        for layer in cells:
            inputs = recurrent * self.dir if layer else self._input_size(length)
            yield "i2h_weight", (rows, inputs)
            yield "h2h_weight", (rows, recurrent)
            if self.projection_size:
                yield "h2r_weight", (self.projection_size, self.num_hidden)
        for _ in cells:
            yield "i2h_bias", (rows,)
            yield "h2h_bias", (rows,)

    def _init_weight(self, name, arr):
        begin = 0
        for part, shape in self._shapes(arr.size):
            size = int(np.prod(shape))
            init = self._inits[part] or ("zero" if part.endswith("bias") else "uniform")
            values = arr[begin : begin + size].reshape(shape)
            create(init)._init_weight(InitDesc(part), values)
            arr[begin : begin + size] = values.reshape((-1,))
            begin += size
