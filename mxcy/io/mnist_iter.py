"""Iterator over MNIST files."""

import gzip
import logging
import math
import sys
import zlib

import numpy as np

from mxcy._base.files import local_path
from mxcy.base import MXNetError
from mxcy.io.loader_iter import MXDataIter
from mxcy.ops.core.attrs import Bool, Int, UInt

__all__ = ["MNISTIter", "read_idx"]


def MNISTIter(
    image="./train-images-idx3-ubyte",
    label="./train-labels-idx1-ubyte",
    batch_size=128,
    shuffle=True,
    flat=False,
    seed=0,
    silent=False,
    num_parts=1,
    part_index=0,
    prefetch_buffer=4,
    ctx="cpu",
    dtype=None,
    data_name="data",
    label_name="softmax_label",
    **_,
):
    """Iterate over images and labels in MNIST's file format, optionally gzipped.

    An incomplete last batch is dropped.

    Parameters
    ----------
    image, label : str
        The files.
    batch_size : int
        Images per batch.
    shuffle : bool
        Visit the images in an order determined by `seed`, the same in each epoch.
    flat : bool
        Return images of shape (height * width,) instead of (1, height, width).
    seed : int
        Seed of the order.
    silent : bool
        Do not log.
    num_parts, part_index : int
        Read part `part_index` of `num_parts` equal parts.
    prefetch_buffer, ctx
        Accepted for compatibility; the files are read as a whole.
    dtype : str or type, optional
        Dtype of the images, float32 by default; values range from 0 to 255 / 256.
    data_name, label_name : str
        Names of the inputs and the labels.

    Returns
    -------
    MXDataIter

    Raises
    ------
    MXNetError
        If a file is missing or malformed, or there is no such part.
    """
    num_parts, part_index = Int.parse(num_parts), Int.parse(part_index)
    if not 0 <= part_index < num_parts:
        raise MXNetError(
            f"MNISTIter: part_index must be from 0 to num_parts - 1 = {num_parts - 1}, "
            f"got {part_index}"
        )
    images, labels = read_idx(image, 3), read_idx(label, 1)
    if len(images) != len(labels):
        raise MXNetError(f"MNISTIter: {len(images)} images, but {len(labels)} labels")
    begin, end = (len(images) * part // num_parts for part in (part_index, part_index + 1))
    rows = np.arange(begin, end)
    if Bool.parse(shuffle):
        rows = rows[_shuffled(len(rows), Int.parse(seed))]
    images = images[rows] * np.float32(1 / 256)
    if dtype not in (None, "None"):
        images = images.astype(dtype)
    images = images.reshape(len(rows), -1) if Bool.parse(flat) else images[:, None]
    loader = _ImagesLoader(images, labels[rows].astype(np.float32), rows, UInt.parse(batch_size))
    if not Bool.parse(silent):
        logging.info(
            "MNISTIter: load %d images, shuffle=%d, shape=%s",
            len(rows),
            Bool.parse(shuffle),
            loader.data_shape,
        )
    return MXDataIter(loader, data_name=data_name, label_name=label_name)


def read_idx(path, ndim):
    """Read a file in MNIST's IDX format.

    Parameters
    ----------
    path : str
        The file, optionally gzipped.
    ndim : int
        Expected number of dimensions.

    Returns
    -------
    numpy.ndarray of uint8

    Raises
    ------
    MXNetError
        If the file is missing or malformed.
    """
    try:
        with open(local_path(path), "rb") as file:
            content = file.read()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise MXNetError(f"MNISTIter: cannot read {path}: {error}") from None
    if content[:3] != b"\0\0\x08" or len(content) < 4 + 4 * ndim or content[3] != ndim:
        raise MXNetError(f"MNISTIter: {path} is not a file of bytes in {ndim} dimensions")
    shape = tuple(map(int, np.frombuffer(content, ">u4", ndim, 4)))
    if len(content) - 4 - 4 * ndim < math.prod(shape):
        raise MXNetError(f"MNISTIter: {path} ends before the last of its {shape} bytes")
    if math.prod(extent or 1 for extent in shape) > sys.maxsize:
        raise MXNetError(f"MNISTIter: {path} has the shape {shape}, larger than any array")
    return np.frombuffer(content, np.uint8, math.prod(shape), 4 + 4 * ndim).reshape(shape)


def _shuffled(count, seed):
    """A permutation, the same as that of MXNet's iterator for this seed."""
    order = np.arange(count)
    draw = np.random.RandomState(seed)
    for place in range(1, count):
        other = _below(draw, place + 1)
        order[[place, other]] = order[[other, place]]
    return order


def _below(draw, limit):
    """Draw an integer from 0 to limit - 1 like std::uniform_int_distribution from 32 bits."""
    scale = (2**32 - 1) // limit
    while True:
        number = int(draw.randint(0, 2**32, dtype=np.uint32)) // scale
        if number < limit:
            return number


class _ImagesLoader:
    """Loader of full batches, in order."""

    def __init__(self, images, labels, rows, batch_size):
        self._images, self._labels, self._rows = images, labels, rows
        self.data_shape = (batch_size, *images.shape[1:])
        self.label_shape = (batch_size,)
        self.data_dtype, self.label_dtype = images.dtype.type, labels.dtype.type
        self.batches = len(images) // batch_size
        self._start = 0

    def restart(self):
        self._start = 0

    def load(self):
        batch = slice(self._start, self._start + self.data_shape[0])
        if batch.stop > len(self._images):
            return None
        self._start = batch.stop
        return self._images[batch], self._labels[batch], 0, self._rows[batch]
