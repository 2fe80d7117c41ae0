"""Dropout, and the mask for its gradient."""

import math

from mxcy.ops.core.attrs import BoolOrNone, Enum, Float, Shape
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, back_data, normal_axes, require
from mxcy.ops.core.params import DROPOUT
from mxcy.ops.core.record import native, op, sample
from mxcy.ops.random.distributions import generator

__all__ = ["draw_mask"]


def draw_mask(xp, p, shape, dtype):
    """Draw a mask: 0 with probability p, else 1 / (1 - p); NaN for p = 1."""
    kept = generator(xp).random(shape) < 1 - p
    scale, dropped = (1 / (1 - p), 0.0) if p < 1 else (math.inf, math.nan)
    return xp.where(kept, scale, dropped).astype(dtype)


def _drops(a):
    """Return whether Dropout drops anything."""
    return (a.train or a.mode == "always") and a.p > 0


def _mask_shape(a, shape):
    """Return the shape of Dropout's mask, with extent 1 along the shared `axes`."""
    if not _drops(a):
        return (0,)
    axes = normal_axes(a.axes, len(shape), "axes") if a.axes else ()
    return tuple(1 if i in axes else n for i, n in enumerate(shape))


@op(
    "Dropout",
    aliases=("_npx_dropout",),
    numpy=(
        "npx.dropout(data, p=0.5, mode='training', axes=None, cudnn_off=False, out=None, name=None)"
    ),
    inputs="data",
    outputs="output mask",
    visible=1,
    in_symbols=InSymbols(named=True, named_input=True),
    uses_mode=True,
    uses_rng=True,
)
class Dropout:
    """Apply dropout: in training, zero elements with probability p and scale the others.

    The scale is 1 / (1 - p). Elements along `axes` share one draw. Outside training mode (unless
    ``mode='always'``) the data is unchanged. The hidden second output is the scaled mask, empty if
    nothing is dropped. With p = 1 all elements are 0 times infinity, that is NaN, as in MXNet.
    """

    p: Float = 0.5
    mode: Enum("always", "training") = "training"
    axes: Shape = ()
    cudnn_off: BoolOrNone = False

    samples = (
        sample((4, 5), p=0.4, train=True),
        sample((4, 5), p=0.4),
        sample((3, 4, 5), p=0.3, axes=(1,), mode="always"),
    )

    def forwards(a):
        return not _drops(a)

    def infer(a, data):
        require(0 <= a.p <= 1, f"p: must be in [0, 1], got {a.p}")
        if data.shape is None:
            return Spec(None, data.dtype), Spec(None, data.dtype)
        return Spec(data.shape, data.dtype), Spec(_mask_shape(a, data.shape), data.dtype)

    infer_back = back_data

    def grad(a, F, g, mask):
        return F.broadcast_mul(g[0], mask) if _drops(a) else g[0]

    def ref(a, xp, data):
        shape = _mask_shape(a, data.shape)
        if not _drops(a):
            return data, xp.zeros(shape, data.dtype)
        mask = draw_mask(xp, a.p, shape, data.dtype)
        return data * mask, mask

    kernels = (
        native(
            "dropout",
            struct=DROPOUT,
            params=lambda a, ins, outs: {"p": a.p if _drops(a) else 0},
            inplace=True,
            work=lambda a, ins, outs: 4 * ins[0].size,
        ),
    )
