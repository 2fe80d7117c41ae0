"""Random colour augmentation of images; see random.py."""

import numpy as np

from mxcy.ops.core.attrs import Field, Float, FloatTuple
from mxcy.ops.core.infer import back_data, require
from mxcy.ops.core.params import IMAGE_FACTOR, IMAGE_JITTER, IMAGE_LIGHTING
from mxcy.ops.core.record import native, op, register, sample
from mxcy.ops.image.random import BYTES, TYPES, infer_image, straight
from mxcy.ops.random.distributions import generator

__all__ = []

_GRAY = np.array((0.299, 0.587, 0.114), "float32")  # luma weights of red, green and blue
# Principal components of ImageNet's colours, each scaled by its strength.
_DIRECTIONS = np.array(
    [[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]]
) * (55.46, 4.794, 1.148)


def _steps(a, ins, outs):
    return 8 * ins[0].size


# --- colours -------------------------------------------------------------------------------------


def _as(data, changed):
    """Cast changed values to the image's dtype; bytes are clipped to their range."""
    return (np.clip(changed, 0, 255) if data.dtype == np.uint8 else changed).astype(data.dtype)


def _gray(xp, data):
    """Return the luma of each pixel, (height, width, 1)."""
    return data if data.shape[2] == 1 else (data * xp.asarray(_GRAY)).sum(2, keepdims=True)


def _brighter(xp, data, factor):
    return data * factor


def _contrasted(xp, data, factor):
    return data * factor + (1 - factor) * _gray(xp, data).mean()


def _saturated(xp, data, factor):
    # Here MXNet uses only blue's contribution as gray.
    return data if data.shape[2] == 1 else data * factor + (1 - factor) * data[..., 2:] * _GRAY[2]


def _hue_rotated(xp, data, turns):
    """Rotate the hue, keeping lightness and saturation."""
    if data.shape[2] == 1:
        return data
    red, green, blue = xp.moveaxis(data, -1, 0)
    most, least = data.max(-1), data.min(-1)
    range_ = xp.where(most > least, most - least, 1)
    hue = xp.where(
        most == red,
        (green - blue) / range_,
        xp.where(most == green, (blue - red) / range_ + 2, (red - green) / range_ + 4),
    )
    hue = (hue + 6 * turns) % 6
    # Each channel falls from maximum to minimum and rises again, shifted by a third of a turn.
    distance = xp.stack([xp.abs((hue - centre + 3) % 6 - 3) for centre in (0, 2, 4)], -1)
    return least[..., None] + (most - least)[..., None] * xp.clip(2 - distance, 0, 1)


def _change(what, change, doc):
    """Register an operator that changes colours by a random factor between two bounds."""

    def infer(a, data):
        require(a.min_factor >= 0, f"min_factor: expected at least 0, got {a.min_factor}")
        return infer_image(a, data)

    def ref(a, xp, data):
        drawn = a.min_factor + (a.max_factor - a.min_factor) * generator(xp).random()
        return _as(data, change(xp, data.astype("float32"), np.float32(drawn)))

    kernel = native(
        f"image_random_{what}",
        struct=IMAGE_FACTOR,
        params=lambda a, ins, outs: {"low": a.min_factor, "high": a.max_factor},
        work=_steps,
        inplace=True,
    )
    register(
        f"_image_random_{what}",
        aliases=(f"_npx__image_random_{what}",),
        fields=(Field("min_factor", Float), Field("max_factor", Float)),
        uses_rng=True,
        infer=infer,
        infer_back=back_data,
        grad=straight,
        ref=ref,
        kernels=(kernel,),
        samples=(
            sample(BYTES, grad=False, min_factor=0.5, max_factor=1.5),
            sample((2, 3, 1), grad=False, min_factor=0.25, max_factor=0.75),
        ),
        dtypes=TYPES,
        doc=doc,
    )


_change(
    "brightness",
    _brighter,
    "Scale an image (height, width, channel) by a random factor in [min_factor, max_factor).",
)
_change(
    "contrast",
    _contrasted,
    "Scale an image's distance from its mean by a random factor in [min_factor, max_factor).",
)
_change(
    "saturation",
    _saturated,
    "Scale colours' distance from dark gray by a random factor in [min_factor, max_factor).",
)
_change(
    "hue",
    _hue_rotated,
    "Rotate the hue by a random fraction of a full turn in [min_factor, max_factor).",
)


@op(
    "_image_random_color_jitter",
    aliases=("_npx__image_random_color_jitter",),
    uses_rng=True,
    dtypes=TYPES,
)
class ColorJitter:
    """Jitter brightness, contrast, saturation and hue randomly, in random order.

    Each parameter is the maximum change up or down; those that are not positive are skipped. The
    image is (height, width, channel) with 1 or 3 channels.
    """

    brightness: Float
    contrast: Float
    saturation: Float
    hue: Float

    infer = infer_image
    infer_back = back_data
    grad = straight

    def ref(a, xp, data):
        draw = generator(xp)
        for kind in draw.permutation(4):
            most = _strengths(a)[kind]
            if most > 0:
                change = (_brighter, _contrasted, _saturated, _hue_rotated)[kind]
                drawn = np.float32(draw.uniform(-most, most) + (kind != 3))
                data = _as(data, change(xp, data.astype("float32"), drawn))
        return data.copy()

    kernels = (
        native(
            "image_random_color_jitter",
            struct=IMAGE_JITTER,
            params=lambda a, ins, outs: {"most": _strengths(a)},
            work=lambda a, ins, outs: 32 * ins[0].size,
            inplace=True,
        ),
    )
    samples = (
        sample(BYTES, grad=False, brightness=0.3, contrast=0.2, saturation=0.1, hue=0.1),
        sample((2, 3, 1), grad=False, brightness=0.3, contrast=0.2, saturation=0.1, hue=0.0),
    )


def _strengths(a):
    return (a.brightness, a.contrast, a.saturation, a.hue)


# --- lighting ------------------------------------------------------------------------------------


def _lit(xp, data, alpha):
    if data.shape[2] == 1:
        return data.copy()
    light = xp.asarray((_DIRECTIONS @ alpha).astype("float32"))
    return _as(data, data.astype("float32") + light)


def _lighting(alpha, deviation):
    return native(
        "image_lighting",
        struct=IMAGE_LIGHTING,
        params=lambda a, ins, outs: {"alpha": alpha(a), "deviation": deviation(a)},
        work=_steps,
        inplace=True,
    )


@op("_image_adjust_lighting", aliases=("_npx__image_adjust_lighting",), dtypes=TYPES)
class AdjustLighting:
    """Add the principal components of natural image colours, weighted by `alpha`.

    The image is (height, width, channel); single-channel images are unchanged.
    """

    alpha: FloatTuple

    def infer(a, data):
        require(len(a.alpha) == 3, f"alpha: expected 3 numbers, got {a.alpha}")
        return infer_image(a, data)

    infer_back = back_data
    grad = straight

    def ref(a, xp, data):
        return _lit(xp, data, a.alpha)

    kernels = (_lighting(lambda a: a.alpha, lambda a: -1.0),)
    samples = (
        # Halfway between integers, where rounding of the components does not matter.
        sample((3, 2, 3), alpha=(0.1, -0.2, 0.3)),
        sample((2, 3, 1), alpha=(1.0, 2.0, 3.0)),
    )


@op("_image_random_lighting", aliases=("_npx__image_random_lighting",), uses_rng=True, dtypes=TYPES)
class RandomLighting:
    """Add random noise along the principal components of natural image colours (AlexNet).

    The weights are normally distributed with standard deviation `alpha_std`. The image is (height,
    width, channel); single-channel images are unchanged.
    """

    alpha_std: Float = 0.05

    def infer(a, data):
        require(a.alpha_std >= 0, f"alpha_std: expected at least 0, got {a.alpha_std}")
        return infer_image(a, data)

    infer_back = back_data
    grad = straight

    def ref(a, xp, data):
        return _lit(xp, data, generator(np).normal(0, a.alpha_std, 3))

    kernels = (_lighting(lambda a: (), lambda a: a.alpha_std),)
    samples = (sample(BYTES, grad=False), sample((2, 3, 1), grad=False, alpha_std=0.2))
