"""Stacked recurrent layers: the reference of operator RNN and its gradient.

Arrays are (steps, batch, ...). A layer has one or two directions, each with its own weights. Steps
beyond a sequence's length give zeros and leave the states unchanged.
"""

from mxcy.ops.recurrent.cells import CELLS

__all__ = ["Net", "backward", "forward"]


class Net:
    """Extents and parameter layout of an RNN.

    Parameters
    ----------
    a : Attrs
        Attributes of operator RNN.
    drops : bool
        Whether dropout is applied between layers.
    steps, batch, inputs : int
        Extents of the data.
    """

    def __init__(self, a, drops, steps, batch, inputs):
        self.a, self.cell = a, CELLS[a.mode]
        self.steps, self.batch, self.inputs = steps, batch, inputs
        self.hidden, self.layers, self.directions = a.state_size, a.num_layers, 1 + a.bidirectional
        self.out = a.projection_size or a.state_size
        self.drops = drops

    def parts(self):
        """Return [(layer, direction)] in the order of parameters and states."""
        return [(i, j) for i in range(self.layers) for j in range(self.directions)]

    def weight_shapes(self, layer):
        """Return the weight shapes per direction of a layer: input, hidden, and any projection."""
        rows = self.cell.gates * self.hidden
        source = self.directions * self.out if layer else self.inputs
        shapes = [(rows, source), (rows, self.out)]
        return [*shapes, (self.out, self.hidden)] if self.a.projection_size else shapes

    def parameter_count(self):
        """Return the total number of parameters."""
        weights = sum(r * c for i, _ in self.parts() for r, c in self.weight_shapes(i))
        return weights + len(self.parts()) * 2 * self.cell.gates * self.hidden

    def parameters(self, flat):
        """Return {(layer, direction): [weights..., input bias, hidden bias]} as views."""
        by_part, at = {part: [] for part in self.parts()}, 0
        for part in self.parts():
            for rows, columns in self.weight_shapes(part[0]):
                by_part[part].append(flat[at : at + rows * columns].reshape(rows, columns))
                at += rows * columns
        for part in self.parts():
            for _ in range(2):
                by_part[part].append(flat[at : at + self.cell.gates * self.hidden])
                at += self.cell.gates * self.hidden
        return by_part

    def saved_shapes(self):
        """Return the shapes of the arrays saved for the gradient, in order.

        For each layer these are the gates (and `extra`) of its directions, then its output and the
        dropout's mask where another layer follows.
        """
        steps, batch, hidden = self.steps, self.batch, self.hidden
        each = [(steps, batch, self.cell.gates, hidden)]
        each += [(steps, batch, hidden)] if self.cell.has_extra else []
        between = [(steps, batch, self.directions * self.out)] * (1 + self.drops)
        shapes = []
        for layer in range(self.layers):
            shapes += each * self.directions
            shapes += between if layer < self.layers - 1 else []
        return shapes

    def order(self, direction):
        """Return the steps in a direction's order."""
        return range(self.steps) if direction == 0 else range(self.steps - 1, -1, -1)


def forward(net, xp, draw, data, flat, state, cell_state, lengths):
    """Run all layers.

    Parameters
    ----------
    draw : callable
        ``draw(shape)`` returns a dropout mask.
    lengths : array or None
        Lengths of the sequences.

    Returns
    -------
    out, state, cell_state (None unless the cell has one), arrays of `Net.saved_shapes`
    """
    saved, states, cells = [], [], []
    parameters = net.parameters(flat)
    for layer in range(net.layers):
        outs = []
        for direction in range(net.directions):
            number = layer * net.directions + direction
            begin = state[number], None if cell_state is None else cell_state[number]
            results = _run(net, xp, direction, data, parameters[layer, direction], *begin, lengths)
            out, hidden, cell, gates, extra = results
            outs.append(out)
            states.append(hidden)
            cells.append(cell)
            saved += [gates] if extra is None else [gates, extra]
        data = outs[0] if len(outs) == 1 else xp.concatenate(outs, axis=2)
        if layer < net.layers - 1:
            saved.append(data)
            if net.drops:
                saved.append(draw(data.shape))
                data = data * saved[-1]
    return data, xp.stack(states), xp.stack(cells) if net.cell.has_cell else None, saved


def _products(net, xp, source, weight, bias):
    shape = (*source.shape[:-1], net.cell.gates, net.hidden)
    return (xp.matmul(source, weight.T) + bias).reshape(shape)


def _alive(lengths, step):
    return None if lengths is None else (step < lengths)[:, None]


def _run(net, xp, direction, data, parameters, hidden, cell, lengths):
    """Run one direction of a layer, from the given initial states."""
    weight, own_weight, *projection, bias, own_bias = parameters
    from_input = _products(net, xp, data, weight, bias)
    out = xp.zeros((net.steps, net.batch, net.out), data.dtype)
    gates = xp.zeros_like(from_input)
    extra = xp.zeros((net.steps, net.batch, net.hidden), data.dtype) if net.cell.has_extra else None
    for step in net.order(direction):
        from_hidden = _products(net, xp, hidden, own_weight, own_bias)
        kept, more, new, new_cell = net.cell.step(
            xp, net.a, from_input[step], from_hidden, hidden, cell
        )
        if projection:
            new = xp.matmul(new, projection[0].T)
        gates[step] = kept
        if extra is not None:
            extra[step] = more
        alive = _alive(lengths, step)
        if alive is None:
            out[step], hidden, cell = new, new, new_cell
        else:
            out[step] = xp.where(alive, new, 0)
            hidden = xp.where(alive, new, hidden)
            cell = None if cell is None else xp.where(alive, new_cell, cell)
    return out, hidden, cell, gates, extra


def backward(net, xp, data, flat, state, cell_state, lengths, out, saved, d_out, d_state, d_cell):
    """Return the gradients of data, parameters, state and cell state (or None); see `forward`."""
    d_flat = xp.zeros_like(flat)
    parameters, gradients = net.parameters(flat), net.parameters(d_flat)
    saved, d_states, d_cells = list(saved), {}, {}
    for layer in range(net.layers - 1, -1, -1):
        below, mask = data, None
        if layer < net.layers - 1:
            mask = saved.pop() if net.drops else None
            out = saved.pop()
            d_out = d_out if mask is None else d_out * mask
        count = net.directions * (1 + net.cell.has_extra)
        saved, kept = saved[: len(saved) - count], saved[len(saved) - count :]
        if layer:
            below = saved[-2] * saved[-1] if net.drops else saved[-1]
        d_below = xp.zeros_like(below)
        for direction in range(net.directions):
            number = layer * net.directions + direction
            columns = slice(direction * net.out, (direction + 1) * net.out)
            of_direction = kept[direction * (1 + net.cell.has_extra) :]
            begin = state[number], None if cell_state is None else cell_state[number]
            end = d_state[number], None if d_cell is None else d_cell[number]
            result = _run_back(
                net,
                xp,
                direction,
                below,
                parameters[layer, direction],
                gradients[layer, direction],
                *begin,
                lengths,
                out[..., columns],
                of_direction,
                d_out[..., columns],
                *end,
            )
            d_below += result[0]
            d_states[number], d_cells[number] = result[1:]
        d_out = d_below
    numbers = range(len(d_states))
    d_cell = xp.stack([d_cells[n] for n in numbers]) if net.cell.has_cell else None
    return d_out, d_flat, xp.stack([d_states[n] for n in numbers]), d_cell


def _before(xp, direction, lengths, step, steps, saved, begin):
    """Return the state before a step."""
    other = step - 1 if direction == 0 else step + 1
    if not 0 <= other < steps:
        return begin
    alive = _alive(lengths, other)
    return saved[other] if alive is None else xp.where(alive, saved[other], begin)


def _run_back(
    net,
    xp,
    direction,
    data,
    parameters,
    gradients,
    hidden,
    cell,
    lengths,
    out,
    saved,
    d_out,
    d_hidden,
    d_cell,
):
    """Run `_run` backwards: add to `gradients`, return those of data and initial states."""
    weight, own_weight, *projection, _, _ = parameters
    gates, extra = saved[0], saved[1] if net.cell.has_extra else None
    rows = net.cell.gates * net.hidden
    d_input = xp.zeros((net.steps, net.batch, rows), data.dtype)
    for step in reversed(net.order(direction)):
        alive = _alive(lengths, step)
        hidden_then = _before(xp, direction, lengths, step, net.steps, out, hidden)
        cell_then = None
        if net.cell.has_cell:
            cell_then = _before(xp, direction, lengths, step, net.steps, extra, cell)
        seen = d_hidden + (d_out[step] if alive is None else xp.where(alive, d_out[step], 0))
        before = seen
        if projection:
            before = xp.matmul(seen if alive is None else xp.where(alive, seen, 0), projection[0])
            plain = gates[step][:, 3] * xp.tanh(extra[step])
            masked = seen if alive is None else xp.where(alive, seen, 0)
            gradients[2] += xp.matmul(masked.T, plain)
        d_in, d_own, d_through, d_cell_then = net.cell.back(
            xp,
            net.a,
            gates[step],
            None if extra is None else extra[step],
            hidden_then,
            cell_then,
            before,
            d_cell,
        )
        if alive is not None:
            d_in, d_own = (xp.where(alive[..., None], d, 0) for d in (d_in, d_own))
        d_input[step] = d_in.reshape(net.batch, rows)
        d_own = d_own.reshape(net.batch, rows)
        gradients[1] += xp.matmul(d_own.T, hidden_then)
        gradients[-1] += d_own.sum(0)
        d_new = xp.matmul(d_own, own_weight) + d_through
        d_hidden = d_new if alive is None else xp.where(alive, d_new, d_hidden)
        if net.cell.has_cell:
            d_cell = d_cell_then if alive is None else xp.where(alive, d_cell_then, d_cell)
    gradients[0] += xp.tensordot(d_input, data, axes=((0, 1), (0, 1)))
    gradients[-2] += d_input.sum((0, 1))
    return xp.matmul(d_input, weight), d_hidden, d_cell
