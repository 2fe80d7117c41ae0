"""Recurrent layers on quantized sequences."""

from mxcy._base import dtypes
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.record import register, sample, stop, values
from mxcy.ops.quantization.ranges import F32, UINT8, range_specs
from mxcy.ops.recurrent.rnn import RNN

__all__ = []

_FLOAT = dtypes.code_of("float32")


def _arguments(a):
    return (*RNN.arguments(a), "data_scale", "data_shift")


def _outputs(a):
    return RNN.outputs(a)[:-1]


def _infer(a, data, *rest):
    require(a.mode == "lstm", f"mode: only 'lstm' is supported, got {a.mode!r}")
    require(not a.use_sequence_length, "use_sequence_length: not supported")
    data.fill("data", dtype=UINT8)
    *others, scale, shift = rest
    range_specs(("data_scale", scale), ("data_shift", shift))
    shadow = Spec(data.shape, _FLOAT)
    outs = RNN.infer(a, [shadow, *others])
    data.fill("data", shadow.shape)
    return outs[:-1]


def _ref(a, xp, data, *rest):
    *others, scale, shift = (x.astype(F32) for x in rest)
    floats = (data.astype(F32) - shift) / scale
    return RNN.ref(a, xp, floats, *others)[:-1]


def _samples():
    size = 4 * (4 * 3 + 4 * 4 + 2 * 4)
    data = values(0, 256, (5, 2, 3), "uint8")
    scale, shift = values(50, 100, (1,), "float32"), values(100, 140, (1,), "float32")
    for wanted in (False, True):
        yield sample(
            data,
            (size,),
            (1, 2, 4),
            (1, 2, 4),
            scale,
            shift,
            state_size=4,
            num_layers=1,
            mode="lstm",
            state_outputs=wanted,
        )


register(
    "_contrib_quantized_rnn",
    inputs="data parameters state state_cell? sequence_length? data_scale data_shift",
    outputs=_outputs,
    visible=lambda a: len(_outputs(a)) if a.state_outputs else 1,
    in_symbols=InSymbols(named=True, listed=lambda a: len(_outputs(a)) if a.state_outputs else 1),
    fields=RNN.schema.fields,
    arguments=_arguments,
    infer=_infer,
    ref=_ref,
    grad=stop,
    dtypes=("float32",),
    samples=_samples,
    doc="""Run LSTM layers over uint8 sequences, which represent ``(data - shift) / scale``.

    Attributes and the other inputs are those of `RNN` with ``mode='lstm'``; `data_scale` and
    `data_shift` (1,) are those of `_contrib_quantize_asym`. Weights and sums are float.
    """,
)
