"""Public image data sets: MNIST, Fashion-MNIST and CIFAR."""

import numpy as np

from mxcy import ndarray as nd
from mxcy._base.listing import listing
from mxcy.base import MXNetError
from mxcy.gluon.data.dataset import Dataset
from mxcy.gluon.data.vision import files
from mxcy.gluon.data.vision.image_files import (
    ImageFolderDataset,
    ImageListDataset,
    ImageRecordDataset,
)
from mxcy.io.mnist_iter import read_idx

__all__ = [
    "CIFAR10",
    "CIFAR100",
    "FashionMNIST",
    "ImageFolderDataset",
    "ImageListDataset",
    "ImageRecordDataset",
    "MNIST",
]

__dir__ = listing(__name__)


class _Images(Dataset):
    """Images in a single array, with labels.

    Parameters
    ----------
    images : numpy.ndarray of uint8
        Shape (count, height, width, channels).
    labels : numpy.ndarray of int32
    transform : callable, optional
    """

    def __init__(self, images, labels, transform):
        self._data = nd.array(images, dtype=images.dtype)
        self._label = labels
        self._transform = transform

    def __getitem__(self, idx):
        item = self._data[idx], self._label[idx]
        return item if self._transform is None else self._transform(*item)

    def __len__(self):
        return len(self._label)


class MNIST(_Images):
    """Handwritten digits: 60,000 for training and 10,000 for testing.

    Items are an image, a uint8 NDArray of shape (28, 28, 1), and its label, a numpy.int32.

    Parameters
    ----------
    root : str, optional
        Folder of the files, by default ``datasets/mnist`` in MXNET_HOME. Missing files are
        downloaded from MXNET_GLUON_REPO.
    train : bool
        Training set, or test set.
    transform : callable, optional
        Function of image and label, whose results are the items.

    Raises
    ------
    MXNetError
        If a file is damaged, or missing and cannot be downloaded.
    """

    _name = "mnist"
    #: by `train`: name and SHA-1 of images and of labels
    _published = {
        True: (
            ("train-images-idx3-ubyte.gz", "6c95f4b05d2bf285e1bfb0e7960c31bd3b3f8a7d"),
            ("train-labels-idx1-ubyte.gz", "2a80914081dc54586dbdf242f9805a6b8d2a15fc"),
        ),
        False: (
            ("t10k-images-idx3-ubyte.gz", "c3a25af1f52dad7f726cce8cacb138654b760d48"),
            ("t10k-labels-idx1-ubyte.gz", "763e7fa3757d93b0cdec073cef058b2004252c17"),
        ),
    }

    def __init__(self, root=None, train=True, transform=None):
        folder = files.folder_of(root, self._name)
        images, labels = (
            read_idx(files.published(folder, self._name, *file), ndim)
            for file, ndim in zip(self._published[bool(train)], (3, 1), strict=True)
        )
        if len(images) != len(labels):
            raise MXNetError(f"{folder} has {len(images)} images, but {len(labels)} labels")
        super().__init__(images[..., None], labels.astype(np.int32), transform)


class FashionMNIST(MNIST):
    """Images of clothes, in the format of `MNIST`.

    Parameters
    ----------
    root : str, optional
        Folder of the files, by default ``datasets/fashion-mnist`` in MXNET_HOME.
    train, transform
        See `MNIST`.
    """

    _name = "fashion-mnist"
    _published = {
        True: (
            ("train-images-idx3-ubyte.gz", "0cf37b0d40ed5169c6b3aba31069a9770ac9043d"),
            ("train-labels-idx1-ubyte.gz", "236021d52f1e40852b06a4c3008d8de8aef1e40b"),
        ),
        False: (
            ("t10k-images-idx3-ubyte.gz", "626ed6a7c06dd17c0eec72fa3be1740f146a2863"),
            ("t10k-labels-idx1-ubyte.gz", "17f9ab60e7257a1620f4ad76bbbaf857c3920701"),
        ),
    }


class _Records(_Images):
    """CIFAR's binary format: records of one-byte labels followed by the planes of an image."""

    _image = (3, 32, 32)

    def __init__(self, root, train, transform, labels, label):
        folder = files.folder_of(root, self._name)
        parts = self._published[bool(train)]
        size = labels + int(np.prod(self._image))
        content = b"".join(
            path.read_bytes() for path in files.unpacked(folder, self._name, self._archive, parts)
        )
        if len(content) % size:
            raise MXNetError(f"the files in {folder} do not consist of records of {size} bytes")
        records = np.frombuffer(content, np.uint8).reshape(-1, size)
        images = records[:, labels:].reshape(-1, *self._image).transpose(0, 2, 3, 1)
        super().__init__(images, records[:, label].astype(np.int32), transform)


class CIFAR10(_Records):
    """Images of ten classes of objects: 50,000 for training and 10,000 for testing.

    Items are an image, a uint8 NDArray of shape (32, 32, 3), and its label, a numpy.int32.

    Parameters
    ----------
    root : str, optional
        Folder of the files, by default ``datasets/cifar10`` in MXNET_HOME. Missing files are
        downloaded from MXNET_GLUON_REPO.
    train : bool
        Training set, or test set.
    transform : callable, optional
        Function of image and label, whose results are the items.

    Raises
    ------
    MXNetError
        If a file is damaged, or missing and cannot be downloaded.
    """

    _name = "cifar10"
    _archive = ("cifar-10-binary.tar.gz", "fab780a1e191a7eda0f345501ccd62d20f7ed891")
    _published = {
        True: (
            ("data_batch_1.bin", "aadd24acce27caa71bf4b10992e9e7b2d74c2540"),
            ("data_batch_2.bin", "c0ba65cce70568cd57b4e03e9ac8d2a5367c1795"),
            ("data_batch_3.bin", "1dd00a74ab1d17a6e7d73e185b69dbf31242f295"),
            ("data_batch_4.bin", "aab85764eb3584312d3c7f65fd2fd016e36a258e"),
            ("data_batch_5.bin", "26e2849e66a845b7f1e4614ae70f4889ae604628"),
        ),
        False: (("test_batch.bin", "67eb016db431130d61cd03c7ad570b013799c88c"),),
    }

    def __init__(self, root=None, train=True, transform=None):
        super().__init__(root, train, transform, labels=1, label=0)


class CIFAR100(_Records):
    """Images of a hundred classes of objects, in the format of `CIFAR10`.

    Parameters
    ----------
    root : str, optional
        Folder of the files, by default ``datasets/cifar100`` in MXNET_HOME.
    fine_label : bool
        Label the 100 classes rather than the 20 superclasses.
    train, transform
        See `CIFAR10`.
    """

    _name = "cifar100"
    _archive = ("cifar-100-binary.tar.gz", "a0bb982c76b83111308126cc779a992fa506b90b")
    _published = {
        True: (("train.bin", "e207cd2e05b73b1393c74c7f5e7bea451d63e08e"),),
        False: (("test.bin", "8fb6623e830365ff53cf14adec797474f5478006"),),
    }

    def __init__(self, root=None, fine_label=False, train=True, transform=None):
        super().__init__(root, train, transform, labels=2, label=int(fine_label))
