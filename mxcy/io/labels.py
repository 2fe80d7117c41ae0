"""Labels of images in RecordIO files, taken from the records or a list file."""

import struct

import numpy as np

from mxcy._base.files import text_lines
from mxcy.base import MXNetError

__all__ = ["Labels", "read_labels"]

_HEADER = struct.Struct("IfQQ")


class Labels:
    """Splits records into number, label and image.

    Parameters
    ----------
    user : str
        Name of the iterator, for messages.
    width : int
        Labels per image; -1 for any number.
    path_imglist : str
        List file whose labels replace those of the records; '' for none.
    """

    def __init__(self, user, width, path_imglist):
        self._user, self._width = user, width
        self._listed = read_labels(user, path_imglist) if path_imglist else None

    def __call__(self, record):
        """Split a record.

        Parameters
        ----------
        record : bytes

        Returns
        -------
        number : int
            The image's number.
        label : numpy.ndarray of float32
        content : numpy.ndarray of uint8
            The encoded image.

        Raises
        ------
        MXNetError
            If the number of labels is not `width`, or the image is not in the list.
        """
        if len(record) < _HEADER.size:
            raise MXNetError(f"{self._user}: a record of {len(record)} bytes contains no image")
        count, single, number, _ = _HEADER.unpack_from(record)
        start = _HEADER.size + 4 * count
        if start > len(record):
            raise MXNetError(f"{self._user}: record {number} ends within its {count} labels")
        if self._listed is not None:
            label = self._listed.get(number)
            if label is None:
                raise MXNetError(f"{self._user}: image {number} is not in path_imglist")
        elif count:
            label = np.frombuffer(record, np.float32, count, _HEADER.size)
        else:
            label = np.array([single], np.float32)
        if self._width not in (-1, len(label)):
            raise MXNetError(
                f"{self._user}: image {number} has {len(label)} labels, but label_width is "
                f"{self._width}"
            )
        return number, label, np.frombuffer(record, np.uint8, len(record) - start, start)


def read_labels(user, path):
    """Read the labels of a list file, by image number.

    Parameters
    ----------
    user : str
        Name of the iterator, for messages.
    path : str
        File with one tab-separated line per image: number, labels, path.

    Returns
    -------
    dict of int to numpy.ndarray of float32
    """
    labels = {}
    try:
        for line in text_lines(path):
            number, *label = line.split("\t")[:-1] or line.split()[:-1]
            labels[int(number)] = np.array(label, np.float32)
    except OSError as error:
        raise MXNetError(f"{user}: cannot read {path}: {error.strerror}") from None
    except ValueError:
        raise MXNetError(
            f"{user}: {path} has a line that is not a number, labels and path: {line!r}"
        ) from None
    return labels
