"""Operator RNN: fused stacks of recurrent layers.

Definitions: LSTM after Hochreiter and Schmidhuber (1997) with a forget gate, with projection after
Sak et al. (2014); GRU after Cho et al. (2014), the reset gate applied after the product.
"""

import functools

import numpy as np

from mxcy import env
from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, DoubleOrNone, Enum, Float, IntOrNone, UInt
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, most, require, same_dtype
from mxcy.ops.core.params import RNN as STRUCT
from mxcy.ops.core.quantized import Quantized
from mxcy.ops.core.record import native, op, sample
from mxcy.ops.random.dropout import draw_mask
from mxcy.ops.recurrent.cells import CELLS
from mxcy.ops.recurrent.layers import Net, forward

__all__ = [
    "KERNELS",
    "RNN",
    "STRUCT",
    "call_samples",
    "forward_ref",
    "input_names",
    "named",
    "net_of",
    "refusal",
    "saved_spec",
    "state_names",
    "struct_of",
    "work_of",
]

_LENGTHS = [dtypes.code_of(name) for name in ("float32", "float64", "int32", "int64")]


def input_names(a):
    """Return the input names of a call."""
    return (
        "data",
        "parameters",
        "state",
        *(("state_cell",) if CELLS[a.mode].has_cell else ()),
        *(("sequence_length",) if a.use_sequence_length else ()),
    )


def state_names(a):
    """Return the names of the state outputs."""
    return ("state_output", *(("statecell_output",) if CELLS[a.mode].has_cell else ()))


def named(names, arrays):
    """Return a call's arrays by input name."""
    return dict(zip(names, arrays, strict=True))


def _check(a):
    require(a.num_layers > 0, f"num_layers: expected 1 or more, got {a.num_layers}")
    most(a.num_layers, 1 << 12, "num_layers")
    require(a.state_size > 0, f"state_size: expected 1 or more, got {a.state_size}")
    require(0 <= a.p <= 1, f"p: must be in [0, 1], got {a.p}")
    require(
        a.projection_size is None or (a.mode == "lstm" and a.projection_size > 0),
        f"projection_size: expected a positive size, with mode='lstm' only, got "
        f"{a.projection_size} with mode={a.mode!r}",
    )
    require(
        (a.lstm_state_clip_min is None) == (a.lstm_state_clip_max is None),
        "lstm_state_clip_min and lstm_state_clip_max: give both or none",
    )


def _drops(a):
    """Return whether dropout is applied between layers."""
    return a.train and a.p > 0 and a.num_layers > 1


def _saves(a):
    """Return whether gradient state is output: always except for operator RNN in inference."""
    return hasattr(a, "dropped") or a.train


def net_of(a, data):
    """Return the `Net` of a call."""
    return Net(a, getattr(a, "dropped", _drops(a)), *data.shape)


def struct_of(a, ins, outs):
    """Return the kernels' parameters."""
    net = net_of(a, ins[0])
    return {
        "mode": net.cell.number,
        "gates": net.cell.gates,
        "extra": net.cell.has_extra,
        "steps": net.steps,
        "batch": net.batch,
        "inputs": net.inputs,
        "hidden": net.hidden,
        "projection": a.projection_size or 0,
        "layers": net.layers,
        "directions": net.directions,
        "saves": _saves(a),
        "lengths": a.use_sequence_length,
        "panels": False,
        "drop": a.p if net.drops else 0.0,
        "clips": 0 if a.lstm_state_clip_min is None else 1 + a.lstm_state_clip_nan,
        "low": a.lstm_state_clip_min or 0.0,
        "high": a.lstm_state_clip_max or 0.0,
    }


def refusal(a, ins, outs):
    """Return why our kernels cannot run a call, or None."""
    if a.use_sequence_length and ins[len(input_names(a)) - 1].dtype not in _LENGTHS:
        return "lengths of an unsupported dtype"
    return None if ins[0].size else "there is no data"


def _not_onednn(a, ins, outs):
    if _saves(a):
        return "oneDNN saves nothing for the gradient"
    if a.use_sequence_length:
        return "oneDNN does not support lengths"
    if a.projection_size:
        return "oneDNN's LSTM has no projection of our layout"
    if a.lstm_state_clip_min is not None:
        return "oneDNN does not clip states"
    if not env.get("MXNET_USE_ONEDNN_RNN"):
        return "MXNET_USE_ONEDNN_RNN=0"
    steps, batch, _ = ins[0].shape
    # As measured: steps are faster for large batches, but weights must be reordered first.
    gated = a.mode in ("lstm", "gru")
    if not gated or a.bidirectional or batch < 64 or steps < 8 or a.state_size > 256:
        return "not unidirectional gated layers of up to 256 units on a batch of at least 64"
    return refusal(a, ins, outs)


def work_of(a, ins, outs):
    """Return the cost of a call in elementwise steps."""
    # A vector of multiply-adds costs one elementwise step.
    return ins[0].shape[0] * ins[0].shape[1] * ins[1].size // 16


def _mask(a, xp, dtype):
    return functools.partial(draw_mask, xp, a.p, dtype=dtype)


def saved_spec(a, data):
    """Return the Spec of the state saved for the gradient."""
    if not _saves(a):
        return Spec((0,), data.dtype)
    if not data.known:
        return Spec((-1,), data.dtype)
    return Spec((sum(Spec(s, None).size for s in net_of(a, data).saved_shapes()),), data.dtype)


def forward_ref(a, xp, data, parameters, *others):
    """Return the outputs of a call; the last one is the state for the gradient."""
    inputs = named(input_names(a)[2:], others)
    net = net_of(a, data)
    out, state, cell, saved = forward(
        net,
        xp,
        _mask(a, xp, data.dtype),
        data,
        parameters,
        inputs["state"],
        inputs.get("state_cell"),
        inputs.get("sequence_length"),
    )
    empty = xp.zeros((0,), data.dtype)
    parts = saved if _saves(a) else ()
    flat = xp.concatenate([empty, *(part.reshape(-1) for part in parts)])
    return (out, state, flat) if cell is None else (out, state, cell, flat)


KERNELS = (
    native(
        "rnn", struct=STRUCT, params=struct_of, when=refusal, work=work_of, asks=True, mixed=True
    ),
)


# The samples' lengths of four sequences, and weights and biases of each gate of two layers in both
# directions, of 3 elements and a hidden state of 4.
_SAMPLE_LENGTHS = np.array([3, 5, 0, 9], "int32")
_DEEP = 2 * (4 * 3 + 4 * 4 + 2 * 4 + 4 * 8 + 4 * 4 + 2 * 4)


def call_samples():
    """Return samples of all modes, with and without lengths."""
    yield from _plain_samples()
    yield from _projected_samples()
    yield from _clipped_samples()
    yield from _samples_with_lengths()


def _projected_samples():
    own = 4 * 5 * (2 + 2) + 2 * 5  # weights of a hidden state of 2, biases, and a projection of 5
    yield sample(
        (4, 3, 3),
        (4 * 5 * 3 + own,),
        (1, 3, 2),
        (1, 3, 5),
        state_size=5,
        num_layers=1,
        mode="lstm",
        projection_size=2,
        state_outputs=True,
    )
    yield sample(
        (5, 4, 3),
        (2 * (4 * 5 * 3 + own + 4 * 5 * 4 + own),),
        (4, 4, 2),
        (4, 4, 5),
        _SAMPLE_LENGTHS,
        state_size=5,
        num_layers=2,
        mode="lstm",
        projection_size=2,
        bidirectional=True,
        state_outputs=True,
        use_sequence_length=True,
        grad=False,
    )


def _clipped_samples():
    for nan in (False, True):
        yield sample(
            (5, 2, 3),
            (4 * _DEEP,),
            (4, 2, 4),
            (4, 2, 4),
            state_size=4,
            num_layers=2,
            mode="lstm",
            bidirectional=True,
            state_outputs=True,
            lstm_state_clip_min=-0.125,
            lstm_state_clip_max=0.25,
            lstm_state_clip_nan=nan,
        )


def _samples_with_lengths():
    for mode, cell in CELLS.items():
        cells = ((4, 4, 4),) if cell.has_cell else ()
        dtype = {"lstm": "float32", "gru": "int64"}.get(mode, "int32")
        yield sample(
            (5, 4, 3),
            (cell.gates * _DEEP,),
            (4, 4, 4),
            *cells,
            _SAMPLE_LENGTHS.astype(dtype),
            state_size=4,
            num_layers=2,
            mode=mode,
            bidirectional=True,
            state_outputs=True,
            use_sequence_length=True,
            grad=False,
        )


def _plain_samples():
    size = 4 * (4 * 3 + 4 * 4 + 2 * 4)  # enough steps and batch size for oneDNN's kernel
    yield sample(
        (8, 64, 3),
        (size,),
        (1, 64, 4),
        (1, 64, 4),
        state_size=4,
        num_layers=1,
        mode="lstm",
        dtypes=("float32",),
        grad=False,
    )
    for mode, cell in CELLS.items():
        cells = ((1, 2, 4),) if cell.has_cell else ()
        size = cell.gates * (4 * 3 + 4 * 4 + 2 * 4)
        yield sample((5, 2, 3), (size,), (1, 2, 4), *cells, state_size=4, num_layers=1, mode=mode)
        cells = ((4, 2, 4),) if cell.has_cell else ()
        yield sample(
            (3, 2, 3),
            (cell.gates * _DEEP,),
            (4, 2, 4),
            *cells,
            state_size=4,
            num_layers=2,
            mode=mode,
            bidirectional=True,
            state_outputs=True,
        )


@op(
    "RNN",
    aliases=("_npx_rnn",),
    numpy=(
        "npx.rnn(data=None, parameters=None, state=None, state_cell=None, "
        "sequence_length=None, mode=None, state_size=None, num_layers=None, "
        "bidirectional=False, state_outputs=False, p=0.0, use_sequence_length=False, "
        "projection_size=None, lstm_state_clip_min=None, lstm_state_clip_max=None, "
        "lstm_state_clip_nan=False, out=None, name=None)"
    ),
    inputs="data parameters state state_cell? sequence_length?",
    outputs=lambda a: ("output", *state_names(a), "saved"),
    visible=lambda a: 1 + len(state_names(a)) if a.state_outputs else 1,
    in_symbols=InSymbols(
        named=True, listed=lambda a: 1 + len(state_names(a)) if a.state_outputs else 1
    ),
    uses_mode=True,
    uses_rng=_drops,
    amp="lp16/fp32",
)
class RNN:
    """Apply stacked recurrent layers (RNN, LSTM or GRU) to a batch of sequences.

    ``rnn_relu``, ``rnn_tanh``: h' = act(W x + b + R h + c). ``lstm``: i, f, o = sigmoid and g =
    tanh of such sums; c' = f c + i g, clipped if there are bounds, h' = o tanh(c'), times the
    projection if there is one.
    ``gru``: r, z = sigmoid of such sums, n = tanh(W x + b + r (R h + c)), h' = (1 - z) n + z h.

    Shapes: data (steps, batch, inputs); state and state_cell (num_layers * directions, batch,
    state_size or projection_size); sequence_length (batch,); out (steps, batch, directions *
    size). `parameters` holds, for each layer and direction, the weights of the input and of the
    hidden state (and of the projection), gate by gate (lstm: i, f, g, o; gru: r, z, n), followed
    by all biases in the same order. In training mode, dropout with probability `p` is applied to
    the output of each layer but the last.
    """

    state_size: UInt
    num_layers: UInt
    bidirectional: Bool = False
    mode: Enum("gru", "lstm", "rnn_relu", "rnn_tanh")
    p: Float = 0.0
    state_outputs: Bool = False
    projection_size: IntOrNone = None
    lstm_state_clip_min: DoubleOrNone = None
    lstm_state_clip_max: DoubleOrNone = None
    lstm_state_clip_nan: Bool = False
    use_sequence_length: Bool = False

    arguments = input_names
    quantized = Quantized(
        "_contrib_quantized_rnn",
        must=True,
        ranged=("data",),
        refusal=lambda a: (
            "only mode='lstm' without lengths"
            if a.mode != "lstm" or a.use_sequence_length
            else None
        ),
        by="_contrib_quantize_asym",
    )

    def samples():
        yield from call_samples()
        weights = 2 * 3 * (4 * 3 + 4 * 4 + 2 * 4)
        lengths = np.array([2, 4], np.float32)
        yield sample(
            (4, 2, 3),
            (weights,),
            (2, 2, 4),
            lengths,
            state_size=4,
            num_layers=1,
            mode="gru",
            bidirectional=True,
            use_sequence_length=True,
            grad=False,
        )

    def infer(a, data, parameters, *others):
        _check(a)
        names = input_names(a)
        by_name = named(names, (data, parameters, *others))
        same = [by_name[name] for name in names if name != "sequence_length"]
        dtype = same_dtype(same, names[: len(same)])
        data.fill("data", (-1, -1, -1))
        steps, batch, inputs = data.shape
        directions = 1 + a.bidirectional
        hidden, size = a.state_size, a.projection_size or a.state_size
        if inputs != -1:
            count = Net(a, False, steps, batch, inputs).parameter_count()
            parameters.fill("parameters", (count,), dtype)
        shapes = [(a.num_layers * directions, batch, n) for n in (size, hidden)]
        for name, shape in zip(("state", "state_cell"), shapes, strict=True):
            if name in by_name:
                by_name[name].fill(name, shape, dtype)
        if a.use_sequence_length:
            by_name["sequence_length"].fill("sequence_length", (batch,))
        states = [Spec(shape, dtype) for shape in shapes[: len(state_names(a))]]
        out = Spec((steps, batch, directions * size), dtype)
        return out, *states, saved_spec(a, data)

    def grad(a, F, g, inputs, outs):
        states = state_names(a)
        values = {name: getattr(a, name) for name in RNN.schema.names}
        if not _saves(a):
            outs = F._rnn_saving(*inputs, **values)
        upstream = [
            F.zeros_like(out) if d is None else d
            for d, out in zip(g[: 1 + len(states)], outs, strict=False)
        ]
        gradients = F._rnn_grad(*inputs, outs[0], outs[-1], *upstream, **values, dropped=_drops(a))
        return (*gradients, None) if a.use_sequence_length else tuple(gradients)

    def ref(a, xp, data, parameters, *others):
        return forward_ref(a, xp, data, parameters, *others)

    kernels = (
        native(
            "rnn_onednn", struct=STRUCT, params=struct_of, when=_not_onednn, work=work_of, asks=True
        ),
        *KERNELS,
    )
