"""Datasets for examples and tests."""

import bz2
import logging
import os
import shutil
import struct
from pathlib import Path

import numpy as np

from mxcy._base.files import replacing, unpack_zip
from mxcy.gluon import utils
from mxcy.io import DataIter, MNISTIter
from mxcy.io.mnist_iter import read_idx

__all__ = [
    "DummyIter",
    "download",
    "get_bz2_data",
    "get_mnist",
    "get_mnist_iterator",
    "get_mnist_ubyte",
    "get_zip_data",
]

_SHIPPED = Path(__file__).resolve().parents[1] / "examples" / "data" / "mnist_5k.npz"
#: part -> MNIST's file names of images and labels
_MNIST = {
    "train": ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    "test": ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
}


def download(url, fname=None, dirname=None, overwrite=False, retries=5):
    """Download a file.

    Parameters
    ----------
    url : str
        URL of the file.
    fname : str, optional
        File name; the last part of `url` by default.
    dirname : str, optional
        Directory, created if missing.
    overwrite : bool
        Download even if the file exists.
    retries : int
        Number of retries after a failure.

    Returns
    -------
    str
        Path of the file.
    """
    fname = url.split("/")[-1] if fname is None else fname
    if dirname is None:
        dirname = os.path.dirname(fname)
    else:
        fname = os.path.join(dirname, fname)
    if dirname:
        os.makedirs(dirname, exist_ok=True)
    return utils.download(url, path=fname, overwrite=overwrite, retries=retries)


def get_zip_data(data_dir, url, data_origin_name):
    """Download a zip file into a directory, and unpack it there.

    Parameters
    ----------
    data_dir : str
        Directory.
    url : str
        URL of the file.
    data_origin_name : str
        File name of the download.
    """
    path = os.path.join(data_dir, data_origin_name)
    if not os.path.exists(path):
        download(url, data_origin_name, data_dir)
        unpack_zip(path, data_dir)


def get_bz2_data(data_dir, data_name, url, data_origin_name):
    """Download a bzip2 file into a directory, and unpack it there.

    Parameters
    ----------
    data_dir : str
        Directory.
    data_name : str
        File name of the unpacked file.
    url : str
        URL of the file.
    data_origin_name : str
        File name of the download.
    """
    target = os.path.join(data_dir, data_name)
    if os.path.exists(target):
        return
    packed = download(url, data_origin_name, data_dir)
    with bz2.open(packed) as source, replacing(target) as file:
        shutil.copyfileobj(source, file)
    os.remove(packed)


def _shipped_digits():
    """Return the bundled digits: {part: (images (n, 28, 28) uint8, labels (n,) uint8)}."""
    with np.load(_SHIPPED) as content:
        images, labels = content["images"], content["digits"]
    # Shuffle the classes, always in the same order.
    order = np.random.RandomState(0).permutation(len(labels))
    train, test = order[:4000], order[4000:]
    return {"train": (images[train], labels[train]), "test": (images[test], labels[test])}


def _mnist_files(path):
    """Return {part: (image file, label file)} if a directory has all, plain or gzipped."""
    result = {}
    for part, names in _MNIST.items():
        files = [
            next((f for f in (Path(path, name), Path(path, name + ".gz")) if f.exists()), None)
            for name in names
        ]
        if None in files:
            return None
        result[part] = tuple(map(str, files))
    return result


def get_mnist(path="data"):
    """Return the MNIST handwritten digits.

    Parameters
    ----------
    path : str
        Directory with the four files of MNIST, plain or gzipped. Without them, the 5,000 digits
        bundled with mxcy are returned, 4,000 of them for training.

    Returns
    -------
    dict of str to numpy.ndarray
        ``train_data`` and ``test_data``: float32 (n, 1, 28, 28) in 0..1; ``train_label`` and
        ``test_label``: int8 (n,).
    """
    files = _mnist_files(path)
    if files is None:
        logging.info("There is no MNIST in %s; taking the 5,000 digits that come with mxcy", path)
        parts = _shipped_digits()
    else:
        parts = {part: (read_idx(i, 3), read_idx(n, 1)) for part, (i, n) in files.items()}
    arrays = {}
    for part, (images, labels) in parts.items():
        arrays[f"{part}_data"] = images[:, None].astype(np.float32) / 255
        arrays[f"{part}_label"] = labels.astype(np.int8)
    return arrays


def get_mnist_ubyte(path="data"):
    """Write the four files of MNIST to a directory, unless they exist.

    Parameters
    ----------
    path : str
        Directory. The files contain the digits bundled with mxcy.
    """
    if _mnist_files(path) is not None:
        return
    os.makedirs(path, exist_ok=True)
    for part, arrays in _shipped_digits().items():
        for name, array in zip(_MNIST[part], arrays, strict=True):
            header = struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
            with replacing(Path(path, name)) as file:
                file.write(header + array.tobytes())


def get_mnist_iterator(batch_size, input_shape, num_parts=1, part_index=0, path="data"):
    """Return iterators over handwritten digits; see `get_mnist_ubyte`.

    Parameters
    ----------
    batch_size : int
        Digits per batch.
    input_shape : tuple of int
        ``(784,)`` for flat images, else ``(1, 28, 28)``.
    num_parts, part_index : int
        See `mx.io.MNISTIter`; for the training digits.
    path : str
        Directory of the files.

    Returns
    -------
    tuple of MXDataIter
        Training and validation iterators.
    """
    get_mnist_ubyte(path)
    files = _mnist_files(path)
    options = {"batch_size": batch_size, "flat": len(input_shape) != 3}
    images, labels = files["train"]
    train = MNISTIter(
        images, labels, shuffle=True, num_parts=num_parts, part_index=part_index, **options
    )
    images, labels = files["test"]
    return train, MNISTIter(images, labels, shuffle=False, **options)


class DummyIter(DataIter):
    """Iterator that repeats the first batch of another forever, to time all but data loading.

    Parameters
    ----------
    real_iter : DataIter
        Iterator to take the batch from.
    """

    def __init__(self, real_iter):
        super().__init__(real_iter.batch_size)
        self.real_iter = real_iter
        self.provide_data = real_iter.provide_data
        self.provide_label = real_iter.provide_label
        self.the_batch = next(real_iter)

    def next(self):
        return self.the_batch
