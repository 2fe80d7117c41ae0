"""`mx.np` functions computed by NumPy on copies of the elements."""

import numpy as onp

from mxcy.numpy._calls.by_numpy import offered

_NAMES = (
    "apply_along_axis",
    "apply_over_axes",
    "bitwise_count",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "i0",
    "packbits",
    "piecewise",
    "poly",
    "polyadd",
    "polyder",
    "polydiv",
    "polyfit",
    "polyint",
    "polymul",
    "polysub",
    "roots",
    "sort_complex",
    "spacing",
    "trim_zeros",
    "unpackbits",
)
_functions = offered(onp, _NAMES)
globals().update(_functions)
__all__ = list(_functions)
