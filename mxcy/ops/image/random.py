"""Random changes of images: of colours, flips and parts.

The kernels draw what MXNet 1.9.1 draws for the same seed; the references here draw from generators
of their own, as those of the other random operators do.
"""

import numpy as np

from mxcy.ops.core.attrs import Field, Float, FloatTuple, Int
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, back_data, require
from mxcy.ops.core.params import IMAGE_FACTOR, IMAGE_FLIP, IMAGE_JITTER, IMAGE_LIGHTING
from mxcy.ops.core.record import native, op, register, sample, values
from mxcy.ops.image.resize import check_interpolation, resized
from mxcy.ops.image.transforms import check_image
from mxcy.ops.random.distributions import generator

__all__ = []

_GRAY = np.array((0.299, 0.587, 0.114), "float32")  # what red, green and blue contribute
# The main directions in which colours of photographs differ, each times how much they do.
_DIRECTIONS = np.array(
    [[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]]
) * (55.46, 4.794, 1.148)
_TYPES = ("uint8", "float32")
_BYTES = values(0, 256, (3, 4, 3), "uint8")


def _infer(a, data):
    if check_image(data, batches=False):
        channels = data.shape[2]
        require(channels in (1, 3, -1), f"data: expected 1 or 3 channels, got {data.shape}")
    return Spec(data.shape, data.dtype)


def _straight(a, F, g):
    """As in MXNet, gradients pass as if nothing had been changed."""
    return g


def _steps(a, ins, outs):
    return 8 * ins[0].size


# --- colours -------------------------------------------------------------------------------------


def _as(data, changed):
    """Changed values in the type of the image; bytes stay in their range."""
    return (np.clip(changed, 0, 255) if data.dtype == np.uint8 else changed).astype(data.dtype)


def _gray(xp, data):
    """The brightness of each pixel, (height, width, 1)."""
    return data if data.shape[2] == 1 else (data * xp.asarray(_GRAY)).sum(2, keepdims=True)


def _brighter(xp, data, factor):
    return data * factor


def _contrasted(xp, data, factor):
    return data * factor + (1 - factor) * _gray(xp, data).mean()


def _saturated(xp, data, factor):
    # MXNet takes what blue contributes for all of gray here.
    return data if data.shape[2] == 1 else data * factor + (1 - factor) * data[..., 2:] * _GRAY[2]


def _turned(xp, data, turns):
    """Colours with their hue turned; lightness and saturation stay."""
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
    # Each channel falls from the most to the least and rises again, a third of a turn apart.
    distance = xp.stack([xp.abs((hue - centre + 3) % 6 - 3) for centre in (0, 2, 4)], -1)
    return least[..., None] + (most - least)[..., None] * xp.clip(2 - distance, 0, 1)


def _change(what, change, doc):
    """Register an operator that changes colours by a number drawn between two bounds."""

    def infer(a, data):
        require(a.min_factor >= 0, f"min_factor: expected at least 0, got {a.min_factor}")
        return _infer(a, data)

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
        grad=_straight,
        ref=ref,
        kernels=(kernel,),
        samples=(
            sample(_BYTES, grad=False, min_factor=0.5, max_factor=1.5),
            sample((2, 3, 1), grad=False, min_factor=0.25, max_factor=0.75),
        ),
        dtypes=_TYPES,
        doc=doc,
    )


_change(
    "brightness",
    _brighter,
    "Multiply an image (height, width, channel) by a number drawn from [min_factor, max_factor).",
)
_change(
    "contrast",
    _contrasted,
    "Multiply an image's distance from its mean by a number from [min_factor, max_factor).",
)
_change(
    "saturation",
    _saturated,
    "Multiply colours' distance from dark gray by a number from [min_factor, max_factor).",
)
_change(
    "hue",
    _turned,
    "Turn the circle of colours by a part of a full turn drawn from [min_factor, max_factor).",
)


@op(
    "_image_random_color_jitter",
    aliases=("_npx__image_random_color_jitter",),
    uses_rng=True,
    dtypes=_TYPES,
)
class ColorJitter:
    """Random changes of brightness, contrast, saturation and hue, in random order.

    Each is changed by at most the number given, up or down; one that is not positive is left out.
    The image is (height, width, channel) with 1 or 3 channels.
    """

    brightness: Float
    contrast: Float
    saturation: Float
    hue: Float

    infer = _infer
    infer_back = back_data
    grad = _straight

    def ref(a, xp, data):
        draw = generator(xp)
        for kind in draw.permutation(4):
            most = _strengths(a)[kind]
            if most > 0:
                change = (_brighter, _contrasted, _saturated, _turned)[kind]
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
        sample(_BYTES, grad=False, brightness=0.3, contrast=0.2, saturation=0.1, hue=0.1),
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


@op("_image_adjust_lighting", aliases=("_npx__image_adjust_lighting",), dtypes=_TYPES)
class AdjustLighting:
    """Add the main directions in which colours of photographs differ, `alpha` of each.

    The image is (height, width, channel); one of a single channel stays as it is.
    """

    alpha: FloatTuple

    def infer(a, data):
        require(len(a.alpha) == 3, f"alpha: expected 3 numbers, got {a.alpha}")
        return _infer(a, data)

    infer_back = back_data
    grad = _straight

    def ref(a, xp, data):
        return _lit(xp, data, a.alpha)

    kernels = (_lighting(lambda a: a.alpha, lambda a: -1.0),)
    samples = (
        # In the middle between whole numbers, where rounding of directions does not matter.
        sample((3, 2, 3), alpha=(0.1, -0.2, 0.3)),
        sample((2, 3, 1), alpha=(1.0, 2.0, 3.0)),
    )


@op(
    "_image_random_lighting", aliases=("_npx__image_random_lighting",), uses_rng=True, dtypes=_TYPES
)
class RandomLighting:
    """Add noise along the main directions in which colours of photographs differ, as AlexNet did.

    The parts of the directions are normal with the standard deviation `alpha_std`. The image is
    (height, width, channel); one of a single channel stays as it is.
    """

    alpha_std: Float = 0.05

    def infer(a, data):
        require(a.alpha_std >= 0, f"alpha_std: expected at least 0, got {a.alpha_std}")
        return _infer(a, data)

    infer_back = back_data
    grad = _straight

    def ref(a, xp, data):
        return _lit(xp, data, generator(np).normal(0, a.alpha_std, 3))

    kernels = (_lighting(lambda a: (), lambda a: a.alpha_std),)
    samples = (sample(_BYTES, grad=False), sample((2, 3, 1), grad=False, alpha_std=0.2))


# --- flips ---------------------------------------------------------------------------------------


def _flip(name, axis, doc):
    def infer(a, data):
        require(0 <= a.p <= 1, f"p: expected a probability, got {a.p}")
        return _infer(a, data)

    def ref(a, xp, data):
        return xp.flip(data, axis) if generator(xp).random() < a.p else data.copy()

    kernel = native(
        "image_random_flip",
        struct=IMAGE_FLIP,
        params=lambda a, ins, outs: {"axis": axis, "p": a.p},
        work=lambda a, ins, outs: 0,
    )
    register(
        f"_image_{name}",
        aliases=(f"_npx__image_{name}",),
        fields=(Field("p", Float, 0.5),),
        uses_rng=True,
        infer=infer,
        infer_back=back_data,
        grad=_straight,
        ref=ref,
        kernels=(kernel,),
        samples=(sample(_BYTES, grad=False), sample((3, 2, 1), grad=False, p=0.25)),
        dtypes=("uint8", "float32", "float16", "int32"),
        doc=doc,
    )


_flip(
    "random_flip_left_right",
    1,
    "Swap left and right of an image (height, width, channel), with probability `p`.",
)
_flip(
    "random_flip_top_bottom",
    0,
    "Turn an image (height, width, channel) upside down, with probability `p`.",
)


# --- parts ---------------------------------------------------------------------------------------


def _check_part(a, data):
    require(min(a.width, a.height) > 0, f"width, height: not positive: {a.width}, {a.height}")
    for name in ("xrange", "yrange"):
        bounds = getattr(a, name)
        good = len(bounds) == 2 and 0 <= bounds[0] <= bounds[1] <= 1
        require(good, f"{name}: expected two growing numbers in [0, 1], got {bounds}")
    check_interpolation(a.interp)
    if not check_image(data):
        return Spec(None, data.dtype)
    require(0 not in data.shape[-3:-1], f"data: an image without pixels, {data.shape}")
    return Spec((*data.shape[:-3], a.height, a.width, data.shape[-1]), data.dtype)


def _placed(a, xp, data, width, height):
    """A part of a size, at a place that is drawn."""
    left, top = (
        int(generator(xp).uniform(*bounds) * room)
        for bounds, room in (
            (a.xrange, data.shape[-2] - width),
            (a.yrange, data.shape[-3] - height),
        )
    )
    return data[..., top : top + height, left : left + width, :]


def _fitted(a, part):
    if part.shape[-3:-1] == (a.height, a.width):
        return part.copy()
    return resized(part, a.height, a.width, a.interp)


def _no_gradient(a, F, g, inputs):
    return F.zeros_like(inputs[0])


@op(
    "_image_random_crop",
    aliases=("_npx__image_random_crop",),
    uses_rng=True,
    dtypes=_TYPES,
    in_symbols=InSymbols(named=True),
    outputs="output0",
)
class RandomCrop:
    """A part (height, width) at a random place of an image, or of each image of a batch.

    `xrange` and `yrange` bound the place: 0 is at the left and at the top, 1 as far to the right
    or down as the part fits. Smaller images are enlarged, by `interp` as in `image.resize`.
    """

    xrange: FloatTuple = (0.0, 1.0)
    yrange: FloatTuple = (0.0, 1.0)
    width: Int
    height: Int
    interp: Int = 1

    infer = _check_part
    grad = _no_gradient

    def ref(a, xp, data):
        tall, wide = data.shape[-3:-1]
        return _fitted(a, _placed(a, xp, data, min(a.width, wide), min(a.height, tall)))

    samples = (
        sample(_BYTES, grad=False, width=2, height=2),
        sample((2, 2, 5, 1), grad=False, width=3, height=4, xrange=(0.5, 0.5)),
    )


@op(
    "_image_random_resized_crop",
    aliases=("_npx__image_random_resized_crop",),
    uses_rng=True,
    dtypes=_TYPES,
)
class RandomResizedCrop:
    """A part of an image, or of each image of a batch, of random size, shape and place, resized.

    The part takes between the two numbers `area` of the image's area, and its width is between
    the two numbers `ratio` times its height. If none of `max_trial` such parts fits, the greatest
    part with the shape of the result is taken from the middle. See `image.random_crop` for
    `xrange`, `yrange` and `interp`.
    """

    xrange: FloatTuple = (0.0, 1.0)
    yrange: FloatTuple = (0.0, 1.0)
    width: Int
    height: Int
    interp: Int = 1
    area: FloatTuple = (0.08, 1.0)
    ratio: FloatTuple = (3 / 4, 4 / 3)
    max_trial: Int = 10

    def infer(a, data):
        for name in ("area", "ratio"):
            bounds = getattr(a, name)
            good = len(bounds) == 2 and 0 < bounds[0] <= bounds[1]
            require(good, f"{name}: expected two growing positive numbers, got {bounds}")
        return _check_part(a, data)

    grad = _no_gradient

    def ref(a, xp, data):
        tall, wide = data.shape[-3:-1]
        draw = generator(xp)
        for _ in range(a.max_trial):
            area = draw.uniform(*a.area) * tall * wide
            ratio = np.exp(draw.uniform(*np.log(a.ratio)))
            width, height = round(np.sqrt(area * ratio)), round(np.sqrt(area / ratio))
            if 0 < width <= wide and 0 < height <= tall:
                return _fitted(a, _placed(a, xp, data, width, height))
        scale = min(1, wide / a.width, tall / a.height)
        width, height = max(int(a.width * scale), 1), max(int(a.height * scale), 1)
        left, top = (wide - width) // 2, (tall - height) // 2
        return _fitted(a, data[..., top : top + height, left : left + width, :])

    samples = (
        sample(_BYTES, grad=False, width=2, height=2),
        sample((2, 2, 5, 1), grad=False, width=3, height=4, area=(0.5, 0.6), interp=0),
    )
