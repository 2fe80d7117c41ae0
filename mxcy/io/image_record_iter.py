"""Iterators over RecordIO files of images, decoded by OpenCV in threads."""

import numpy as np

from mxcy._library.opencv import opencv
from mxcy.base import MXNetError
from mxcy.io.image_augmenter import AUGMENTATION, ImageAugmenter
from mxcy.io.image_loader import ImageBatches, decoder
from mxcy.io.image_values import NORMALISATION, PlaneWriter, RawWriter, mean_image
from mxcy.io.labels import Labels
from mxcy.io.loader_iter import MXDataIter
from mxcy.io.parameters import BATCHES, READING, Parameter, dtype_of, iterator, parsed
from mxcy.ops.core.attrs import IntOrNone, Str

__all__ = [
    "ImageRecordInt8Iter",
    "ImageRecordIter",
    "ImageRecordIter_v1",
    "ImageRecordUInt8Iter",
    "ImageRecordUInt8Iter_v1",
]

_RAW = (
    *READING,
    Parameter("seed_aug", IntOrNone, None, "Seed of the augmentation, instead of seed."),
    Parameter("aug_seq", Str, "aug_default", "Only 'aug_default', set by other parameters."),
    *AUGMENTATION,
    *BATCHES,
)
_NORMALISED = (*_RAW, *NORMALISATION)


class _Work:
    """Decodes, augments and writes one image; shared by threads."""

    def __init__(self, decode, augment, write):
        self._decode, self._augment, self._write = decode, augment, write

    def __call__(self, content, label, planes, labels, place, draw):
        pixels = self._augment(self._decode(content), draw)
        self._write(pixels, planes, draw)
        labels[place] = label if labels.ndim > 1 else label[0]


def _iterator(user, table, arguments, make_writer):
    """Create an iterator; ``make_writer(cv2, options)`` creates the writer of its images."""
    o = parsed(user, table, arguments)
    if o.data_shape is None or len(o.data_shape) != 3 or min(o.data_shape) < 1:
        raise MXNetError(
            f"{user}: data_shape: expected (channel, height, width), got {o.data_shape}"
        )
    if o.aug_seq != "aug_default":
        raise MXNetError(f"{user}: aug_seq: only 'aug_default' is known, got {o.aug_seq!r}")
    if o.label_width < 1:
        raise MXNetError(f"{user}: label_width: expected a positive number, got {o.label_width}")
    take_apart = Labels(user, o.label_width, o.path_imglist)
    decode, augment = decoder(user, o.data_shape[0]), ImageAugmenter(o)
    write, dtype = make_writer(opencv(user), o)
    shape = (o.batch_size,) if o.label_width == 1 else (o.batch_size, o.label_width)
    loader = ImageBatches(user, o, take_apart, _Work(decode, augment, write), dtype, shape)
    return MXDataIter(loader, data_name=o.data_name, label_name=o.label_name)


@iterator(_NORMALISED)
def ImageRecordIter(**kwargs):
    """Iterate over the images of a RecordIO file created by ``tools/im2rec.py``.

    Each image is decoded, resized, rotated, sheared, scaled and stretched, padded, cropped to
    `data_shape`, changed in its colours, and normalized to RGB planes of
    ``(value - mean) / std * scale``; steps that are not requested are skipped. The order of images
    and all random numbers depend on the seeds only, not on the number of threads.

    An incomplete last batch is padded with images of the next epoch, which then starts after them,
    or without `round_batch` with zeros; the batch's `pad` is their number.

    Parameters
    ----------
    **kwargs

    Returns
    -------
    MXDataIter
        Batches (batch_size, channel, height, width), their labels (batch_size,) or (batch_size,
        label_width), and the images' numbers as `index`.

    Raises
    ------
    MXNetError
        If parameters contradict each other, a file is missing or damaged, or OpenCV is not
        installed; while iterating, if a record is not a suitable image.
    """

    def writer(cv2, o):
        if o.dtype in ("uint8", "int8"):
            return RawWriter(cv2, dtype_of(o.dtype, None)), dtype_of(o.dtype, None)
        dtype = dtype_of(o.dtype, "float32")
        mean = mean_image(o.mean_img, o.data_shape, _plain_images(o)) if o.mean_img else None
        return PlaneWriter(cv2, o, dtype, mean), dtype

    return _iterator("ImageRecordIter", _NORMALISED, kwargs, writer)


def _plain_images(options):
    """The images of an iterator as arrays, in order and without random augmentation."""
    o = options
    images = ImageRecordIter(
        path_imgrec=o.path_imgrec,
        data_shape=o.data_shape,
        resize=o.resize,
        batch_size=1,
        label_width=o.label_width,
        path_imglist=o.path_imglist,
        verbose=False,
    )
    for batch in images:
        yield batch.data[0].asnumpy()[0]


@iterator(_NORMALISED)
def ImageRecordIter_v1(**kwargs):
    """Alias of `ImageRecordIter`.

    Parameters
    ----------
    **kwargs

    Returns
    -------
    MXDataIter
    """
    return ImageRecordIter(**kwargs)


def _raw(user, arguments, dtype):
    return _iterator(user, _RAW, arguments, lambda cv2, o: (RawWriter(cv2, dtype), dtype))


@iterator(_RAW)
def ImageRecordUInt8Iter(**kwargs):
    """`ImageRecordIter` without normalization: batches of uint8.

    Parameters
    ----------
    **kwargs

    Returns
    -------
    MXDataIter
    """
    return _raw("ImageRecordUInt8Iter", kwargs, np.uint8)


@iterator(_RAW)
def ImageRecordUInt8Iter_v1(**kwargs):
    """Alias of `ImageRecordUInt8Iter`.

    Parameters
    ----------
    **kwargs

    Returns
    -------
    MXDataIter
    """
    return ImageRecordUInt8Iter(**kwargs)


@iterator(_RAW)
def ImageRecordInt8Iter(**kwargs):
    """`ImageRecordIter` without normalization: batches of int8.

    Parameters
    ----------
    **kwargs

    Returns
    -------
    MXDataIter
    """
    return _raw("ImageRecordInt8Iter", kwargs, np.int8)
