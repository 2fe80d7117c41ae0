"""Image transforms, for (height, width, channel) or with a leading batch axis."""

import math

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core.attrs import FloatTuple, Int
from mxcy.ops.core.infer import Spec, back_data, require
from mxcy.ops.core.params import IMAGE_NORMALIZE, IMAGE_TENSOR
from mxcy.ops.core.record import native, op, sample, values
from mxcy.ops.norm.batch import require_float
from mxcy.ops.shape.strided import loops, strided, strides_of, walk

__all__ = ["check_image"]

_PIXELS = ("uint8", "float32", "float16", "int32")


def check_image(spec, channels_last=True, batches=True):
    """Return whether the shape is known; raise unless it is that of an image."""
    if spec.shape is None:
        return False
    order = "(height, width, channel)" if channels_last else "(channel, height, width)"
    ranks = (3, 4) if batches else (3,)
    more = ", or with a batch in front" if batches else ""
    require(spec.ndim in ranks, f"data: expected an image {order}{more}, got {spec.shape}")
    return True


def _tensor_params(a, ins, outs):
    *batch, height, width, channels = ins[0].shape
    return {"images": math.prod(batch), "channels": channels, "size": height * width}


@op("_image_to_tensor", aliases=("_npx__image_to_tensor",), dtypes=("uint8", "float32", "int32"))
class ToTensor:
    """Convert an image with values in [0, 255] to a float32 tensor in [0, 1), channels first.

    An image (height, width, channel) becomes (channel, height, width); a batch keeps its first
    dimension.
    """

    kernels = (native("image_to_tensor", struct=IMAGE_TENSOR, params=_tensor_params, mixed=True),)

    def infer(a, data):
        if not check_image(data):
            return Spec(None, dtypes.CODES["float32"])
        *batch, height, width, channels = data.shape
        return Spec((*batch, channels, height, width), dtypes.CODES["float32"])

    def grad(a, F, g, specs):
        axes = (1, 2, 0) if specs[0].ndim == 3 else (0, 2, 3, 1)
        gradient = F.transpose(g / 255.0, axes=axes)
        return F.Cast(gradient, dtype=dtypes.name_of(specs[0].dtype))

    def ref(a, xp, data):
        return xp.moveaxis(data, -1, -3).astype("float32") / np.float32(255)

    samples = (
        sample(values(0, 256, (2, 4, 3), "uint8"), grad=False),
        sample((2, 3, 4, 1)),
        sample((3, 2, 2)),
    )


def _normalize_params(a, ins, outs):
    *batch, channels, height, width = ins[0].shape
    return {
        "planes": math.prod(batch) * channels,
        "channels": channels,
        "size": height * width,
        "mean": _by_channel(a, "mean", channels),
        "std": _by_channel(a, "std", channels),
    }


@op("_image_normalize", aliases=("_npx__image_normalize",))
class Normalize:
    """Normalise an image: subtract `mean` and divide by `std`, scalars or one value per channel.

    Images are (channel, height, width), or with a leading batch axis, and have 1 or 3 channels.
    """

    mean: FloatTuple = (0.0, 0.0, 0.0, 0.0)
    std: FloatTuple = (1.0, 1.0, 1.0, 1.0)

    kernels = (
        native("image_normalize", struct=IMAGE_NORMALIZE, params=_normalize_params, inplace=True),
    )

    def infer(a, data):
        require_float(data)
        if check_image(data, channels_last=False):
            channels = data.shape[-3]
            require(channels in (1, 3, -1), f"data: expected 1 or 3 channels, got {data.shape}")
            for name in ("mean", "std"):
                count = len(getattr(a, name))
                require(
                    channels == -1 or count in (1, channels) or (count == 4 and _unset(a, name)),
                    f"{name}: expected 1 or {channels} numbers, got {getattr(a, name)}",
                )
        return Spec(data.shape, data.dtype)

    infer_back = back_data

    def grad(a, F, g, specs):
        std = _by_channel(a, "std", specs[0].shape[-3])
        if len(set(std)) == 1:
            return g / std[0]
        return F._image_normalize(g, mean=(0.0,), std=std)

    def ref(a, xp, data):
        channels = data.shape[-3]
        mean, std = (
            xp.asarray(_by_channel(a, name, channels), data.dtype)[:, None, None]
            for name in ("mean", "std")
        )
        return (data - mean) / std

    samples = (
        sample((3, 2, 4), mean=(0.5, 0.25, 0.125), std=(0.5, 2.0, 4.0)),
        sample((2, 1, 3, 2), mean=(0.5,), std=(0.25,)),
        sample((1, 2, 2)),
    )


def _unset(a, name):
    return getattr(a, name) == {"mean": (0.0,) * 4, "std": (1.0,) * 4}[name]


def _by_channel(a, name, channels):
    numbers = getattr(a, name)
    return numbers * channels if len(numbers) == 1 else numbers[:channels]


@op("_image_crop", aliases=("_npx__image_crop",), dtypes=_PIXELS)
class Crop:
    """Crop an image, or each image of a batch, with the top left corner at (`x`, `y`)."""

    x: Int
    y: Int
    width: Int
    height: Int

    def infer(a, data):
        require(min(a.width, a.height) > 0, f"width, height: not positive: {a.width}, {a.height}")
        require(min(a.x, a.y) >= 0, f"x, y: must not be negative, got {a.x}, {a.y}")
        if not check_image(data):
            return Spec(None, data.dtype)
        *batch, height, width, channels = data.shape
        for end, extent, name in ((a.x + a.width, width, "x"), (a.y + a.height, height, "y")):
            fits = extent == -1 or end <= extent
            require(fits, f"{name}: the part ends at {end} in an image {data.shape}")
        return Spec((*batch, a.height, a.width, channels), data.dtype)

    def grad(a, F, g, specs):
        begin = (*[0] * (specs[0].ndim - 3), a.y, a.x, 0)
        ends = (a.y + a.height, a.x + a.width, specs[0].shape[-1])
        end = (*specs[0].shape[:-3], *ends)
        return F._backward_slice(g, begin=begin, end=end, shape=specs[0].shape)

    def ref(a, xp, data):
        return data[..., a.y : a.y + a.height, a.x : a.x + a.width, :].copy()

    def _loops(a, ins, outs):
        starts = [*[0] * (ins[0].ndim - 3), a.y, a.x, 0]
        offset, strides = walk(ins[0].shape, starts, [1] * ins[0].ndim)
        return loops(outs[0].shape, strides, src_offset=offset)

    kernels = (strided(_loops),)
    samples = (
        sample((4, 5, 3), x=1, y=2, width=3, height=2),
        sample((2, 3, 3, 1), x=0, y=1, width=3, height=1),
    )


def _flip(name, axis, doc):
    def flipped_loops(a, ins, outs):
        strides = strides_of(ins[0].shape)
        offset = max(ins[0].shape[axis] - 1, 0) * strides[axis]
        strides[axis] = -strides[axis]
        return loops(ins[0].shape, strides, src_offset=offset)

    class Flip:
        def infer(a, data):
            check_image(data, batches=False)
            return Spec(data.shape, data.dtype)

        infer_back = back_data

        def grad(a, F, g):
            return F.reverse(g, axis=axis)

        def ref(a, xp, data):
            return xp.flip(data, axis)

        kernels = (strided(flipped_loops),)
        samples = (sample((2, 3, 3)), sample((3, 2, 1)))

    Flip.__doc__ = doc
    op(name, aliases=(f"_npx_{name}",), dtypes=_PIXELS)(Flip)


_flip("_image_flip_left_right", 1, "Flip an image (height, width, channel) left to right.")
_flip("_image_flip_top_bottom", 0, "Flip an image (height, width, channel) top to bottom.")
