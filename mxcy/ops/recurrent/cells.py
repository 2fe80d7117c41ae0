"""Reference steps of recurrent cells, and their gradients.

A cell works on gates (batch, gates, hidden), initially the products of input and hidden state with
the weights. For the gradient a step saves the gates after activation, and for some cells a further
array, `extra`: the LSTM's cell state, or the part of the GRU's new gate that is scaled by the reset
gate.
"""

from mxcy.ops.activation.definitions import sigmoid

__all__ = ["CELLS", "Cell"]


def _vanilla(activation, slope):
    """Return a cell ``h = activation(...)``; `slope` computes the derivative from the result."""

    def step(xp, a, from_input, from_hidden, hidden, cell):
        new = activation(xp, from_input + from_hidden)
        return new, None, new[:, 0], None

    def back(xp, a, gates, extra, hidden, cell, d_hidden, d_cell):
        d = d_hidden[:, None] * slope(gates)
        return d, d, 0, None

    return step, back


def _lstm_step(xp, a, from_input, from_hidden, hidden, cell):
    sums = from_input + from_hidden
    gates = sigmoid(xp, sums)
    gates[:, 2] = xp.tanh(sums[:, 2])
    enter, forget, new, leave = (gates[:, i] for i in range(4))
    cell = _clipped(xp, a, forget * cell + enter * new)
    return gates, cell, leave * xp.tanh(cell), cell


def _clipped(xp, a, cell):
    if a.lstm_state_clip_min is None:
        return cell
    if a.lstm_state_clip_nan:
        cell = xp.where(xp.isnan(cell), a.lstm_state_clip_min, cell)
    return xp.clip(cell, a.lstm_state_clip_min, a.lstm_state_clip_max)


def _lstm_back(xp, a, gates, extra, hidden, cell, d_hidden, d_cell):
    enter, forget, new, leave = (gates[:, i] for i in range(4))
    bent = xp.tanh(extra)
    d_cell = d_cell + d_hidden * leave * (1 - bent * bent)
    if a.lstm_state_clip_min is not None:
        # A state at a bound was clipped, as far as one can see.
        inside = (extra > a.lstm_state_clip_min) & (extra < a.lstm_state_clip_max)
        d_cell = xp.where(inside, d_cell, 0)
    d = xp.stack(
        [
            d_cell * new * enter * (1 - enter),
            d_cell * cell * forget * (1 - forget),
            d_cell * enter * (1 - new * new),
            d_hidden * bent * leave * (1 - leave),
        ],
        axis=1,
    )
    return d, d, 0, d_cell * forget


def _gru_step(xp, a, from_input, from_hidden, hidden, cell):
    gates = sigmoid(xp, from_input + from_hidden)
    reset, update, scaled = gates[:, 0], gates[:, 1], from_hidden[:, 2]
    gates[:, 2] = new = xp.tanh(from_input[:, 2] + reset * scaled)
    return gates, scaled, (1 - update) * new + update * hidden, None


def _gru_back(xp, a, gates, extra, hidden, cell, d_hidden, d_cell):
    reset, update, new = (gates[:, i] for i in range(3))
    d_new = d_hidden * (1 - update) * (1 - new * new)
    d_reset = d_new * extra * reset * (1 - reset)
    d_update = d_hidden * (hidden - new) * update * (1 - update)
    from_input = xp.stack([d_reset, d_update, d_new], axis=1)
    from_hidden = xp.stack([d_reset, d_update, d_new * reset], axis=1)
    return from_input, from_hidden, d_hidden * update, None


class Cell:
    """A cell type.

    Attributes
    ----------
    number : int
        Code of the cell in kernels.
    gates : int
    has_cell, has_extra : bool
        Whether there is a cell state; whether steps save `extra`.
    step : callable
        ``step(xp, a, from_input, from_hidden, hidden, cell)`` returns gates, extra, and the new
        hidden and cell state; the products have shape (batch, gates, hidden).
    back : callable
        ``back(xp, a, gates, extra, hidden, cell, d_hidden, d_cell)``, with the states before the
        step, returns the gradients of both products, of the hidden state outside its product, and
        of the cell state before the step.
    """

    def __init__(self, number, gates, functions, has_cell=False, has_extra=False):
        self.number, self.gates, self.has_cell, self.has_extra = number, gates, has_cell, has_extra
        self.step, self.back = functions


#: mode -> cell
CELLS = {
    "rnn_relu": Cell(0, 1, _vanilla(lambda xp, x: xp.maximum(x, 0), lambda y: y > 0)),
    "rnn_tanh": Cell(1, 1, _vanilla(lambda xp, x: xp.tanh(x), lambda y: 1 - y * y)),
    "lstm": Cell(2, 4, (_lstm_step, _lstm_back), has_cell=True, has_extra=True),
    "gru": Cell(3, 3, (_gru_step, _gru_back), has_extra=True),
}
