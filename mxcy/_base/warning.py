"""Warnings attributed to the program's line that called mxcy, at any call depth."""

import sys
import warnings
from types import FrameType

from mxcy._base.errors import is_ours

__all__ = ["warn"]


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the program's line that called mxcy.

    A fixed ``stacklevel`` would not do: a warning may be reached through several functions.

    Parameters
    ----------
    message : str
    category : type
    """
    frame: FrameType = sys._getframe(1)
    while frame.f_back is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        frame.f_globals.get("__name__", "<unknown>"),
        frame.f_globals.setdefault("__warningregistry__", {}),
    )
