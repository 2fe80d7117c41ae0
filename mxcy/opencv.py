"""OpenCV, which is imported when an image is first decoded, written or resized."""

from mxcy.base import MXNetError

__all__ = ["opencv"]


def opencv(user):
    """The module `cv2`.

    Parameters
    ----------
    user : str
        Who needs it, for the message.

    Raises
    ------
    MXNetError
        When OpenCV is not installed.
    """
    try:
        import cv2
    except ImportError as error:
        raise MXNetError(
            f"{user}: this needs OpenCV, which is not there ({error}): pip install 'mxcy[image]'"
        ) from None
    return cv2
