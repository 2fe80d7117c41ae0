"""OpenCV, imported when an image is first decoded, encoded or resized."""

from typing import Any

import numpy as np

from mxcy import env
from mxcy._base.errors import MXNetError
from mxcy._library.image_size import least_bytes, pixel_size

__all__ = ["decode", "opencv"]


def opencv(user: str) -> Any:
    """The module `cv2`.

    Parameters
    ----------
    user : str
        The caller's name, for the error message.

    Raises
    ------
    MXNetError
        If OpenCV is not installed.
    """
    try:
        import cv2
    except ImportError as error:
        raise MXNetError(
            f"{user}: OpenCV is required but not available ({error}): pip install 'mxcy[image]'"
        ) from None
    return cv2


def decode(user: str, content: Any, mode: int) -> Any:
    """Decode an image.

    Parameters
    ----------
    user : str
        The caller's name, for the error message.
    content : numpy.ndarray of uint8
        The content of the image file.
    mode : int
        OpenCV's ``IMREAD_``...

    Returns
    -------
    numpy.ndarray or None
        None if OpenCV cannot decode the image.

    Raises
    ------
    MXNetError
        If OpenCV is missing, or the image has more pixels than MXCY_MAX_IMAGE_PIXELS or than its
        bytes can encode.
    """
    cv2 = opencv(user)
    content = np.frombuffer(content, np.uint8)
    if not content.size:
        return None
    size, most = pixel_size(content), env.get("MXCY_MAX_IMAGE_PIXELS")
    if size is not None:
        width, height = size
        if width * height > most:
            raise MXNetError(
                f"{user}: image of {width} x {height} pixels exceeds MXCY_MAX_IMAGE_PIXELS={most}"
            )
        if least_bytes(content, width, height) > content.size:
            raise MXNetError(
                f"{user}: {content.size} bytes cannot hold an image of {width} x {height} pixels"
            )
    try:
        return cv2.imdecode(content, mode)
    except cv2.error as error:
        raise MXNetError(f"{user}: OpenCV cannot decode the image: {error}") from error
