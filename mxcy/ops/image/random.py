"""Random image augmentation: flips and crops; for colours see random_colors.py.

The kernels draw the same random numbers as MXNet 1.9.1 for a seed; the references draw from their
own generators, like those of the other random operators.
"""

import numpy as np

from mxcy.ops.core.attrs import Field, Float, FloatTuple, Int
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, back_data, require
from mxcy.ops.core.params import IMAGE_FLIP
from mxcy.ops.core.record import native, op, register, sample, values
from mxcy.ops.image.resize import check_interpolation, is_left_to_opencv, resized
from mxcy.ops.image.transforms import check_image
from mxcy.ops.random.distributions import generator

__all__ = ["BYTES", "TYPES", "infer_image", "straight"]

TYPES = ("uint8", "float32")
BYTES = values(0, 256, (3, 4, 3), "uint8")


def infer_image(a, data):
    """Infer a result like the image, which must have one or three channels."""
    if check_image(data, batches=False):
        channels = data.shape[2]
        require(channels in (1, 3, -1), f"data: expected 1 or 3 channels, got {data.shape}")
    return Spec(data.shape, data.dtype)


def straight(a, F, g):
    """Pass gradients through unchanged, as in MXNet."""
    return g


# --- flips ---------------------------------------------------------------------------------------


def _flip(name, axis, doc):
    def infer(a, data):
        require(0 <= a.p <= 1, f"p: expected a probability, got {a.p}")
        return infer_image(a, data)

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
        grad=straight,
        ref=ref,
        kernels=(kernel,),
        samples=(sample(BYTES, grad=False), sample((3, 2, 1), grad=False, p=0.25)),
        dtypes=("uint8", "float32", "float16", "int32"),
        doc=doc,
    )


_flip(
    "random_flip_left_right",
    1,
    "Flip an image (height, width, channel) left to right with probability `p`.",
)
_flip(
    "random_flip_top_bottom",
    0,
    "Flip an image (height, width, channel) top to bottom with probability `p`.",
)


# --- crops ---------------------------------------------------------------------------------------


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
    """Return a crop of the given size at a random position."""
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
    dtypes=TYPES,
    in_symbols=InSymbols(named=True),
    outputs="output0",
)
class RandomCrop:
    """Crop an image, or each image of a batch, at a random position.

    `xrange` and `yrange` bound the position: 0 is left and top, 1 as far right and down as the crop
    fits. Images smaller than the crop are enlarged with `interp` as in `image.resize`.
    """

    xrange: FloatTuple = (0.0, 1.0)
    yrange: FloatTuple = (0.0, 1.0)
    width: Int
    height: Int
    interp: Int = 1

    infer = _check_part
    grad = _no_gradient

    def ref(a, xp, data):
        height, width = data.shape[-3:-1]
        return _fitted(a, _placed(a, xp, data, min(a.width, width), min(a.height, height)))

    kernels = (native("image_random_crop", when=is_left_to_opencv),)
    samples = (
        sample(BYTES, grad=False, width=2, height=2),
        sample((2, 2, 5, 1), grad=False, width=3, height=4, xrange=(0.5, 0.5)),
    )


@op(
    "_image_random_resized_crop",
    aliases=("_npx__image_random_resized_crop",),
    uses_rng=True,
    dtypes=TYPES,
)
class RandomResizedCrop:
    """Crop an image, or each image of a batch, with random size and aspect ratio, and resize it.

    `area` bounds the crop's fraction of the image area, `ratio` its aspect ratio (width / height).
    If none of `max_trial` attempts fits, the largest central crop with the aspect ratio of the
    result is taken. See `image.random_crop` for `xrange`, `yrange` and `interp`.
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

    kernels = (native("image_random_resized_crop", when=is_left_to_opencv),)
    samples = (
        sample(BYTES, grad=False, width=2, height=2),
        sample((2, 2, 5, 1), grad=False, width=3, height=4, area=(0.5, 0.6), interp=0),
    )
