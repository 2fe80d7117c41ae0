"""Data sets of user-provided image files, decoded by OpenCV."""

import os

import numpy as np

from mxcy import image, recordio
from mxcy._base.files import text_lines
from mxcy._base.warning import warn
from mxcy.base import MXNetError
from mxcy.gluon.data.dataset import Dataset, RecordFileDataset

__all__ = ["ImageFolderDataset", "ImageListDataset", "ImageRecordDataset"]

_ENDINGS = (".jpg", ".jpeg", ".png")


class ImageRecordDataset(RecordFileDataset):
    """The images of a RecordIO file, with their labels.

    Items are an image, a uint8 NDArray of shape (height, width, channel), and its label: a
    float, or an array of them.

    Parameters
    ----------
    filename : str
        The file ``NAME.rec``, with its index ``NAME.idx`` in the same folder.
    flag : {0, 1}
        0 for gray images, 1 for RGB.
    transform : callable, optional
        Function of image and label, whose results are the items.
    """

    def __init__(self, filename, flag=1, transform=None):
        super().__init__(filename)
        self._flag = flag
        self._transform = transform

    def __getitem__(self, idx):
        header, content = recordio.unpack(super().__getitem__(idx))
        item = image.imdecode(content, self._flag), header.label
        return item if self._transform is None else self._transform(*item)


class ImageFolderDataset(Dataset):
    """Images in folders, one per class.

    Items are an image, a uint8 NDArray of shape (height, width, channel), and the number of
    its folder, an int.

    Parameters
    ----------
    root : str
        Folder that contains the class folders.
    flag : {0, 1}
        0 for gray images, 1 for RGB.
    transform : callable, optional
        Function of image and label, whose results are the items.

    Attributes
    ----------
    synsets : list of str
        The names of the folders in alphabetical order.
    items : list of (str, int)
        Paths and labels.
    """

    def __init__(self, root, flag=1, transform=None):
        self._root = os.path.expanduser(root)
        self._flag = flag
        self._transform = transform
        self._exts = list(_ENDINGS)
        self.synsets, self.items = [], []
        self._list_images(self._root)

    def _list_images(self, root):
        for folder in sorted(os.listdir(root)):
            path = os.path.join(root, folder)
            if not os.path.isdir(path):
                warn(f"Ignoring {path}, which is not a directory.")
                continue
            label = len(self.synsets)
            self.synsets.append(folder)
            for name in sorted(os.listdir(path)):
                file = os.path.join(path, name)
                ending = os.path.splitext(name)[1]
                if ending.lower() in self._exts:
                    self.items.append((file, label))
                else:
                    warn(f"Ignoring {file} of type {ending}. Only support {', '.join(self._exts)}")

    def __getitem__(self, idx):
        path, label = self.items[idx]
        item = image.imread(path, self._flag), label
        return item if self._transform is None else self._transform(*item)

    def __len__(self):
        return len(self.items)


class ImageListDataset(Dataset):
    """Images listed in a file or a list, with their labels.

    Items are an image, a uint8 NDArray of shape (height, width, channel), and its label: a
    number, or an array of them.

    Parameters
    ----------
    root : str
        Folder that paths are relative to.
    imglist : str or list
        A file in `root` with one tab-separated line per image: number, labels, path; or a list
        of lists of labels and a path.
    flag : {0, 1}
        0 for gray images, 1 for RGB.

    Attributes
    ----------
    items : list of (str, label)

    Raises
    ------
    ValueError
        If `imglist` is neither.
    MXNetError
        If a line of the file is malformed.
    """

    def __init__(self, root=".", imglist=None, flag=1):
        self._root = os.path.expanduser(root)
        self._flag = flag
        if isinstance(imglist, str):
            self._imglist = _lines(os.path.join(self._root, imglist))
        elif isinstance(imglist, list):
            self._imglist = imglist
        else:
            raise ValueError(f"imglist must be a file name or a list of entries, got {imglist!r}")
        self.items = [
            (os.path.join(self._root, path), _label(labels)) for *labels, path in self._imglist
        ]

    def __getitem__(self, idx):
        path, label = self.items[idx]
        return image.imread(path, self._flag), label

    def __len__(self):
        return len(self.items)


def _lines(path):
    """Read the entries of a list file: labels and path."""
    entries = []
    for number, line in enumerate(text_lines(path), 1):
        fields = line.strip().split("\t")
        try:
            entries.append([*map(float, fields[1:-1]), fields[-1]])
            int(fields[0])
        except ValueError:
            raise MXNetError(
                f"line {number} of {path} is not a tab-separated number, labels and path: {line!r}"
            ) from None
    return entries


def _label(labels):
    """The label of an entry, whose labels are separate numbers or one array."""
    if len(labels) == 1 and np.ndim(labels[0]) == 0:
        return labels[0]
    return np.asarray(labels[0] if len(labels) == 1 else labels, np.float32)
