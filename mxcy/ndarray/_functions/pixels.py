"""OpenCV operators of `mx.nd._internal`; images have shape (height, width, channel)."""

import numpy as np

from mxcy._base.files import local_path
from mxcy._library.opencv import decode, opencv
from mxcy.base import MXNetError
from mxcy.ndarray._functions import creation

__all__ = ["_cvcopyMakeBorder", "_cvimdecode", "_cvimread", "_cvimresize", "decoded", "resized"]

_INTERPOLATIONS = (0, 1, 2, 3, 4)


def decoded(user, content, flag=1, to_rgb=True):
    """Decode an image.

    Parameters
    ----------
    user : str
        Name of the caller, for error messages.
    content : numpy.ndarray of uint8
        Content of an image file.
    flag : {0, 1}
        0 for a gray image with one channel, 1 for three channels.
    to_rgb : bool
        Whether channels are RGB rather than OpenCV's BGR.

    Returns
    -------
    numpy.ndarray
        (height, width, channel)

    Raises
    ------
    MXNetError
        If OpenCV is missing, or the image cannot be decoded.
    """
    cv2 = opencv(user)
    if flag not in (0, 1):
        raise MXNetError(f"{user}: flag: expected 0 (gray) or 1 (three channels), got {flag}")
    pixels = decode(user, content, int(flag))
    if pixels is None:
        raise MXNetError(f"{user}: Decoding failed. Invalid image file.")
    if pixels.ndim == 2:
        return pixels[:, :, None]
    return cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB, dst=pixels) if to_rgb else pixels


def resized(user, pixels, width, height, interp):
    """Resize an image.

    Parameters
    ----------
    user : str
        Name of the caller, for error messages.
    pixels : numpy.ndarray
        (height, width, channel)
    width, height : int
    interp : int
        OpenCV's interpolation code: 0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos.

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    MXNetError
        If OpenCV is missing or fails.
    """
    cv2 = opencv(user)
    if pixels.ndim != 3 or min(width, height) <= 0 or interp not in _INTERPOLATIONS:
        raise MXNetError(
            f"{user}: expected an image (height, width, channel), a positive size and an "
            f"interpolation from 0 to 4, got {pixels.shape}, {width} x {height} and {interp}"
        )
    try:
        result = cv2.resize(pixels, (int(width), int(height)), interpolation=int(interp))
    except cv2.error as error:
        raise MXNetError(f"{user}: {error}") from None
    return result if result.ndim == 3 else result[:, :, None]


def _as_array(pixels, out):
    if out is None:
        return creation.array(pixels, dtype=pixels.dtype)
    if out.shape != pixels.shape:
        raise MXNetError(f"out: expected shape {pixels.shape}, got {out.shape}")
    out[:] = creation.array(pixels, dtype=pixels.dtype).astype(out.dtype)
    return out


def _cvimdecode(buf, flag=1, to_rgb=True, out=None):
    """Decode an image.

    Parameters
    ----------
    buf : NDArray of uint8
        Content of an image file.
    flag : {0, 1}
        0 for a gray image with one channel, 1 for three channels.
    to_rgb : bool
        Whether channels are RGB rather than OpenCV's BGR.
    out : NDArray, optional

    Returns
    -------
    NDArray of uint8
        (height, width, channel)
    """
    if buf.dtype != np.uint8:
        raise MXNetError(f"imdecode: buf: expected uint8, got {np.dtype(buf.dtype).name}")
    return _as_array(decoded("imdecode", buf.read_view().reshape(-1), flag, to_rgb), out)


def _cvimread(filename, flag=1, to_rgb=True, out=None):
    """Read and decode an image file.

    Parameters
    ----------
    filename : str
    flag : {0, 1}
        0 for a gray image with one channel, 1 for three channels.
    to_rgb : bool
        Whether channels are RGB rather than OpenCV's BGR.
    out : NDArray, optional

    Returns
    -------
    NDArray of uint8
        (height, width, channel)
    """
    try:
        content = np.fromfile(local_path(filename), np.uint8)
    except OSError as error:
        raise MXNetError(f"imread: cannot read {filename}: {error.strerror}") from None
    return _as_array(decoded(f"imread of {filename}", content, flag, to_rgb), out)


def _cvimresize(src, w, h, interp=1, out=None):
    """Resize an image.

    Parameters
    ----------
    src : NDArray
        (height, width, channel)
    w, h : int
        Width and height of the result.
    interp : int
        0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos.
    out : NDArray, optional

    Returns
    -------
    NDArray
    """
    if not hasattr(src, "read_view"):
        raise TypeError(f"imresize: src: expected an NDArray, got {type(src).__name__}")
    return _as_array(resized("imresize", src.read_view(), w, h, interp), out)


def _cvcopyMakeBorder(src, top, bot, left, right, type=0, value=0.0, values=(), out=None):
    """Pad an image with a border.

    Parameters
    ----------
    src : NDArray
        (height, width, channel)
    top, bot, left, right : int
        Widths of the border.
    type : int
        Border type: 0 constant, 1 replicated edge, 2 reflected, 3 wrapped around, 4 reflected
        without the edge.
    value : float
        The constant border value.
    values : float or tuple of float
        The constant border value, or one per channel, instead of `value`.
    out : NDArray, optional

    Returns
    -------
    NDArray
    """
    cv2 = opencv("copyMakeBorder")
    constant = tuple(np.atleast_1d(values).astype(float).tolist()) or (float(value),)
    constant *= 4 if len(constant) == 1 else 1
    pixels = src.read_view()
    try:
        bordered = cv2.copyMakeBorder(pixels, top, bot, left, right, type, value=constant)
    except cv2.error as error:
        raise MXNetError(f"copyMakeBorder: {error}") from None
    return _as_array(bordered.reshape(bordered.shape[0], bordered.shape[1], -1), out)
