"""The error of axes out of range, which needs NumPy; launchers import `errors` without it."""

import numpy as np

from mxcy._base.errors import KEPT, InvalidValueError

__all__ = ["InvalidAxisError"]


class InvalidAxisError(InvalidValueError, np.exceptions.AxisError):
    """An axis is out of range; also NumPy's AxisError, a ValueError and an IndexError."""

    __module__ = "mxcy.base"  # which forwards to it, as for the other errors
    axis = ndim = None  # as in an AxisError with a text only

    __str__ = BaseException.__str__  # AxisError's needs attributes that its __init__ sets


KEPT["AxisError: "] = InvalidAxisError
