"""Loader of image batches, decoded and augmented in background threads."""

import itertools
import logging
import os
import random
import weakref

import numpy as np

from mxcy import ndarray as nd
from mxcy._base import cpus
from mxcy._library.opencv import opencv
from mxcy.base import MXNetError
from mxcy.context import cpu
from mxcy.io.batch_threads import BatchThreads
from mxcy.io.record_source import RecordSource

__all__ = ["ImageBatches", "decoder"]


class _Batch:
    """The arrays of one batch, and the views that threads write to."""

    def __init__(self, data_shape, data_dtype, label_shape):
        self.data = nd.empty(data_shape, ctx=cpu(), dtype=data_dtype)
        self.label = nd.empty(label_shape, ctx=cpu())
        self.planes, self.labels = self.data.numpy_view(), self.label.numpy_view()
        self.numbers = np.zeros(data_shape[0], np.uint64)
        self.filled, self.error = 0, None


class ImageBatches:
    """The loader of `ImageRecordIter` and its variants; see `MXDataIter`.

    Parameters
    ----------
    user : str
        Name of the iterator, for messages.
    options : namespace
        Values of the tables in `mxcy.io.parameters`, and `path_imgrec`.
    take_apart : callable
        Splits a record into number, label and encoded image.
    work : callable
        ``work(content, label, planes, labels, place, draw)`` writes an image to the planes and
        its label to a slot of the labels.
    data_dtype : type
    label_shape : tuple of int
        Shape of a batch of labels.
    """

    def __init__(self, user, options, take_apart, work, data_dtype, label_shape):
        o = options
        if not o.path_imgrec:
            raise MXNetError(f"Required parameter path_imgrec is not presented, in {user}")
        if o.preprocess_threads < 1 or o.batch_size < 1:
            raise MXNetError(f"{user}: batch_size and preprocess_threads must be positive")
        self._source = RecordSource(
            user,
            o.path_imgrec,
            o.path_imgidx,
            (o.part_index, o.num_parts),
            o.shuffle,
            o.seed,
            o.shuffle_chunk_size,
            o.shuffle_chunk_seed,
        )
        self._user, self._options = user, o
        self._fill = _Filling(take_apart, work, o.seed if o.seed_aug is None else o.seed_aug)
        self.data_shape = (o.batch_size, *o.data_shape)
        self.data_dtype, self.label_dtype = data_dtype, np.float32
        self.label_shape = label_shape
        self._epoch = -1
        self._count = min(o.preprocess_threads, cpus.logical_processors())
        self._skip = 0  # images of the next epoch used to pad this one's last batch
        self._stop = None
        if o.verbose:
            logging.info("%s: %s, use %d threads for decoding..", user, o.path_imgrec, self._count)

    def restart(self):
        """Start an epoch."""
        self._epoch += 1
        if self._stop is not None:
            self._stop()
        skip, self._skip = self._skip, 0
        o = self._options
        self._ends = _Ends()
        more = o.batch_size if o.round_batch else 0
        records = _numbered(self._source, self._epoch, skip, more, self._ends)
        self._threads = BatchThreads(records, self._fill, o.batch_size, self._count)
        self._process = os.getpid()
        self._stop = weakref.finalize(self, self._threads.stop)
        for _ in range(max(1, o.prefetch_buffer)):
            self._threads.offer(self._empty_batch())
        self._given = 0

    def _empty_batch(self):
        return _Batch(self.data_shape, self.data_dtype, self.label_shape)

    def load(self):
        """The next batch: data, labels, padding and image numbers; None after the last."""
        if self._process != os.getpid():  # threads do not survive a fork
            self._stop.detach()
            self._stop = None
            self.restart()
        batch = self._threads.take()
        if batch is None:
            return None
        self._threads.offer(self._empty_batch())
        self._given += len(batch.numbers)
        pad = 0
        if self._ends.count is not None and self._given > self._ends.count:
            pad = self._given - self._ends.count
            if self._options.round_batch:
                self._skip = pad
            else:
                batch.planes[batch.filled :] = 0
                batch.labels[batch.filled :] = 0
        return batch.data, batch.label, pad, batch.numbers


class _Ends:
    """The number of images in an epoch, once known."""

    count = None


def _numbered(source, epoch, skip, batch_size, ends):
    """The numbered records of an epoch.

    Skips the first `skip` records and appends records of the next epoch to complete a batch of
    `batch_size`, unless that is 0.
    """
    count = 0
    for number, record in enumerate(source.epoch(epoch)):
        if number >= skip:
            count += 1
            yield (epoch, number), record
    ends.count = count
    missing = -count % batch_size if batch_size and count else 0
    while missing:
        for number, record in enumerate(itertools.islice(source.epoch(epoch + 1), missing)):
            missing -= 1
            yield (epoch + 1, number), record


class _Filling:
    """Processes records into batches; shared by threads."""

    def __init__(self, take_apart, work, seed):
        self._take_apart, self._work, self._seed = take_apart, work, seed

    def __call__(self, batch, place, number, record):
        image, label, content = self._take_apart(record)
        draw = _Draw((self._seed, *number))
        batch.numbers[place] = image
        self._work(content, label, batch.planes[place], batch.labels, place, draw)


class _Draw:
    """Random numbers determined by a key; created on first use."""

    def __init__(self, key):
        self._key = key

    def __getattr__(self, name):
        drawn = random.Random(" ".join(map(str, self._key)))
        for method in ("random", "uniform", "randint", "gauss", "shuffle", "sample"):
            setattr(self, method, getattr(drawn, method))
        return getattr(self, name)


def decoder(user, channels):
    """Return a function that decodes an image file's content to pixels.

    Parameters
    ----------
    user : str
        Name of the iterator, for messages.
    channels : {1, 3, 4}

    Returns
    -------
    callable
        Maps a uint8 numpy.ndarray to another: (height, width), or BGR (height, width, channel).

    Raises
    ------
    MXNetError
        If OpenCV is not installed; from the function, if decoding fails or the number of channels
        differs.
    """
    cv2 = opencv(user)
    flags = {1: cv2.IMREAD_GRAYSCALE, 3: cv2.IMREAD_COLOR, 4: cv2.IMREAD_UNCHANGED}
    if channels not in flags:
        raise MXNetError(f"{user}: data_shape: expected 1, 3 or 4 channels, got {channels}")

    def decode(content):
        pixels = cv2.imdecode(content, flags[channels]) if content.size else None
        if pixels is None:
            raise MXNetError(f"{user}: a record is not an image that OpenCV can decode")
        channels_read = 1 if pixels.ndim == 2 else pixels.shape[2]
        if channels_read != channels:
            raise MXNetError(f"{user}: an image has {channels_read} channels instead of {channels}")
        return pixels

    return decode
