"""Blocked arrays, and the operators that convert and process them.

Convolutions are fastest if a vector register holds adjacent channels of one position. The blocked
form of an array (batch, channels, spatial...) is therefore the ordinary contiguous array (batch,
channels / block, spatial..., block); the number of channels must be a multiple of the block.
Elementwise operators and concatenation along channels work on it unchanged.
"""

import math

from mxcy import env
from mxcy._base.dtypes import CODES
from mxcy.ops.core.attrs import Bool, Float, Int, UInt
from mxcy.ops.core.infer import Spec, require, same_dtype
from mxcy.ops.core.params import LRN as LRN_PARAMS
from mxcy.ops.core.params import POOL, SCALE_SHIFT
from mxcy.ops.core.record import by_onednn, native, op, register, sample, values
from mxcy.ops.norm.scale import LRN
from mxcy.ops.pooling import pool

__all__ = ["blocked", "blocked_shape", "plain", "plain_shape"]

_BFLOAT, _FLOAT = CODES["bfloat16"], CODES["float32"]
_ALL = ("float32", "float64", "float16", "bfloat16", "int32", "int64", "int8", "uint8")


def blocked(xp, array, block):
    """Return the blocked form of (batch, channels, spatial...)."""
    batch, channels, *spatial = array.shape
    return xp.moveaxis(array.reshape(batch, channels // block, block, *spatial), 2, -1)


def plain(xp, array):
    """Undo `blocked`."""
    batch, blocks, *spatial, block = array.shape
    return xp.moveaxis(array, -1, 2).reshape(batch, blocks * block, *spatial)


def blocked_shape(shape, block, name="data"):
    """Return the blocked form of a possibly unknown shape."""
    if shape is None:
        return None
    require(block > 0, f"block: must be positive, got {block}")
    require(
        3 <= len(shape) <= 5, f"{name}: expected (batch, channel, spatial...), got shape {shape}"
    )
    channels = shape[1]
    require(
        channels == -1 or channels % block == 0,
        f"{name}: {channels} channels are not a multiple of block {block}",
    )
    return (shape[0], -1 if channels == -1 else channels // block, *shape[2:], block)


def plain_shape(shape, name="data"):
    """Return the plain form of a possibly unknown blocked shape."""
    if shape is None:
        return None
    require(
        4 <= len(shape) <= 6,
        f"{name}: expected (batch, blocks, spatial..., block), got shape {shape}",
    )
    require(shape[-1] != 0, f"{name}: expected blocks of at least one channel, got shape {shape}")
    known = shape[1] != -1 and shape[-1] != -1
    return (shape[0], shape[1] * shape[-1] if known else -1, *shape[2:-1])


@op("_to_blocked", inputs="data")
class ToBlocked:
    """Convert (batch, channels, spatial...) to (batch, channels / block, spatial..., block)."""

    block: Int

    dtypes = _ALL
    samples = (
        sample((2, 16, 3, 5), block=8),
        sample((1, 32, 17), block=16),
        sample((1, 6, 2, 3, 2), block=3),
        sample((1, 16, 17, 19), block=16, grad=False),
    )
    kernels = (native("to_blocked"), by_onednn(native("to_blocked")))

    def infer(a, data):
        return Spec(blocked_shape(data.shape, a.block), data.dtype)

    def grad(a, F, g):
        return F._from_blocked(g)

    def ref(a, xp, data):
        return blocked(xp, data, a.block)


@op("_from_blocked", inputs="data")
class FromBlocked:
    """Convert (batch, channels / block, spatial..., block) to (batch, channels, spatial...)."""

    dtypes = _ALL
    samples = (
        sample((2, 2, 3, 5, 8)),
        sample((1, 2, 17, 16)),
        sample((1, 2, 2, 3, 2, 3)),
        sample((1, 1, 17, 19, 16), grad=False),
    )
    kernels = (native("from_blocked"), by_onednn(native("from_blocked")))

    def infer(a, data):
        return Spec(plain_shape(data.shape), data.dtype)

    def grad(a, F, g, specs):
        return F._to_blocked(g, block=specs[0].shape[-1])

    def ref(a, xp, data):
        return plain(xp, data)


# --- pooling ---------------------------------------------------------------------------------


def _infer_pooling(a, data):
    require(
        a.layout is None or not a.layout.endswith("C"),
        f"layout: a blocked array cannot be {a.layout}",
    )
    if data.shape is None:
        return Spec(None, data.dtype)
    shape = plain_shape(data.shape)
    spatial = pool.resolve(a, shape[2:])[3]
    return Spec((*data.shape[:2], *spatial, data.shape[-1]), data.dtype)


def _pool_params(a, ins, outs):
    batch, blocks, *spatial, block = ins[0].shape
    params = pool.params(a, Spec((1, 1, *spatial)))
    return {**params, "outer": batch * blocks, "inner": block}


def _pool_work(a, ins, outs):
    # An element of a window, loads included, costs a quarter of an elementwise step.
    taps = math.prod(pool.resolve(a, ins[0].shape[2:-1])[0])
    return ins[0].size + outs[0].size * taps // 4


_POOL = native(
    "blocked_pool",
    struct=POOL,
    params=_pool_params,
    when=lambda a, ins, outs: "p-norm pooling is not supported" if a.pool_type == "lp" else None,
    work=_pool_work,
    capped=True,
)


def _refuse_bf16(a, ins, outs):
    if len(ins[0].shape) > 5:
        return "three spatial dimensions are not supported"
    return _POOL.when(a, ins, outs)


_POOL_BF16 = native(
    "blocked_pool_bf16",
    struct=POOL,
    params=_pool_params,
    when=_refuse_bf16,
    work=_pool_work,
    capped=True,
)


def _refuse_onednn(a, ins, outs):
    if ins[0].dtype == _BFLOAT:
        return None  # "blocked_pool" does not support it
    if math.prod(outs[0].shape[2:-1]) == 1:
        return "there is only one window in a plane"
    if math.prod(ins[0].shape[:2]) < env.omp_threads():
        return "there are fewer planes than threads"  # ours splits planes into rows
    return None


register(
    "_blocked_pooling",
    doc="""Apply `Pooling` to a blocked array, with the same attributes; the result is blocked.

Shapes: data (batch, channels / block, spatial..., block) with one to three spatial dimensions.""",
    inputs="data",
    fields=pool.Pooling.schema.fields,
    infer=_infer_pooling,
    ref=lambda a, xp, data: blocked(xp, pool.Pooling.ref(a, xp, plain(xp, data)), data.shape[-1]),
    kernels=(_POOL_BF16, by_onednn(_POOL, _refuse_onednn, "pool_onednn"), _POOL),
    samples=(
        sample((2, 2, 5, 6, 8), kernel=(2, 3), stride=(2, 1)),
        sample((1, 2, 7, 6, 16), kernel=(3, 3), stride=(2, 2), pad=(1, 1)),
        sample((1, 1, 5, 6, 3), kernel=(3, 3), pad=(1, 1), pool_type="avg"),
        sample(
            (1, 2, 5, 5, 8),
            kernel=(3, 3),
            stride=(2, 2),
            pad=(1, 1),
            pool_type="avg",
            pooling_convention="full",
            count_include_pad=False,
        ),
        sample((1, 1, 5, 5, 16), kernel=(2, 2), stride=(2, 2), pooling_convention="full"),
        sample((2, 3, 7, 7, 16), global_pool=True, pool_type="avg"),
        sample((2, 1, 3, 4, 8), global_pool=True),
        sample((1, 1, 3, 4, 8), kernel=(2, 2), pool_type="sum"),
        sample((2, 1, 4, 5, 40), kernel=(3, 2), pad=(1, 1), pool_type="avg", dtypes=("bfloat16",)),
        sample((1, 2, 7, 8), kernel=(3,), stride=(2,), pooling_convention="same"),
        sample((1, 1, 4, 3, 4, 8), kernel=(2, 2, 2), stride=(2, 1, 1)),
        sample((1, 1, 3, 4, 8), kernel=(2, 2), pool_type="lp", p_value=2),
    ),
)


# --- normalisation ---------------------------------------------------------------------------


def _scale_shift_params(a, ins, outs):
    batch, blocks, *spatial, block = ins[0].shape
    return {
        "outer": batch,
        "blocks": blocks,
        "inner": math.prod(spatial),
        "block": block,
        "relu": a.relu,
    }


def _vectors(shape):
    """Return samples of scale and shift for 16-bit blocked data."""
    return [values(-1, 1, (shape[1] * shape[-1],), "float32")] * 2


@op("_blocked_scale_shift", inputs="data scale shift")
class BlockedScaleShift:
    """Compute ``data * scale + shift`` per channel of a blocked array, optionally with `relu`.

    Shapes: data (batch, channels / block, spatial..., block), scale and shift (channels,): a
    BatchNorm in inference, see `_batch_norm_scale`; float32 for bfloat16 data.
    """

    relu: Bool = False

    samples = (
        sample((2, 2, 3, 5, 8), (16,), (16,)),
        sample((1, 3, 9, 9, 16), (48,), (48,), relu=True),
        sample((1, 2, 7, 3), (6,), (6,), relu=True),
        *(
            sample(shape, *_vectors(shape), relu=relu, dtypes=("bfloat16",))
            for shape, relu in (((1, 3, 9, 9, 16), True), ((1, 2, 7, 3), False))
        ),
    )
    kernels = (
        native(
            "blocked_scale_shift",
            struct=SCALE_SHIFT,
            params=_scale_shift_params,
            inplace=True,
            mixed=True,
        ),
    )

    def infer(a, data, scale, shift):
        dtype = data.dtype
        if dtype == _BFLOAT:
            for name, vector in (("scale", scale), ("shift", shift)):
                vector.fill(name, dtype=_FLOAT)
        else:
            dtype = same_dtype((data, scale, shift), ("data", "scale", "shift"))
        shape = plain_shape(data.shape)
        channels = -1 if shape is None else shape[1]
        scale.fill("scale", (channels,))
        shift.fill("shift", (channels,))
        return Spec(data.shape, dtype)

    def ref(a, xp, data, scale, shift):
        shape = (1, data.shape[1], *[1] * (data.ndim - 3), data.shape[-1])
        out = data * scale.reshape(shape) + shift.reshape(shape)
        return (xp.maximum(out, 0) if a.relu else out).astype(data.dtype, copy=False)


def _lrn_params(a, ins, outs):
    batch, blocks, *spatial, block = ins[0].shape
    return {
        "outer": batch,
        "channels": blocks * block,
        "inner": math.prod(spatial),
        "nsize": a.nsize,
        "alpha": a.alpha,
        "beta": a.beta,
        "knorm": a.knorm,
    }


_LRN = native(
    "blocked_lrn",
    struct=LRN_PARAMS,
    params=_lrn_params,
    inplace=True,
    work=lambda a, ins, outs: ins[0].size * (a.nsize + 8),
)


@op("_blocked_lrn", inputs="data")
class BlockedLRN:
    """Apply `LRN` in inference to an array (batch, channels / block, height, width, block)."""

    alpha: Float = 9.99999975e-05
    beta: Float = 0.75
    knorm: Float = 2.0
    nsize: UInt

    samples = (
        sample((2, 2, 3, 5, 8), nsize=5, alpha=0.5, tol=4),
        sample((1, 3, 5, 4, 16), nsize=3, alpha=0.1, beta=0.6, knorm=1.5, tol=4),
        sample((1, 2, 2, 3, 3), nsize=4, alpha=0.1, tol=4),
        sample((1, 1, 2, 2, 8), nsize=19, alpha=0.1, tol=4),
        sample((1, 1, 2, 2, 8), nsize=2**31 - 1, alpha=0.1, tol=4),
    )
    kernels = (_LRN, by_onednn(_LRN))

    def infer(a, data):
        inferred = LRN.infer(a, [Spec(plain_shape(data.shape), data.dtype)])[0]
        return Spec(data.shape, inferred.dtype)

    def ref(a, xp, data):
        return blocked(xp, LRN.ref(a, xp, plain(xp, data))[0], data.shape[-1])
