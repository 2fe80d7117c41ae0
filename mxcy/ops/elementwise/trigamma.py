"""The derivative of digamma, which is its gradient."""

import math

from mxcy.ops.core.infer import back_data
from mxcy.ops.core.record import register, sample
from mxcy.ops.elementwise.unary import by_element, infer_same

__all__ = []


def _trigamma(x):
    """The recurrence, reflection and the asymptotic series."""
    if x <= 0 and (math.isinf(x) or x == math.floor(x)):
        return math.inf
    if x < 0:
        return (math.pi / math.sin(math.pi * x)) ** 2 - _trigamma(1 - x)
    total = 0.0
    while x < 10:
        total += 1 / (x * x)
        x += 1
    square = 1 / (x * x)
    series = 1 / 6 - square * (1 / 30 - square * (1 / 42 - square * (1 / 30 - square * 5 / 66)))
    return total + 1 / x + square / 2 + square / x * series


register(
    "_trigamma",
    infer=infer_same,
    infer_back=back_data,
    ref=lambda a, xp, data: by_element(_trigamma)(xp, data).astype(data.dtype),
    samples=(sample((3, 4)),),
    dtypes=("float32", "float64", "float16"),
    domain=(0.5, 5),
    doc="The derivative of digamma.",
)
