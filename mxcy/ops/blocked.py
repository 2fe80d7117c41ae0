"""Blocked arrays and the operators that convert them.

A convolution is fastest when a vector register holds neighbouring channels of one position. The
blocked form of an array (batch, channels, spatial...) therefore is the ordinary contiguous array
(batch, channels / block, spatial..., block), for a number of channels that is a multiple of the
block. Elementwise operators and concatenation of channels need not know.
"""

from mxcy.ops.attrs import Int
from mxcy.ops.infer import Spec, require
from mxcy.ops.record import op, sample

__all__ = ["blocked", "blocked_shape", "plain", "plain_shape"]


def blocked(xp, array, block):
    """The blocked form of (batch, channels, spatial...)."""
    batch, channels, *spatial = array.shape
    return xp.moveaxis(array.reshape(batch, channels // block, block, *spatial), 2, -1)


def plain(xp, array):
    """What `blocked` was made of."""
    batch, blocks, *spatial, block = array.shape
    return xp.moveaxis(array, -1, 2).reshape(batch, blocks * block, *spatial)


def blocked_shape(shape, block, name="data"):
    """The blocked form of a shape, possibly unknown."""
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
    """The plain form of a blocked shape, possibly unknown."""
    if shape is None:
        return None
    require(
        4 <= len(shape) <= 6,
        f"{name}: expected (batch, blocks, spatial..., block), got shape {shape}",
    )
    known = shape[1] != -1 and shape[-1] != -1
    return (shape[0], shape[1] * shape[-1] if known else -1, *shape[2:-1])


@op("_to_blocked", inputs="data")
class ToBlocked:
    """Make (batch, channels / block, spatial..., block) of (batch, channels, spatial...)."""

    block: Int

    samples = (
        sample((2, 16, 3, 5), block=8),
        sample((1, 32, 7), block=16),
        sample((1, 6, 2, 3, 2), block=3),
    )

    def infer(a, data):
        return Spec(blocked_shape(data.shape, a.block), data.dtype)

    def grad(a, F, g):
        return F._from_blocked(g)

    def ref(a, xp, data):
        return blocked(xp, data, a.block)


@op("_from_blocked", inputs="data")
class FromBlocked:
    """Make (batch, channels, spatial...) of (batch, channels / block, spatial..., block)."""

    samples = (sample((2, 2, 3, 5, 8)), sample((1, 2, 7, 16)), sample((1, 2, 2, 3, 2, 3)))

    def infer(a, data):
        return Spec(plain_shape(data.shape), data.dtype)

    def grad(a, F, g, specs):
        return F._to_blocked(g, block=specs[0].shape[-1])

    def ref(a, xp, data):
        return plain(xp, data)
