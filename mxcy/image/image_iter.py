"""Iterator over images that reads, decodes and augments in the calling thread."""

import logging
import os
import random

import numpy as np

from mxcy import env, recordio
from mxcy import ndarray as nd
from mxcy._base.files import local_path, text_lines
from mxcy.base import MXNetError, numeric_types
from mxcy.image.create import CreateAugmenter
from mxcy.image.reading import imdecode
from mxcy.io.batch import DataBatch, DataDesc
from mxcy.io.iterator import DataIter

__all__ = ["ImageIter"]

_LAST_BATCH = ("pad", "discard", "roll_over")


class ImageIter(DataIter):
    """Iterate over batches of images from a RecordIO file or a list of image files.

    Parameters
    ----------
    batch_size : int
    data_shape : tuple of int
        (channel, height, width) of an image; three channels.
    label_width : int
        Labels per image.
    path_imgrec : str, optional
        RecordIO file created by `mx.recordio` or ``im2rec``.
    path_imglist : str, optional
        File with one tab-separated line per image: number, labels, path. Together with
        `path_imgrec`, its labels replace those of the records.
    path_root : str, optional
        Folder that paths are relative to.
    path_imgidx : str, optional
        Index of `path_imgrec`, required for shuffling or reading a part.
    shuffle : bool
        Visit the images in random order, drawn each epoch from Python's `random`.
    part_index, num_parts : int
        Read part `part_index` of `num_parts` equal parts.
    aug_list : list of Augmenter, optional
        Defaults to ``CreateAugmenter(data_shape, **kwargs)``.
    imglist : list, optional
        Lists of labels and a path, instead of a file.
    data_name, label_name : str
    dtype : {'float32', 'int32', 'float64', 'int64'}
        Dtype of labels.
    last_batch_handle : {'pad', 'discard', 'roll_over'}
        Handling of an incomplete last batch: pad it from the start, drop it, or carry its
        images over to the next epoch.

    Raises
    ------
    AssertionError
        If there is no source, or parameters contradict each other.
    """

    def __init__(
        self,
        batch_size,
        data_shape,
        label_width=1,
        path_imgrec=None,
        path_imglist=None,
        path_root=None,
        path_imgidx=None,
        shuffle=False,
        part_index=0,
        num_parts=1,
        aug_list=None,
        imglist=None,
        data_name="data",
        label_name="softmax_label",
        dtype="float32",
        last_batch_handle="pad",
        **kwargs,
    ):
        super().__init__(batch_size)
        assert path_imgrec or path_imglist or isinstance(imglist, list), (
            "ImageIter needs path_imgrec, path_imglist or imglist"
        )
        assert dtype in ("int32", "float32", "int64", "float64"), f"{dtype} label not supported"
        assert last_batch_handle in _LAST_BATCH, (
            f"last_batch_handle must be one of {_LAST_BATCH}, got {last_batch_handle!r}"
        )
        self.check_data_shape(data_shape)
        self.data_shape, self.label_width, self.dtype = tuple(data_shape), label_width, dtype
        self.path_root, self.shuffle = path_root, shuffle
        self.last_batch_handle = last_batch_handle
        self.imgrec, self.imgidx = _open_records(path_imgrec, path_imgidx)
        self.imglist = None
        if path_imglist:
            self.imglist = _read_list(path_imglist, dtype)
        elif isinstance(imglist, list):
            self.imglist = _numbered_list(imglist, dtype)
        if self.imgrec is None:
            self.seq = list(self.imglist)
        else:
            assert self.imgidx is not None or not (shuffle or num_parts > 1), (
                "shuffle and num_parts need path_imgidx"
            )
            self.seq = self.imgidx
        if num_parts > 1:
            assert part_index < num_parts, f"there is no part {part_index} of {num_parts}"
            count = len(self.seq) // num_parts
            self.seq = self.seq[part_index * count : (part_index + 1) * count]
        self.num_image = None if self.seq is None else len(self.seq)
        self.auglist = CreateAugmenter(data_shape, **kwargs) if aug_list is None else aug_list
        self.provide_data = [DataDesc(data_name, (batch_size, *self.data_shape))]
        self.provide_label = [DataDesc(label_name, self._label_shape())]
        self.cur = 0
        self._left_over = []  # images and labels carried over, for 'roll_over'
        self._ended = False
        logging.info("Using %s threads for decoding...", env.get("MXNET_CPU_WORKER_NTHREADS"))
        self.reset()

    def _label_shape(self):
        if self.label_width > 1:
            return self.batch_size, self.label_width
        return (self.batch_size,)

    def reset(self):
        """Restart; with 'roll_over', images of an incomplete batch come first."""
        if self.seq is not None and self.shuffle:
            random.shuffle(self.seq)
        self._rewind()
        self._ended = False

    def hard_reset(self):
        """Restart without images carried over from the last epoch."""
        self._left_over = []
        self.reset()

    def _rewind(self):
        if self.imgrec is not None:
            self.imgrec.reset()
        self.cur = 0

    def next_sample(self):
        """Read the next image.

        Returns
        -------
        label : float, numpy.ndarray or NDArray
        data : bytes
            The encoded image.

        Raises
        ------
        StopIteration
            After the last.
        """
        if self.seq is None:
            record = self.imgrec.read()
            if record is None:
                raise StopIteration
            header, data = recordio.unpack(record)
            return header.label, data
        if self.cur >= self.num_image:
            raise StopIteration
        key = self.seq[self.cur]
        self.cur += 1
        if self.imgrec is None:
            label, name = self.imglist[key]
            return label, self.read_image(name)
        header, data = recordio.unpack(self.imgrec.read_idx(key))
        return (header.label if self.imglist is None else self.imglist[key][0]), data

    def _samples(self):
        """The remaining images of this epoch, decoded and augmented, with their labels."""
        while True:
            try:
                label, content = self.next_sample()
            except StopIteration:
                return
            data = self.imdecode(content)
            try:
                self.check_valid_image(data)
            except RuntimeError as error:
                logging.debug("Invalid image, skipping:  %s", error)
                continue
            sample = self._prepared(data, label)
            if sample is not None:
                yield sample

    def _prepared(self, data, label):
        """Prepare an augmented image and its label for a batch."""
        return self.postprocess_data(self.augmentation_transform(data)), label

    def next(self):
        if self._ended:
            raise StopIteration
        samples = self._left_over
        self._left_over = []
        for sample in self._samples():
            samples.append(sample)
            if len(samples) == self.batch_size:
                return self._batch(samples, 0)
        if not samples or self.last_batch_handle == "discard":
            self._ended = True
            raise StopIteration
        if self.last_batch_handle == "roll_over":
            self._left_over, self._ended = samples, True
            raise StopIteration
        return self._padded(samples)

    def _padded(self, samples):
        """The last batch, padded from the start."""
        pad = self.batch_size - len(samples)
        self._ended = True
        self._rewind()
        while len(samples) < self.batch_size:
            before = len(samples)
            for sample in self._samples():
                samples.append(sample)
                if len(samples) == self.batch_size:
                    break
            else:
                self._rewind()
            if len(samples) == before:
                raise StopIteration
        return self._batch(samples, pad)

    def _batch(self, samples, pad):
        data = nd.empty((self.batch_size, *self.data_shape), dtype="float32")
        label = nd.empty(self.provide_label[0].shape, dtype=self.dtype)
        for place, (image, its_label) in enumerate(samples):
            self._check_shape(image)
            data[place] = image
            label[place] = self._label_of(its_label)
        return DataBatch([data], [label], pad=pad)

    def _check_shape(self, image):
        if image.shape != self.data_shape:
            raise MXNetError(
                f"ImageIter: an image has the shape {image.shape} after its augmenters, but "
                f"data_shape is {self.data_shape}"
            )

    def _label_of(self, label):
        if isinstance(label, nd.NDArray):
            label = label.asnumpy()
        label = np.asarray(label, self.dtype).reshape(-1)
        if label.size != self.label_width:
            raise MXNetError(
                f"ImageIter: an image has {label.size} labels, but label_width is "
                f"{self.label_width}"
            )
        return label if self.label_width > 1 else label[0]

    # --- hooks for subclasses --------------------------------------------------------------------

    def check_data_shape(self, data_shape):
        """Raise ValueError unless `data_shape` is (3, height, width)."""
        if len(data_shape) != 3:
            raise ValueError("data_shape should have length 3, with dimensions CxHxW")
        if data_shape[0] != 3:
            raise ValueError("This iterator expects inputs to have 3 channels.")

    def check_valid_image(self, data):
        """Raise RuntimeError for a decoded image without pixels, which is then skipped."""
        if len(data.shape) == 0:
            raise RuntimeError("Data shape is wrong")

    def imdecode(self, s):
        """Decode an image.

        Parameters
        ----------
        s : bytes

        Returns
        -------
        NDArray

        Raises
        ------
        MXNetError
            If the bytes are not an image; the message names it.
        """
        try:
            return imdecode(s)
        except MXNetError as error:
            raise MXNetError(f"Broken image {self._where()}: {error}") from None

    def _where(self):
        if self.seq is None:
            return "record"
        key = self.seq[self.cur - 1]
        if self.imgrec is not None:
            return f"index: {key}"
        return f"filename: {self.imglist[key][1]}"

    def read_image(self, fname):
        """Read an image file.

        Parameters
        ----------
        fname : str
            Path relative to `path_root`.

        Returns
        -------
        bytes
        """
        with open(local_path(os.path.join(self.path_root or "", fname)), "rb") as file:
            return file.read()

    def augmentation_transform(self, data):
        """Apply the augmenters to an image."""
        for augmenter in self.auglist:
            data = augmenter(data)
        return data

    def postprocess_data(self, datum):
        """Move the channels of an image to the front."""
        return nd.transpose(datum, axes=(2, 0, 1))


def _open_records(path, path_idx):
    """Open a RecordIO file; return it and its keys, each None if missing."""
    if not path:
        return None, None
    if not path_idx:
        return recordio.MXRecordIO(path, "r"), None
    records = recordio.MXIndexedRecordIO(path_idx, path, "r")
    return records, list(records.keys)


def _read_list(path, dtype):
    """Read a list file: labels and paths by number."""
    images = {}
    for number, line in enumerate(text_lines(path), 1):
        fields = line.strip().split("\t")
        try:
            label = nd.array([float(text) for text in fields[1:-1]], dtype=dtype)
            images[int(fields[0])] = label, fields[-1]
        except (ValueError, IndexError):
            raise MXNetError(
                f"ImageIter: line {number} of {path} is not a tab-separated number, "
                f"labels and path: {line!r}"
            ) from None
    return images


def _numbered_list(entries, dtype):
    """Convert a list of entries: labels and paths by number."""
    images = {}
    for number, entry in enumerate(entries, 1):
        single = len(entry) == 2 and not isinstance(entry[0], numeric_types)
        label = entry[0] if single else entry[:-1]
        images[str(number)] = nd.array(label, dtype=dtype), entry[-1]
    return images
