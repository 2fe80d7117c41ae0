"""Squeeze-and-excitation of blocked arrays (Hu et al., 2018) as one operator."""

import math

from mxcy.ops.activation.definitions import sigmoid
from mxcy.ops.core.attrs import Bool, Float
from mxcy.ops.core.infer import Spec, same_dtype
from mxcy.ops.core.params import EXCITATION
from mxcy.ops.core.record import native, op, sample
from mxcy.ops.fused.blocked import blocked, plain, plain_shape
from mxcy.ops.fused.layer import ACTIVATIONS, NUMBERS, Activation

__all__ = []

_NAMES = ("data", "squeeze", "squeeze_bias", "excite", "excite_bias")


def _params(a, ins, outs):
    images, blocks, *spatial, block = ins[0].shape
    return {
        "images": images,
        "blocks": blocks,
        "inner": math.prod(spatial),
        "block": block,
        "hidden": ins[1].shape[1],
        "act": NUMBERS[a.act],
        "hard": a.hard,
        "alpha": a.alpha,
        "beta": a.beta,
        "gate_alpha": a.gate_alpha,
        "gate_beta": a.gate_beta,
    }


def _weights(block, channels=32, hidden=5):
    return (channels, hidden), (hidden,), (channels // block, hidden, block), (channels,)


@op("_blocked_excitation", inputs=" ".join(_NAMES))
class BlockedExcitation:
    """Scale the channels of a blocked array by gates computed from their means.

    The gates are ``gate(excite(act(squeeze(mean(data)))))``, where both are dense layers with bias,
    and `gate` is the sigmoid, or with `hard` the hard sigmoid of `gate_alpha` and `gate_beta`. For
    `act`, `alpha` and `beta` see `_sg_onednn_conv`.

    Shapes: data (batch, channels / block, spatial..., block), squeeze (channels, hidden),
    squeeze_bias (hidden,), excite (channels / block, hidden, block), excite_bias (channels,).
    Inference only: there are no gradients.
    """

    act: Activation = "none"
    alpha: Float = 0.0
    beta: Float = 0.0
    hard: Bool = False
    gate_alpha: Float = 0.2
    gate_beta: Float = 0.5

    dtypes = ("float32",)
    samples = (
        sample((2, 4, 3, 5, 8), *_weights(8), act="relu"),
        sample((1, 2, 4, 7, 16), *_weights(16), act="relu", hard=True),
        sample((1, 2, 9, 16), *_weights(16, hidden=19), act="leaky", alpha=0.25, hard=True),
        sample((3, 4, 2, 2, 2, 8), *_weights(8), gate_alpha=0.1),
    )
    kernels = (
        native(
            "blocked_excitation",
            struct=EXCITATION,
            params=_params,
            when=lambda a, ins, outs: None if ins[0].size else "there are no elements",
            work=lambda a, ins, outs: 2 * ins[0].size + ins[0].shape[0] * ins[1].size // 8,
            inplace=True,
            asks=True,
        ),
    )

    def infer(a, data, squeeze, squeeze_bias, excite, excite_bias):
        inputs = (data, squeeze, squeeze_bias, excite, excite_bias)
        dtype = same_dtype(inputs, _NAMES)
        shape = plain_shape(data.shape)
        channels = -1 if shape is None else shape[1]
        squeeze.fill("squeeze", (channels, -1))
        hidden = squeeze.shape[1]
        squeeze_bias.fill("squeeze_bias", (hidden,))
        blocks, block = (-1, -1) if shape is None else (data.shape[1], data.shape[-1])
        excite.fill("excite", (blocks, hidden, block))
        excite_bias.fill("excite_bias", (channels,))
        return Spec(data.shape, dtype)

    def ref(a, xp, data, squeeze, squeeze_bias, excite, excite_bias):
        axes = tuple(range(2, data.ndim - 1))
        means = plain(xp, data.mean(axes, keepdims=True)).reshape(data.shape[0], -1)
        hidden = ACTIVATIONS[a.act](xp, means @ squeeze + squeeze_bias, a.alpha, a.beta)
        weight = xp.moveaxis(excite, -1, 1).reshape(-1, squeeze.shape[1])
        gates = hidden @ weight.T + excite_bias
        if a.hard:
            gates = xp.minimum(xp.maximum(a.gate_alpha * gates + a.gate_beta, 0), 1)
        else:
            gates = sigmoid(xp, gates)
        gates = gates.reshape(*gates.shape, *(1 for _ in axes))
        return (data * blocked(xp, gates, data.shape[-1])).astype(data.dtype, copy=False)
