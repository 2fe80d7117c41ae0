"""Operator RNN for one step of one sequence, with weights that are read from beginning to end."""

from mxcy.ops.core.attrs import Field, UInt
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.record import native, register, sample
from mxcy.ops.recurrent.layers import Net
from mxcy.ops.recurrent.rnn import (
    RNN,
    STRUCT,
    forward_ref,
    input_names,
    state_names,
    struct_of,
    work_of,
)

__all__: list[str] = []

_UNITS = 16  # also in kernels/leaf/recurrent/unit_panels.h


def _panels(net, flat):
    """Yield for each panel its place in the vector and the weights it consists of, as views."""
    at = 0
    for arrays in net.parameters(flat).values():
        gates, hidden = net.cell.gates, net.hidden
        weights = [array.reshape(gates, hidden, -1) for array in arrays[:2]]
        depth = sum(array.shape[2] for array in weights)
        for first in range(0, hidden, _UNITS):
            units = [array[:, first : first + _UNITS] for array in weights]
            size = gates * units[0].shape[1] * depth
            yield slice(at, at + size), units
            at += size


def _arranged(net, xp, flat):
    """Return the parameters with the weights of up to 16 units side by side.

    A panel holds, for each element of the data and then of the hidden state, the weights of all
    gates of its units. Biases stay where they are.
    """
    out = flat.copy()
    for place, units in _panels(net, flat):
        out[place] = xp.concatenate(units, axis=2).transpose(2, 0, 1).reshape(-1)
    return out


def _restored(net, xp, flat):
    """Return the parameters that `_arranged` took."""
    out = flat.copy()
    for place, units in _panels(net, out):
        gates, count, inputs = units[0].shape
        panel = flat[place].reshape(-1, gates, count).transpose(1, 2, 0)
        units[0][...], units[1][...] = panel[..., :inputs], panel[..., inputs:]
    return out


def _infer(a, data, parameters, *others):
    outs = RNN.infer(a, [data, parameters, *others])
    require(
        not data.known or data.shape[:2] == (1, 1),
        f"data: expected one step of one sequence, got shape {data.shape}",
    )
    return outs


def _ref(a, xp, data, parameters, *others):
    return forward_ref(a, xp, data, _restored(Net(a, False, *data.shape), xp, parameters), *others)


def _samples():
    for mode, gates, directions in (("lstm", 4, 1), ("gru", 3, 2), ("rnn_relu", 1, 1)):
        units = 2 * 19 + 2  # columns of both products without the inputs, and biases
        size = directions * gates * 19 * (5 + 19 + 2 + units + (directions - 1) * 19)
        states = ((2 * directions, 1, 19),) * (2 if mode == "lstm" else 1)
        yield sample(
            (1, 1, 5),
            (size,),
            *states,
            state_size=19,
            num_layers=2,
            mode=mode,
            bidirectional=directions == 2,
            state_outputs=True,
        )


register(
    "_rnn_single_step",
    doc="""Run operator RNN for one step of one sequence, in inference mode.

Its parameters are those that `_rnn_unit_panels` returns.""",
    inputs="data parameters state state_cell?",
    outputs=lambda a: ("output", *state_names(a), "saved"),
    fields=RNN.schema.fields,
    arguments=input_names,
    infer=_infer,
    ref=_ref,
    kernels=(
        native(
            "rnn",
            struct=STRUCT,
            params=lambda a, ins, outs: {**struct_of(a, ins, outs), "panels": True},
            work=work_of,
            asks=True,
            mixed=True,
        ),
    ),
    samples=_samples,
)


def _net(a):
    return Net(a, False, 1, 1, a.inputs)


def _infer_panels(a, parameters):
    parameters.fill("parameters", (_net(a).parameter_count(),))
    return parameters


register(
    "_rnn_unit_panels",
    doc="""Arrange operator RNN's parameters for `_rnn_single_step`, with data of width `inputs`.

The weights of up to 16 units are side by side: for each element of the data, then of the hidden
state, those of all gates. Biases stay where they are.""",
    inputs="parameters",
    fields=(*RNN.schema.fields, Field("inputs", UInt)),
    infer=_infer_panels,
    ref=lambda a, xp, parameters: _arranged(_net(a), xp, parameters),
    kernels=(
        native(
            "rnn_unit_panels",
            struct=STRUCT,
            params=lambda a, ins, outs: struct_of(a, [Spec((1, 1, a.inputs), None)], outs),
            work=lambda a, ins, outs: ins[0].size,
        ),
    ),
    samples=(
        sample((4 * 19 * (5 + 19 + 2),), inputs=5, state_size=19, num_layers=1, mode="lstm"),
        sample(
            (2 * 3 * 16 * (7 + 16 + 2 + 32 + 16 + 2),),
            inputs=7,
            state_size=16,
            num_layers=2,
            mode="gru",
            bidirectional=True,
        ),
    ),
)
