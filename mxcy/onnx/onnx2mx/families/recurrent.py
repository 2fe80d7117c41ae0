"""Recurrent layers, by operator RNN if equivalent, else unrolled."""

import numpy as np

from mxcy.base import MXNetError
from mxcy.onnx.onnx2mx.table import row

__all__ = []

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
#: order of RNN's gates, which ONNX orders as i o f c, and z r h
_ORDER = {"RNN": (0,), "GRU": (1, 0, 2), "LSTM": (0, 2, 3, 1)}
_USUAL = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}


class _Layer:
    """A node's inputs in normal form: time first, states of shape (directions, batch, hidden)."""

    def __init__(self, F, a, x, w, r, b, lengths, first, cell):
        self.F, self.a, self.kind = F, a, a.op
        if a.layout:
            x = x.transpose(1, 0, 2)
            first, cell = (s if s is None else s.transpose(1, 0, 2) for s in (first, cell))
        self.x, self.w, self.r, self.b, self.lengths = x, w, r, b, lengths
        self.steps, self.batch, _ = x.shape
        self.directions, gated, self.hidden = r.full_shape
        if gated != _GATES[self.kind] * self.hidden:
            raise MXNetError(f"the input R: {r.shape} does not have {_GATES[self.kind]} gates")
        if a.hidden_size and a.hidden_size != self.hidden:
            raise MXNetError(f"attribute hidden_size: {a.hidden_size}, but R is {r.shape}")
        wanted = 2 if a.direction == "bidirectional" else 1
        if self.directions != wanted:
            raise MXNetError(f"attribute direction: {a.direction!r}, but R is {r.shape}")
        shape = (self.directions, self.batch, self.hidden)

        def zeros():
            if -1 not in shape:
                return F.constant(np.zeros(shape, x.dtype))
            column = F.part(x, 0, 0, 1)
            column = F.sum(F("zeros_like", column), 2, True)
            return (
                F("broadcast_to", column, shape=(0, 0, self.hidden))
                if shape[0] == 1
                else (
                    F("Concat", *[F("broadcast_to", column, shape=(0, 0, self.hidden))] * 2, dim=0)
                )
            )

        self.first = zeros() if first is None else first
        self.cell = (zeros() if cell is None else cell) if self.kind == "LSTM" else None

    def parts(self, direction):
        """A direction's weights (W, R, Wb, Rb, h, c)."""
        F, gates = self.F, _GATES[self.kind] * self.hidden

        def own(value):
            part = F.part(value, 0, direction, direction + 1)
            return part.reshape(*value.full_shape[1:])

        if self.b is None:
            zeros = F.constant(np.zeros(gates, self.x.dtype))
            biases = zeros, zeros
        else:
            pair = own(self.b)
            biases = pair[0:gates], pair[gates : 2 * gates]
        states = (
            F.part(state, 0, direction, direction + 1).reshape(-1, self.hidden)
            if state is not None
            else None
            for state in (self.first, self.cell)
        )
        return (own(self.w), own(self.r), *biases, *states)

    def gate(self, value, number):
        """One gate's rows of weights or biases."""
        return self.F.part(value, 0, number * self.hidden, (number + 1) * self.hidden)

    def ours(self):
        """Whether operator RNN is equivalent."""
        a = self.a
        names = [name.lower() for name in a.activations or _USUAL[self.kind] * self.directions]
        usual = [name.lower() for name in _USUAL[self.kind]] * self.directions
        plain = self.kind == "RNN" and set(names) in ({"relu"}, {"tanh"})
        return (
            (names == usual or plain)
            and a.clip is None
            and not a.input_forget
            and (self.kind != "GRU" or bool(a.linear_before_reset))
            and self.x.dtype in (np.float32, np.float64)
            and a.direction != "reverse"
            and self.lengths is None
        )

    def mode(self):
        if self.kind != "RNN":
            return self.kind.lower()
        return f"rnn_{(self.a.activations or ['Tanh'])[0].lower()}"

    def run(self):
        """(Y of shape (steps, directions, batch, hidden), final states)."""
        return self._by_operator() if self.ours() else self._by_steps()

    def _by_operator(self):
        F, order = self.F, _ORDER[self.kind]
        weights, biases = [], []
        for direction in range(self.directions):
            w, r, wb, rb, _, _ = self.parts(direction)
            for value, into in ((w, weights), (r, weights), (wb, biases), (rb, biases)):
                gates = [self.gate(value, number) for number in order]
                into.append(F.concat(gates, 0).reshape(-1))
        packed = F.concat(weights + biases, 0)
        if packed.array is not None:
            packed.name = f"{F.scope}_parameters"
            F.parameter(packed)
        states = [s for s in (self.first, self.cell) if s is not None]
        outputs = F(
            "RNN",
            self.x,
            packed,
            *states,
            state_size=self.hidden,
            num_layers=1,
            bidirectional=self.directions == 2,
            mode=self.mode(),
            state_outputs=True,
        )
        y = F("_npx_reshape", outputs[0], newshape=(-2, -2, self.directions, self.hidden))
        return (y.transpose(0, 2, 1, 3), *outputs[1:])

    # --- unrolled ---
    def _by_steps(self):
        outputs, finals = [], []
        if self.steps == -1:
            self.x.full_shape  # noqa: B018  raises: the steps have to be known
        for direction in range(self.directions):
            backwards = self.a.direction == "reverse" or direction == 1
            rows, *states = self._direction(direction, backwards)
            outputs.append(rows)
            finals.append(states)
        y = self.F("_npi_stack", *outputs, axis=1)
        states = [
            self.F("_npi_stack", *both, axis=0) for both in zip(*finals, strict=True) if both[0]
        ]
        return (y, *states)

    def _direction(self, direction, backwards):
        F = self.F
        w, r, wb, rb, h, c = self.parts(direction)
        x = self._turned(self.x) if backwards else self.x
        step = getattr(self, f"_{self.kind.lower()}")(direction, w, r, wb, rb)
        lengths = None if self.lengths is None else self.lengths.astype("int32").reshape(-1, 1)
        rows = []
        for i in range(self.steps):
            row = F.part(x, 0, i, i + 1).reshape(-1, x.shape[2])
            now, cell = step(row, h, c)
            out = now
            if lengths is not None:
                goes_on = F("_npi_greater", lengths, F.like(i, lengths))
                out = F.where(goes_on, now, F.like(0, now))
                now = F.where(goes_on, now, h)
                cell = None if cell is None else F.where(goes_on, cell, c)
            rows.append(out)
            h, c = now, cell
        y = F("_npi_stack", *rows, axis=0)
        return (self._turned(y) if backwards else y), h, c

    def _turned(self, x):
        if self.lengths is None:
            return self.F("_npi_flip", x, axis=0)
        return self.F(
            "SequenceReverse", x, self.lengths.astype("float32"), use_sequence_length=True
        )

    def _functions(self, direction):
        """The activations of a direction, in ONNX's order."""
        usual = _USUAL[self.kind]
        names = self.a.activations or usual * self.directions
        count = len(usual)
        alphas, betas = list(self.a.activation_alpha or ()), list(self.a.activation_beta or ())
        own = names[direction * count : (direction + 1) * count]
        return [self._function(name, alphas, betas, direction * count + i)
                for i, name in enumerate(own)]  # fmt: skip

    def _function(self, name, alphas, betas, place):
        F = self.F
        alpha = alphas[place] if place < len(alphas) else None
        beta = betas[place] if place < len(betas) else None

        def number(attribute, usual):
            return usual if attribute is None else attribute

        known = {
            "relu": lambda x: F("relu", x),
            "tanh": lambda x: F("tanh", x),
            "sigmoid": lambda x: F("sigmoid", x),
            "softsign": lambda x: F("softsign", x),
            "softplus": lambda x: F("Activation", x, act_type="softrelu"),
            "affine": lambda x: x * number(alpha, 1.0) + number(beta, 0.0),
            "leakyrelu": lambda x: F("LeakyReLU", x, act_type="leaky", slope=number(alpha, 0.01)),
            "thresholdedrelu": lambda x: F.where(
                F("_npi_greater", x, F.like(number(alpha, 1.0), x)), x, F.like(0, x)
            ),
            "scaledtanh": lambda x: F("tanh", x * number(beta, 1.0)) * number(alpha, 1.0),
            "hardsigmoid": lambda x: F(
                "hard_sigmoid", x, alpha=number(alpha, 0.2), beta=number(beta, 0.5)
            ),
            "elu": lambda x: F("LeakyReLU", x, act_type="elu", slope=number(alpha, 1.0)),
        }
        if name.lower() not in known:
            raise MXNetError(f"attribute activations: {name!r} is not known")
        function = known[name.lower()]
        clip = self.a.clip
        if clip is None:
            return function
        return lambda x: function(F("clip", x, a_min=-clip, a_max=clip))

    def _linear(self, x, weight, bias):
        return self.F("_npi_matmul", x, weight.transpose(1, 0)) + bias

    def _rnn(self, direction, w, r, wb, rb):
        (function,) = self._functions(direction)
        bias = wb + rb

        def step(x, h, c):
            return function(self._linear(x, w, bias) + self._linear(h, r, self.F.like(0, h))), None

        return step

    def _gru(self, direction, w, r, wb, rb):
        f, g = self._functions(direction)
        ws, rs, wbs, rbs = ([self.gate(v, i) for i in range(3)] for v in (w, r, wb, rb))

        def step(x, h, c):
            z = f(self._linear(x, ws[0], wbs[0]) + self._linear(h, rs[0], rbs[0]))
            reset = f(self._linear(x, ws[1], wbs[1]) + self._linear(h, rs[1], rbs[1]))
            if self.a.linear_before_reset:
                inner = self.F.binary("multiply", reset, self._linear(h, rs[2], rbs[2]))
            else:
                inner = self._linear(self.F.binary("multiply", reset, h), rs[2], rbs[2])
            n = g(self._linear(x, ws[2], wbs[2]) + inner)
            return (1 - z) * n + z * h, None

        return step

    def _lstm(self, direction, w, r, wb, rb):
        f, g, h_function = self._functions(direction)
        ws, rs, wbs, rbs = ([self.gate(v, i) for i in range(4)] for v in (w, r, wb, rb))
        peepholes = None
        if self.peepholes is not None:
            own = self.F.part(self.peepholes, 0, direction, direction + 1)
            peepholes = [self.gate(own.reshape(-1), i) for i in range(3)]

        def step(x, h, c):
            i, o, forget, new = (
                self._linear(x, ws[n], wbs[n]) + self._linear(h, rs[n], rbs[n]) for n in range(4)
            )
            if peepholes is not None:
                i, forget = i + peepholes[0] * c, forget + peepholes[2] * c
            i = f(i)
            forget = (1 - i) if self.a.input_forget else f(forget)
            cell = forget * c + i * g(new)
            if peepholes is not None:
                o = o + peepholes[1] * cell
            return f(o) * h_function(cell), cell

        return step

    peepholes = None


def _results(a, results):
    y, *states = results
    if a.layout:
        y = y.transpose(2, 0, 1, 3)
        states = [state.transpose(1, 0, 2) for state in states]
    return (y, *states)


@row("RNN")
@row("GRU")
def rnn(F, a, x, w, r, b=None, sequence_lens=None, initial_h=None):
    return _results(a, _Layer(F, a, x, w, r, b, sequence_lens, initial_h, None).run())


@row("LSTM")
def lstm(F, a, x, w, r, b=None, sequence_lens=None, initial_h=None, initial_c=None, peepholes=None):
    layer = _Layer(F, a, x, w, r, b, sequence_lens, initial_h, initial_c)
    if peepholes is not None:
        layer.peepholes = peepholes
        layer.ours = lambda: False
    return _results(a, layer.run())
