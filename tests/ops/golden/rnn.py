"""Recurrent layers: all cell types, one and several layers, both directions, projection."""

from tests.ops.golden.case import Case, draw

__all__ = ["FAMILY"]

_GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}
_STEPS, _BATCH, _INPUTS = 5, 3, 4


def _count(gates, hidden, layers, directions, out):
    total = 0
    for layer in range(layers):
        source = directions * out if layer else _INPUTS
        total += directions * gates * hidden * (source + out + 2)
        total += directions * out * hidden if out != hidden else 0
    return total


def _case(mode, layers, bidirectional, projection=None, wrt=(0, 1, 2)):
    hidden, directions = 6, 1 + bidirectional
    out = projection or hidden
    count = _count(_GATES[mode], hidden, layers, directions, out)
    states = [draw(layers * directions, _BATCH, out, seed=3)]
    if mode == "lstm":
        states.append(draw(layers * directions, _BATCH, hidden, seed=4))
        wrt = (*wrt, 3) if wrt else wrt
    more = {"projection_size": projection} if projection else {}
    return Case(
        "RNN",
        draw(_STEPS, _BATCH, _INPUTS),
        draw(count, seed=1),
        *states,
        wrt=wrt,
        state_size=hidden,
        num_layers=layers,
        bidirectional=bidirectional,
        mode=mode,
        state_outputs=True,
        tol=4,
        **more,
    )


def rnn():
    for mode in _GATES:
        for layers in (1, 3):
            for bidirectional in (False, True):
                name = f"{mode} {layers} {1 + bidirectional}"
                yield name, _case(mode, layers, bidirectional)
    yield "projection", _case("lstm", 2, True, 3, wrt=())


FAMILY = (rnn,)
