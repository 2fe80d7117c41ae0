"""Recurrent layers."""

import numpy as np

from mxcy.onnx.mx2onnx.registry import convert
from mxcy.ops.recurrent.layers import Net

__all__ = []

#: mode -> ONNX operator, and for each of its gates the index of ours
_KINDS = {
    "lstm": ("LSTM", (0, 3, 1, 2)),
    "gru": ("GRU", (1, 0, 2)),
    "rnn_tanh": ("RNN", (0,)),
    "rnn_relu": ("RNN", (0,)),
}


class _Parameters:
    """Reader of the packed parameter vector."""

    def __init__(self, G, flat):
        self.G, self.flat, self.at = G, flat, 0

    def take(self, shape, gates, order):
        """Return the next weight or bias with reordered gates, as (1, rows, ...)."""
        G, size = self.G, int(np.prod(shape))
        begin, self.at = self.at, self.at + size
        by_gate = [gates, shape[0] // gates, *shape[1:]]
        array = self.flat.array
        if array is not None:
            part = array[begin : begin + size].reshape(by_gate)[list(order)]
            return G.const(part.reshape(1, *shape))
        part = G.reshape(G.slice(self.flat, [begin], [begin + size], [0]), by_gate)
        if len(order) > 1:
            part = G.gather(part, G.ints(*order))
        return G.reshape(part, [1, *shape])

    def take_all(self, net, order):
        """Return the weights (input, hidden) and the joined biases by (layer, direction)."""
        gates, parts = net.cell.gates, net.parts()
        weights = {
            part: [self.take(shape, gates, order) for shape in net.weight_shapes(part[0])]
            for part in parts
        }
        biases = {}
        for part in parts:
            pair = [self.take((gates * net.hidden,), gates, order) for _ in range(2)]
            biases[part] = self.G.concat(pair, 1)
        return weights, biases


def _options(a, net):
    options = {"hidden_size": net.hidden, "outputs": 3 if a.mode == "lstm" else 2}
    if net.directions == 2:
        options["direction"] = "bidirectional"
    if a.mode == "rnn_relu":
        options["activations"] = ["Relu"] * net.directions
    if a.mode == "gru":
        options["linear_before_reset"] = 1
    return options


@convert("RNN")
def rnn(a, G, x, parameters, state, *optional):
    """One node per layer, for both directions."""
    if a.projection_size or a.lstm_state_clip_min is not None:
        G.unsupported("projection_size and lstm_state_clip_*")
    optional = list(optional)
    cell = optional.pop(0) if a.mode == "lstm" else None
    lengths = G.cast(optional.pop(0), np.int32) if a.use_sequence_length else None
    if x.shape[2] == -1:
        G.unsupported("a free number of inputs")
    kind, order = _KINDS[a.mode]
    net = Net(a, False, *x.shape)
    count = net.directions
    vector = _Parameters(G, parameters)
    weights, biases = vector.take_all(net, order)
    options = _options(a, net)
    hiddens, cells = [], []
    for layer in range(net.layers):
        parts = [(layer, direction) for direction in range(count)]
        places = [[layer * count], [(layer + 1) * count], [0]]
        begin = [v if net.layers == 1 else v and G.slice(v, *places) for v in (state, cell)]
        outs = G.op(
            kind,
            x,
            G.concat([weights[part][0] for part in parts], 0),
            G.concat([weights[part][1] for part in parts], 0),
            G.concat([biases[part] for part in parts], 0),
            lengths,
            *begin,
            **options,
        )
        steps, batch, _ = G.dims(x)
        output = outs[0]
        output.shape = (x.shape[0], count, x.shape[1], net.hidden)
        if count == 1:
            x = G.squeeze(output, (1,))
        else:
            x = G.reshape(G.transpose(output, (0, 2, 1, 3)), [steps, batch, count * net.hidden])
        hiddens.append(outs[1])
        cells.append(outs[2] if cell is not None else None)
        for value in outs[1:]:
            value.shape = (count, x.shape[1], net.hidden)
    results = [x, G.concat(hiddens, 0)]
    if cell is not None:
        results.append(G.concat(cells, 0))
    return [*results, None]
