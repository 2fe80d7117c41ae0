"""Images from files and bytes, and in other sizes."""

import numpy as np

from mxcy import ndarray as nd
from mxcy.base import MXNetError
from mxcy.ndarray._functions.pixels import _cvcopyMakeBorder, _cvimdecode, _cvimread, _cvimresize

__all__ = ["copyMakeBorder", "imdecode", "imread", "imresize"]


def imread(filename, *args, **kwargs):
    """Read and decode a file of an image.

    Parameters
    ----------
    filename : str
    flag : {0, 1}
        A gray image of one channel, or one of three (the default).
    to_rgb : bool
        Red first (the default), instead of OpenCV's order with blue first.
    out : NDArray, optional

    Returns
    -------
    NDArray of uint8
        (height, width, channel)

    Raises
    ------
    MXNetError
        When the file is missing or no image, or OpenCV is missing.
    """
    return _cvimread(filename, *args, **kwargs)


def imdecode(buf, *args, **kwargs):
    """Decode an image.

    Parameters
    ----------
    buf : bytes, bytearray, numpy.ndarray or NDArray
        What an image file holds.
    flag, to_rgb, out
        See `imread`.

    Returns
    -------
    NDArray of uint8
        (height, width, channel)

    Raises
    ------
    ValueError
        When `buf` is something else.
    MXNetError
        When these are no bytes of an image, or OpenCV is missing.
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
    """Give an image another size.

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
    """Add margins to an image.

    Parameters
    ----------
    src : NDArray
        (height, width, channel)
    top, bot, left, right : int
        The margins.
    type : int
        0 a constant (the default), 1 the outermost pixels, 2 reflected, 3 from the other side,
        4 reflected without the outermost pixels.
    value : float
        The constant.
    values : tuple of float
        The constant of each channel, instead of `value`.
    out : NDArray, optional

    Returns
    -------
    NDArray
    """
    return _cvcopyMakeBorder(src, top, bot, left, right, *args, **kwargs)
