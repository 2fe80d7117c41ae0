"""Constant initializers."""

import numpy as np

from mxcy.initializer.base import Initializer, alias, register

__all__ = ["Constant", "One", "Zero"]


@alias("zeros")
@register
class Zero(Initializer):
    """Fill weights with 0."""

    def __init__(self):
        super().__init__()

    def _init_weight(self, _, arr):
        arr[:] = 0


@alias("ones")
@register
class One(Initializer):
    """Fill weights with 1."""

    def __init__(self):
        super().__init__()

    def _init_weight(self, _, arr):
        arr[:] = 1


@register
class Constant(Initializer):
    """Fill weights with a given value.

    Parameters
    ----------
    value : float, array_like or NDArray
        One number, or an array of the parameter's shape.
    """

    def __init__(self, value):
        super().__init__(value=_plain(value))  # for `dumps`
        self.value = value

    def _init_weight(self, _, arr):
        arr[:] = self.value


def _plain(value):
    """Convert a value to a number or nested lists."""
    if isinstance(value, (int, float, str)):
        return value
    return (value.asnumpy() if hasattr(value, "asnumpy") else np.asarray(value)).tolist()
