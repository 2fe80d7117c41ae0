"""Initializers for one kind of layer each."""

from math import ceil

import numpy as np

from mxcy.initializer.base import InitDesc, Initializer, create, register

__all__ = ["Bilinear", "FusedRNN", "LSTMBias"]


@register
class Bilinear(Initializer):
    """Fills the weight of an upsampling convolution with a bilinear kernel."""

    def __init__(self):
        super().__init__()

    def _init_weight(self, _, arr):
        height, width = arr.shape[2:]
        factor = ceil(width / 2.0)
        center = (2 * factor - 1 - factor % 2) / (2.0 * factor)
        rows = 1 - abs(np.arange(height) / factor - center)
        columns = 1 - abs(np.arange(width) / factor - center)
        arr[:] = np.broadcast_to(np.outer(rows, columns).astype("float32"), arr.shape)


@register
class LSTMBias(Initializer):
    """Fills the bias of an LSTM with 0, except the forget gate's part.

    Parameters
    ----------
    forget_bias : float
        Value of the forget gate's bias, the second quarter.
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
    """Fills the one vector of a `FusedRNNCell`, part by part.

    Parameters
    ----------
    init : Initializer or str, optional
        What fills the parts; the network's own initializer by default. A str is what `dumps`
        returns.
    num_hidden, num_layers, mode, bidirectional
        As those of the cell.
    forget_bias : float
        What all biases of an LSTM's forget gates are filled with.
    """

    def __init__(
        self, init, num_hidden, num_layers, mode, bidirectional=False, forget_bias=1.0
    ):  # fmt: skip
        if init is not None:
            init = create(init)
        super().__init__(
            init=None if init is None else init.dumps(), num_hidden=num_hidden,
            num_layers=num_layers, mode=mode, bidirectional=bidirectional, forget_bias=forget_bias,
        )  # fmt: skip
        self._init = init
        self._cell_settings = (num_hidden, num_layers, mode, bidirectional)
        self._forget_bias = forget_bias if mode == "lstm" else None

    def _init_weight(self, name, arr):
        from mxcy.rnn import FusedRNNCell  # which needs initializers for its variables

        cell = FusedRNNCell(*self._cell_settings, prefix="")
        parts = cell.unpack_weights({"parameters": arr})
        for part, values in parts.items():
            if self._forget_bias is not None and part.endswith("_f_bias"):
                values[:] = self._forget_bias
            else:
                init = name.global_init if self._init is None else self._init
                init(InitDesc(part, global_init=name.global_init), values)
        arr[:] = cell.pack_weights(parts)["parameters"]
