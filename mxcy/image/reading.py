"""Reading, decoding, resizing and padding of images."""

import numpy as np

from mxcy import ndarray as nd
from mxcy.base import MXNetError
from mxcy.ndarray._functions.pixels import _cvcopyMakeBorder, _cvimdecode, _cvimread, _cvimresize

__all__ = ["copyMakeBorder", "imdecode", "imread", "imresize"]


def imread(filename, *args, **kwargs):
    """Read and decode an image file.

    Parameters
    ----------
    filename : str
    flag : {0, 1}
        0: one gray channel, 1: three channels (the default).
    to_rgb : bool
        RGB (the default) instead of OpenCV's BGR.
    out : NDArray, optional

    Returns
    -------
    NDArray of uint8
        (height, width, channel)

    Raises
    ------
    MXNetError
        If the file is missing or not an image, or OpenCV is not installed.
    """
    return _cvimread(filename, *args, **kwargs)


def imdecode(buf, *args, **kwargs):
    """Decode an image.

    Parameters
    ----------
    buf : bytes, bytearray, numpy.ndarray or NDArray
        Content of an image file.
    flag, to_rgb, out
        See `imread`.

    Returns
    -------
    NDArray of uint8
        (height, width, channel)

    Raises
    ------
    ValueError
        If `buf` has another type.
    MXNetError
        If `buf` is not an image, or OpenCV is not installed.
    """
    if not isinstance(buf, nd.NDArray):
        if not isinstance(buf, (bytes, bytearray, np.ndarray)):
            raise ValueError(
                "buf must be of type bytes, bytearray, numpy.ndarray or NDArray, not "
                f"{type(buf).__name__}"
            )
        octets = np.frombuffer(buf, np.uint8)
        if not octets.size:
            raise MXNetError("imdecode: buf is empty")
        buf = nd.array(octets, dtype=np.uint8)
    return _cvimdecode(buf, *args, **kwargs)


def imresize(src, w, h, *args, **kwargs):
    """Resize an image.

    Parameters
    ----------
    src : NDArray
        (height, width, channel)
    w, h : int
        Width and height of the result.
    interp : int
        0 nearest, 1 bilinear (the default), 2 bicubic, 3 area, 4 Lanczos.
    out : NDArray, optional

    Returns
    -------
    NDArray
    """
    return _cvimresize(src, w, h, *args, **kwargs)


def copyMakeBorder(src, top, bot, left, right, *args, **kwargs):
    """Pad an image.

    Parameters
    ----------
    src : NDArray
        (height, width, channel)
    top, bot, left, right : int
        Widths of the padding.
    type : int
        0 constant (the default), 1 replicate, 2 reflect, 3 wrap, 4 reflect without repeating the
        edge pixels.
    value : float
        The constant.
    values : float or tuple of float
        The constant, or one per channel, instead of `value`.
    out : NDArray, optional

    Returns
    -------
    NDArray
    """
    return _cvcopyMakeBorder(src, top, bot, left, right, *args, **kwargs)
