"""RNN, LSTM, GRU and LSTMP cells; operator RNN documents the formulas."""

from mxcy.gluon.rnn.cell import StepCell

__all__ = ["GRUCell", "LSTMCell", "LSTMPCell", "RNNCell"]

_ACTIVATIONS = ("tanh", "relu", "sigmoid", "softrelu", "softsign")


def activate(F, x, activation, name=None):
    """Apply an activation given by name, or as a block or function."""
    if isinstance(activation, str):
        if activation in _ACTIVATIONS:
            return F.Activation(x, act_type=activation, name=name)
        return F.LeakyReLU(x, act_type=activation, name=name)
    return activation(x)


class _DenseCell(StepCell):
    """A cell whose gates are dense layers of the input and of the hidden state.

    Parameters
    ----------
    hidden_size : int
    gates : int
    input_size : int
        Size of the input; 0 infers it from the first input.
    initializers : dict of str to (str or Initializer)
        Initializers by parameter name.
    projection : int, optional
        Size of the recurrent hidden state, if it is a projection.
    """

    def __init__(
        self, hidden_size, gates, input_size, initializers, prefix, params, projection=None
    ):
        super().__init__(prefix=prefix, params=params)
        self._hidden_size, self._gates, self._input_size = hidden_size, gates, input_size
        rows = gates * hidden_size
        shapes = {
            "i2h_weight": (rows, input_size),
            "h2h_weight": (rows, projection or hidden_size),
            "i2h_bias": (rows,),
            "h2h_bias": (rows,),
        }
        if projection is not None:
            shapes["h2r_weight"] = (projection, hidden_size)
        # biases last: the order determines the random initial values
        for name in sorted(shapes, key=lambda name: name.endswith("bias")):
            parameter = self.params.get(
                name, shape=shapes[name], init=initializers[name], allow_deferred_init=True
            )
            setattr(self, name, parameter)

    def infer_shape(self, i, x, is_bidirect):
        """Set the input size; see `HybridRecurrentCell.infer_shape`."""
        width = x.shape[-1] if i == 0 else self.h2h_weight.shape[1] * (2 if is_bidirect else 1)
        self.i2h_weight.shape = (self.i2h_weight.shape[0], width)

    def state_info(self, batch_size=0):
        return [{"shape": (batch_size, self._hidden_size), "__layout__": "NC"}]

    def _products(self, F, inputs, hidden, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        rows, step = self._gates * self._hidden_size, self._step_prefix
        return (
            F.FullyConnected(inputs, i2h_weight, i2h_bias, num_hidden=rows, name=f"{step}i2h"),
            F.FullyConnected(hidden, h2h_weight, h2h_bias, num_hidden=rows, name=f"{step}h2h"),
        )

    def __repr__(self):
        shape = self.i2h_weight.shape
        source = shape[1] if shape[1] else None
        return f"{type(self).__name__}({source} -> {shape[0]})"


class RNNCell(_DenseCell):
    """``h' = activation(W x + b + R h + c)``.

    Parameters
    ----------
    hidden_size : int
        Size of the state and the output.
    activation : str or callable
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer
        Initializers of the input and recurrent weights.
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer
        Initializers of both biases.
    input_size : int
        Size of the input; 0 infers it from the first input.
    prefix, params
        See `Block`.
    """

    def __init__(
        self,
        hidden_size,
        activation="tanh",
        i2h_weight_initializer=None,
        h2h_weight_initializer=None,
        i2h_bias_initializer="zeros",
        h2h_bias_initializer="zeros",
        input_size=0,
        prefix=None,
        params=None,
    ):
        initializers = {
            "i2h_weight": i2h_weight_initializer,
            "h2h_weight": h2h_weight_initializer,
            "i2h_bias": i2h_bias_initializer,
            "h2h_bias": h2h_bias_initializer,
        }
        super().__init__(hidden_size, 1, input_size, initializers, prefix, params)
        self._activation = activation

    def __repr__(self):
        return f"{super().__repr__()[:-1]}, {self._activation})"

    def _alias(self):
        return "rnn"

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        i2h, h2h = self._products(F, inputs, states[0], i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        step = self._step_prefix
        total = F.elemwise_add(i2h, h2h, name=f"{step}plus0")
        output = activate(F, total, self._activation, f"{step}out")
        return output, [output]


class LSTMCell(_DenseCell):
    """Long short-term memory: gates i, f, g, o; c' = f c + i g and h' = o activation(c').

    Parameters
    ----------
    hidden_size : int
        Size of the states and the output.
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer
    input_size : int
        Size of the input; 0 infers it from the first input.
    prefix, params
        See `Block`.
    activation, recurrent_activation : str or callable
        Activations of g and c', and of the other gates.
    """

    def __init__(
        self,
        hidden_size,
        i2h_weight_initializer=None,
        h2h_weight_initializer=None,
        i2h_bias_initializer="zeros",
        h2h_bias_initializer="zeros",
        input_size=0,
        prefix=None,
        params=None,
        activation="tanh",
        recurrent_activation="sigmoid",
    ):
        initializers = {
            "i2h_weight": i2h_weight_initializer,
            "h2h_weight": h2h_weight_initializer,
            "i2h_bias": i2h_bias_initializer,
            "h2h_bias": h2h_bias_initializer,
        }
        super().__init__(hidden_size, 4, input_size, initializers, prefix, params)
        self._activation, self._recurrent_activation = activation, recurrent_activation

    def _alias(self):
        return "lstm"

    def state_info(self, batch_size=0):
        return [{"shape": (batch_size, self._hidden_size), "__layout__": "NC"} for _ in range(2)]

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        i2h, h2h = self._products(F, inputs, states[0], i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        hidden, cell = lstm_step(
            F, i2h, h2h, states[1], self._step_prefix, self._activation, self._recurrent_activation
        )
        return hidden, [hidden, cell]


def lstm_step(
    F, i2h, h2h, cell, step, activation="tanh", recurrent_activation="sigmoid", axis=1, out="out"
):
    """Compute the new hidden and cell state; gates are concatenated along an axis.

    `step` is the prefix of the operators' names, `out` the name of the last one.
    """
    gates = F.elemwise_add(i2h, h2h, name=f"{step}plus0")
    enter, forget, fresh, leave = F.SliceChannel(
        gates, num_outputs=4, axis=axis, name=f"{step}slice"
    )
    enter = activate(F, enter, recurrent_activation, f"{step}i")
    forget = activate(F, forget, recurrent_activation, f"{step}f")
    fresh = activate(F, fresh, activation, f"{step}c")
    leave = activate(F, leave, recurrent_activation, f"{step}o")
    kept = F.elemwise_mul(forget, cell, name=f"{step}mul0")
    added = F.elemwise_mul(enter, fresh, name=f"{step}mul1")
    cell = F.elemwise_add(kept, added, name=f"{step}state")
    shown = activate(F, cell, activation, f"{step}activation0")
    return F.elemwise_mul(leave, shown, name=f"{step}{out}"), cell


class GRUCell(_DenseCell):
    """Gated recurrent unit: gates r, z, n; h' = (1 - z) n + z h.

    Parameters
    ----------
    hidden_size : int
        Size of the state and the output.
    i2h_weight_initializer, h2h_weight_initializer : str or Initializer
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer
    input_size : int
        Size of the input; 0 infers it from the first input.
    prefix, params
        See `Block`.
    activation, recurrent_activation : str or callable
        Activations of n, and of the other gates.
    """

    def __init__(
        self,
        hidden_size,
        i2h_weight_initializer=None,
        h2h_weight_initializer=None,
        i2h_bias_initializer="zeros",
        h2h_bias_initializer="zeros",
        input_size=0,
        prefix=None,
        params=None,
        activation="tanh",
        recurrent_activation="sigmoid",
    ):
        initializers = {
            "i2h_weight": i2h_weight_initializer,
            "h2h_weight": h2h_weight_initializer,
            "i2h_bias": i2h_bias_initializer,
            "h2h_bias": h2h_bias_initializer,
        }
        super().__init__(hidden_size, 3, input_size, initializers, prefix, params)
        self._activation, self._recurrent_activation = activation, recurrent_activation

    def _alias(self):
        return "gru"

    def hybrid_forward(self, F, inputs, states, i2h_weight, h2h_weight, i2h_bias, h2h_bias):
        before = states[0]
        products = self._products(F, inputs, before, i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        output = gru_step(
            F, *products, before, self._step_prefix, self._activation, self._recurrent_activation
        )
        return output, [output]


def gru_step(F, i2h, h2h, before, step, activation="tanh", recurrent_activation="sigmoid", axis=1):
    """Compute the new hidden state; gates are concatenated along an axis."""
    i2h_reset, i2h_update, i2h_fresh = F.SliceChannel(
        i2h, num_outputs=3, axis=axis, name=f"{step}i2h_slice"
    )
    h2h_reset, h2h_update, h2h_fresh = F.SliceChannel(
        h2h, num_outputs=3, axis=axis, name=f"{step}h2h_slice"
    )
    reset = F.elemwise_add(i2h_reset, h2h_reset, name=f"{step}plus0")
    reset = activate(F, reset, recurrent_activation, f"{step}r_act")
    update = F.elemwise_add(i2h_update, h2h_update, name=f"{step}plus1")
    update = activate(F, update, recurrent_activation, f"{step}z_act")
    recalled = F.elemwise_mul(reset, h2h_fresh, name=f"{step}mul0")
    fresh = F.elemwise_add(i2h_fresh, recalled, name=f"{step}plus2")
    fresh = activate(F, fresh, activation, f"{step}h_act")
    fresh = F.elemwise_mul(1 - update, fresh, name=f"{step}mul1")
    kept = F.elemwise_mul(update, before, name=f"{step}mul20")
    return F.elemwise_add(fresh, kept, name=f"{step}out")


class LSTMPCell(_DenseCell):
    """An LSTM whose hidden state and output are projected to a smaller size.

    Parameters
    ----------
    hidden_size : int
        Size of the cell state.
    projection_size : int
        Size of the hidden state and the output.
    i2h_weight_initializer, h2h_weight_initializer, h2r_weight_initializer : str or Initializer
    i2h_bias_initializer, h2h_bias_initializer : str or Initializer
    input_size : int
        Size of the input; 0 infers it from the first input.
    prefix, params
        See `Block`.
    """

    def __init__(
        self,
        hidden_size,
        projection_size,
        i2h_weight_initializer=None,
        h2h_weight_initializer=None,
        h2r_weight_initializer=None,
        i2h_bias_initializer="zeros",
        h2h_bias_initializer="zeros",
        input_size=0,
        prefix=None,
        params=None,
    ):
        initializers = {
            "i2h_weight": i2h_weight_initializer,
            "h2h_weight": h2h_weight_initializer,
            "h2r_weight": h2r_weight_initializer,
            "i2h_bias": i2h_bias_initializer,
            "h2h_bias": h2h_bias_initializer,
        }
        super().__init__(hidden_size, 4, input_size, initializers, prefix, params, projection_size)
        self._projection_size = projection_size

    def _alias(self):
        return "lstmp"

    def state_info(self, batch_size=0):
        sizes = self._projection_size, self._hidden_size
        return [{"shape": (batch_size, size), "__layout__": "NC"} for size in sizes]

    def hybrid_forward(
        self, F, inputs, states, i2h_weight, h2h_weight, h2r_weight, i2h_bias, h2h_bias
    ):
        i2h, h2h = self._products(F, inputs, states[0], i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        step = self._step_prefix
        hidden, cell = lstm_step(F, i2h, h2h, states[1], step, out="hidden")
        projected = F.FullyConnected(
            hidden, h2r_weight, num_hidden=self._projection_size, no_bias=True, name=f"{step}out"
        )
        return projected, [projected, cell]

    def __repr__(self):
        return f"{super().__repr__()[:-1]} -> {self._projection_size})"
