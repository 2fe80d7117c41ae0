"""Iterator over RecordIO files of images with object annotations."""

from types import SimpleNamespace

import numpy as np

from mxcy._library.opencv import opencv
from mxcy.base import MXNetError
from mxcy.io.det_augmenter import DET_AUGMENTATION, DetImageAugmenter, ObjectLabel
from mxcy.io.image_loader import ImageBatches, decoder
from mxcy.io.image_values import PlaneWriter, mean_image
from mxcy.io.labels import Labels
from mxcy.io.loader_iter import MXDataIter
from mxcy.io.parameters import BATCHES, READING, Parameter, dtype_of, iterator, parsed
from mxcy.io.record_source import RecordSource
from mxcy.ops.core.attrs import Float, Int, IntOrNone, Str

__all__ = ["ImageDetRecordIter"]

_USER = "ImageDetRecordIter"
_FRONT = 4  # numbers before a label: channels, height, width, length
_TABLE = (
    *(p for p in READING if p.name != "label_width"),
    Parameter("label_width", Int, -1, "Length of a label; -1 for any."),
    Parameter("label_pad_width", Int, 0, "Pad labels to this length; 0 for the longest."),
    Parameter("label_pad_value", Float, -1.0, "Padding value of labels."),
    Parameter("seed_aug", IntOrNone, None, "Seed of the augmentation, instead of seed."),
    Parameter("aug_seq", Str, "det_aug_default", "Only 'det_aug_default'."),
    *DET_AUGMENTATION,
    Parameter("mean_img", Str, "", "File with a mean image to subtract."),
    *(Parameter(f"mean_{c}", Float, 0.0, f"Mean of channel {c.upper()}.") for c in "rgba"),
    *(
        Parameter(f"std_{c}", Float, 0.0, f"Standard deviation of channel {c.upper()}; 0 means 1.")
        for c in "rgba"
    ),
    Parameter("scale", Float, 1.0, "Final factor of the values."),
    *BATCHES,
)


class _Work:
    """Decodes, augments and writes one image with its label; shared by threads."""

    def __init__(self, decode, augment, write, pad_value):
        self._decode, self._augment, self._write = decode, augment, write
        self._pad_value = pad_value

    def __call__(self, content, label, planes, labels, place, draw):
        label = ObjectLabel(label)
        pixels = self._augment(self._decode(content), label, draw)
        height, width = pixels.shape[:2]
        if (height, width) != planes.shape[1:]:
            padded = np.zeros((*planes.shape[1:], *pixels.shape[2:]), np.uint8)
            part = pixels[: planes.shape[1], : planes.shape[2]]
            padded[: part.shape[0], : part.shape[1]] = part
            pixels = padded
        self._write(pixels, planes, draw)
        numbers = label.numbers()
        row = labels[place]
        if len(numbers) + _FRONT > len(row):
            raise MXNetError(
                f"{_USER}: a label of {len(numbers)} values is longer than label_pad_width, "
                f"{len(row) - _FRONT}"
            )
        row[:_FRONT] = len(planes), height, width, len(numbers)
        row[_FRONT : _FRONT + len(numbers)] = numbers
        row[_FRONT + len(numbers) :] = self._pad_value


@iterator(_TABLE)
def ImageDetRecordIter(**kwargs):
    """Iterate over images with objects in a RecordIO file created by ``tools/im2rec.py``.

    An image's label is: length of the header (at least 2), length of an object (at least 5), the
    rest of the header, then the objects: class, left, top, right and bottom as fractions of the
    width and height, and optional values. In batches it is preceded by the channels, height and
    width of the image and the length of the label.

    Parameters
    ----------
    **kwargs

    Returns
    -------
    MXDataIter
        Batches (batch_size, channel, height, width), and labels (batch_size, 4 + longest label).

    Raises
    ------
    MXNetError
        If parameters contradict each other, a file is missing or damaged, or OpenCV is not
        installed; while iterating, if a record is not a suitable image.
    """
    o = parsed(_USER, _TABLE, kwargs)
    if o.data_shape is None or len(o.data_shape) != 3 or min(o.data_shape) < 1:
        raise MXNetError(
            f"{_USER}: data_shape: expected (channel, height, width), got {o.data_shape}"
        )
    if o.aug_seq != "det_aug_default":
        raise MXNetError(f"{_USER}: aug_seq: only 'det_aug_default' is known, got {o.aug_seq!r}")
    dtype = dtype_of(o.dtype, "float32")
    take_apart = Labels(_USER, o.label_width, o.path_imglist)
    work = _Work(
        decoder(_USER, o.data_shape[0]), DetImageAugmenter(o), _writer(o, dtype), o.label_pad_value
    )
    shape = (o.batch_size, _FRONT + _label_width(o, take_apart))
    loader = ImageBatches(_USER, o, take_apart, work, dtype, shape)
    return MXDataIter(loader, data_name=o.data_name, label_name=o.label_name)


def _writer(o, dtype):
    values = {f"{kind}_{c}": getattr(o, f"{kind}_{c}") for kind in ("mean", "std") for c in "rgba"}
    values = {name: value or float(name.startswith("std")) for name, value in values.items()}
    plain = SimpleNamespace(
        **values,
        data_shape=o.data_shape,
        scale=o.scale,
        mirror=False,
        rand_mirror=False,
        max_random_contrast=0.0,
        max_random_illumination=0.0,
    )
    mean = mean_image(o.mean_img, o.data_shape, _plain_images(o)) if o.mean_img else None
    return PlaneWriter(opencv(_USER), plain, dtype, mean)


def _plain_images(o):
    """The images as arrays, in order and without random augmentation."""
    images = ImageDetRecordIter(
        path_imgrec=o.path_imgrec,
        data_shape=o.data_shape,
        batch_size=1,
        verbose=False,
        path_imglist=o.path_imglist,
        resize_mode=o.resize_mode,
    )
    for batch in images:
        yield batch.data[0].asnumpy()[0]


def _label_width(o, take_apart):
    """The length that fits all labels."""
    if not o.path_imgrec:
        raise MXNetError(f"Required parameter path_imgrec is not presented, in {_USER}")
    source = RecordSource(
        _USER, o.path_imgrec, o.path_imgidx, (o.part_index, o.num_parts), False, 0
    )
    longest = max((len(take_apart(record)[1]) for record in source.epoch(0)), default=0)
    if 0 < o.label_pad_width < longest:
        raise MXNetError(
            f"{_USER}: label_pad_width: {o.label_pad_width} is less than the longest label, "
            f"{longest}"
        )
    return o.label_pad_width or longest
