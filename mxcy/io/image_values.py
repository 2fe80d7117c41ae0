"""Conversion of uint8 BGR images to normalized RGB planes."""

import os
import threading

import numpy as np

from mxcy import ndarray as nd
from mxcy._base.files import local_path
from mxcy.base import MXNetError
from mxcy.io.parameters import Parameter
from mxcy.ops.core.attrs import Bool, Float, Str

__all__ = ["NORMALISATION", "PlaneWriter", "RawWriter", "mean_image"]

_CHANNELS = "rgba"

NORMALISATION = (
    Parameter("mirror", Bool, False, "Flip horizontally."),
    Parameter("rand_mirror", Bool, False, "Flip horizontally with probability 1/2."),
    Parameter("mean_img", Str, "", "File with a mean image to subtract; computed if missing."),
    *(Parameter(f"mean_{c}", Float, 0.0, f"Mean of channel {c.upper()}.") for c in _CHANNELS),
    *(
        Parameter(f"std_{c}", Float, 1.0, f"Standard deviation of channel {c.upper()}.")
        for c in _CHANNELS
    ),
    Parameter("scale", Float, 1.0, "Final factor of the values."),
    Parameter("max_random_contrast", Float, 0.0, "Maximum deviation of a random factor from 1."),
    Parameter("max_random_illumination", Float, 0.0, "Maximum absolute value of a random offset."),
)

_BYTES = np.arange(256, dtype=np.float32)


class _Splitter:
    """Splits images into channels, in a buffer that each thread reuses."""

    def __init__(self, cv2):
        self._cv2, self._kept = cv2, threading.local()

    def __call__(self, pixels):
        """The channels of an image, valid until the thread's next call."""
        planes = getattr(self._kept, "planes", None)
        channels = 1 if pixels.ndim == 2 else pixels.shape[2]
        if planes is None or (len(planes), *planes[0].shape) != (channels, *pixels.shape[:2]):
            planes = [np.empty(pixels.shape[:2], np.uint8) for _ in range(channels)]
            self._kept.planes = planes
        return self._cv2.split(pixels, planes)


class RawWriter:
    """Writes the bytes of images unchanged.

    Parameters
    ----------
    cv2 : module
    dtype : type
        uint8, or int8 (saturated).
    """

    def __init__(self, cv2, dtype):
        self._split, self._most = _Splitter(cv2), np.iinfo(dtype).max

    def __call__(self, pixels, planes, draw):
        """Write an image (height, width, channel) to planes (channel, height, width)."""
        for channel, plane in zip(_order(len(planes)), self._split(pixels), strict=True):
            planes[channel] = plane if self._most == 255 else np.minimum(plane, self._most)


class PlaneWriter:
    """Writes normalized images.

    Parameters
    ----------
    cv2 : module
    options : namespace
        Values of `NORMALISATION` and `data_shape`.
    dtype : type
        Dtype of the planes.
    mean : numpy.ndarray, optional
        Mean image (channel, height, width), instead of the channels' means.
    """

    def __init__(self, cv2, options, dtype, mean=None):
        self._cv2, self._o, self._mean, self._split = cv2, options, mean, _Splitter(cv2)
        self._type = dtype if dtype in (np.float32, np.float64) else np.float32
        channels = options.data_shape[0]
        names = _CHANNELS[:channels]
        self._means = [getattr(options, f"mean_{c}") if mean is None else 0.0 for c in names]
        self._stds = [getattr(options, f"std_{c}") for c in names]
        if 0.0 in self._stds:
            raise MXNetError("ImageRecordIter: std_r, std_g, std_b, std_a must not be 0")
        self._varies = options.max_random_contrast > 0 or options.max_random_illumination > 0
        self._tables = self._made_tables(1.0, 0.0)
        self._mirrors = options.mirror or options.rand_mirror

    def _made_tables(self, contrast, illumination):
        """Look-up tables of each channel: byte -> normalized value."""
        scale = self._o.scale
        return [
            (((_BYTES - np.float32(mean)) * contrast + illumination) * scale / std).astype(
                self._type
            )
            for mean, std in zip(self._means, self._stds, strict=True)
        ]

    def _mean_part(self, channel, contrast):
        """The part of a channel of the mean image that is subtracted."""
        return self._mean[channel] * (contrast * self._o.scale / self._stds[channel])

    def __call__(self, pixels, planes, draw):
        """Write an image.

        Parameters
        ----------
        pixels : numpy.ndarray of uint8
            (height, width) or (height, width, channel)
        planes : numpy.ndarray
            (channel, height, width)
        draw : random.Random
        """
        o, tables, contrast = self._o, self._tables, 1.0
        if self._varies:
            contrast = 1 + draw.uniform(-o.max_random_contrast, o.max_random_contrast)
            light = draw.uniform(-o.max_random_illumination, o.max_random_illumination)
            tables = self._made_tables(contrast, light)
        if self._mirrors and (o.mirror or draw.random() < 0.5):
            pixels = self._cv2.flip(pixels, 1)
        for channel, plane in zip(_order(len(planes)), self._split(pixels), strict=True):
            place = planes[channel]
            if self._mean is not None:
                place[...] = tables[channel][plane] - self._mean_part(channel, contrast)
            elif place.dtype != self._type:
                place[...] = self._cv2.LUT(plane, tables[channel])
            else:
                self._cv2.LUT(plane, tables[channel], dst=place)


def _order(channels):
    """Positions of OpenCV's channels."""
    return {1: (0,), 3: (2, 1, 0), 4: (2, 1, 0, 3)}[channels]


def mean_image(path, shape, images):
    """Load the mean image from a file, computing and writing it if missing.

    Parameters
    ----------
    path : str
    shape : tuple of int
        (channel, height, width)
    images : iterable of numpy.ndarray
        All images, in that shape; only read to create the file.

    Returns
    -------
    numpy.ndarray of float32

    Raises
    ------
    MXNetError
        If the file lacks an array ``mean_img`` of that shape.
    """
    if not os.path.exists(local_path(path)):
        total, count = np.zeros(shape, np.float64), 0
        for image in images:
            total += image
            count += 1
        nd.save(path, {"mean_img": nd.array(total / max(count, 1))})
    arrays = nd.load(path)
    mean = arrays.get("mean_img") if isinstance(arrays, dict) else None
    if mean is None or mean.shape != tuple(shape):
        raise MXNetError(f"mean_img: {path} has no array 'mean_img' of shape {tuple(shape)}")
    return mean.asnumpy()
