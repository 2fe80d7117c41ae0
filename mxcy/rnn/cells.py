"""RNN, LSTM and GRU cells."""

from mxcy import initializer, symbol
from mxcy.rnn.cell import BaseRNNCell

__all__ = ["GRUCell", "LSTMCell", "RNNCell"]


class _DenseCell(BaseRNNCell):
    """A cell with weights ``i2h`` for the input and ``h2h`` for the state."""

    _states = 1
    _product = "{}{}"  # name pattern of the two products' nodes

    def __init__(self, num_hidden, prefix, params, i2h_bias=None):
        super().__init__(prefix=prefix, params=params)
        self._num_hidden = num_hidden
        self._iW = self.params.get("i2h_weight")
        self._iB = self.params.get("i2h_bias", init=i2h_bias)
        self._hW = self.params.get("h2h_weight")
        self._hB = self.params.get("h2h_bias")

    @property
    def state_info(self):
        info = {"shape": (0, self._num_hidden), "__layout__": "NC"}
        return [dict(info) for _ in range(self._states)]

    def _next_step(self):
        self._counter += 1
        return f"{self._prefix}t{self._counter}_"

    def _products(self, inputs, hidden, name):
        units = self._num_hidden * len(self._gate_names)
        i2h = symbol.FullyConnected(
            inputs, self._iW, self._iB, num_hidden=units, name=self._product.format(name, "i2h")
        )
        h2h = symbol.FullyConnected(
            hidden, self._hW, self._hB, num_hidden=units, name=self._product.format(name, "h2h")
        )
        return i2h, h2h


class RNNCell(_DenseCell):
    """``h' = activation(W x + b + R h + c)``.

    Parameters
    ----------
    num_hidden : int
        Size of state and output.
    activation : str or callable
        The type of an `Activation`, or a function of a symbol and a name.
    prefix : str
        Prefix of names.
    params : RNNParams, optional
        Variables to share with other cells.
    """

    _gate_names = ("",)

    def __init__(self, num_hidden, activation="tanh", prefix="rnn_", params=None):
        super().__init__(num_hidden, prefix, params)
        self._activation = activation

    def __call__(self, inputs, states):
        name = self._next_step()
        i2h, h2h = self._products(inputs, states[0], name)
        output = self._get_activation(i2h + h2h, self._activation, name=f"{name}out")
        return output, [output]


class LSTMCell(_DenseCell):
    """Long short-term memory; its states are the output and the cell state.

    Parameters
    ----------
    num_hidden : int
        Size of states and output.
    prefix : str
        Prefix of names.
    params : RNNParams, optional
        Variables to share with other cells.
    forget_bias : float
        Initial value of the forget gate's input bias.
    """

    _states = 2
    _gate_names = ("_i", "_f", "_c", "_o")

    def __init__(self, num_hidden, prefix="lstm_", params=None, forget_bias=1.0):
        super().__init__(num_hidden, prefix, params, initializer.LSTMBias(forget_bias=forget_bias))

    def __call__(self, inputs, states):
        name = self._next_step()
        i2h, h2h = self._products(inputs, states[0], name)
        gates = symbol.SliceChannel(i2h + h2h, num_outputs=4, name=f"{name}slice")
        return lstm_step(gates, states[1], name, symbol.Activation, act_type="tanh")


class GRUCell(_DenseCell):
    """Gated recurrent unit whose reset gate is applied after the recurrent product.

    Parameters
    ----------
    num_hidden : int
        Size of state and output.
    prefix : str
        Prefix of names.
    params : RNNParams, optional
        Variables to share with other cells.
    """

    _gate_names = ("_r", "_z", "_o")
    _product = "{}_{}"

    def __init__(self, num_hidden, prefix="gru_", params=None):
        super().__init__(num_hidden, prefix, params)

    def __call__(self, inputs, states):
        name = self._next_step()
        i2h, h2h = self._products(inputs, states[0], name)
        return gru_step(i2h, h2h, states[0], name, symbol.Activation, act_type="tanh")


def lstm_step(gates, memory, name, activate, **kwargs):
    """One step of an LSTM from its four gates' pre-activations; return output and states."""
    take = symbol.Activation(gates[0], act_type="sigmoid", name=f"{name}i")
    keep = symbol.Activation(gates[1], act_type="sigmoid", name=f"{name}f")
    new = activate(gates[2], **kwargs, name=f"{name}c")
    show = symbol.Activation(gates[3], act_type="sigmoid", name=f"{name}o")
    memory = symbol._internal._plus(keep * memory, take * new, name=f"{name}state")
    output = symbol._internal._mul(show, activate(memory, **kwargs), name=f"{name}out")
    return output, [output, memory]


def gru_step(i2h, h2h, state, name, activate, **kwargs):
    """One step of a GRU from both products of three gates each; return output and states."""
    i2h_r, i2h_z, i2h_o = symbol.SliceChannel(i2h, num_outputs=3, name=f"{name}_i2h_slice")
    h2h_r, h2h_z, h2h_o = symbol.SliceChannel(h2h, num_outputs=3, name=f"{name}_h2h_slice")
    reset = symbol.Activation(i2h_r + h2h_r, act_type="sigmoid", name=f"{name}_r_act")
    update = symbol.Activation(i2h_z + h2h_z, act_type="sigmoid", name=f"{name}_z_act")
    new = activate(i2h_o + reset * h2h_o, **kwargs, name=f"{name}_h_act")
    output = symbol._internal._plus((1.0 - update) * new, update * state, name=f"{name}out")
    return output, [output]
