"""`mx.np.fallback`: the functions that MXNet delegates to NumPy.

Here most are ordinary differentiable `mx.np` functions; NumPy computes those in `on_copies`.
"""

from importlib import import_module

import numpy as onp

__all__ = [
    "__version__",
    "_NoValue",
    *"""
    allclose alltrue apply_along_axis apply_over_axes argpartition argwhere array_equal
    array_equiv choose compress corrcoef correlate count_nonzero cov cumprod digitize divmod
    dtype extract float_power frexp heaviside histogram2d histogram_bin_edges histogramdd i0
    in1d intersect1d isclose isin ix_ lexsort min_scalar_type mirr modf msort nanargmax
    nanargmin nancumprod nancumsum nanmax nanmedian nanmin nanpercentile nanprod nanquantile
    nanstd nansum nanvar ndim npv packbits partition piecewise pmt poly polyadd polydiv polyfit
    polyint polymul polysub positive ppmt promote_types ptp pv rate real roots searchsorted
    select setdiff1d setxor1d signbit size spacing take_along_axis trapz tril_indices_from
    trim_zeros union1d unpackbits unwrap vander
    """.split(),
]
fallbacks = __all__

__version__, _NoValue = onp.__version__, onp._NoValue


def __getattr__(name):
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("mxcy.numpy"), name)  # may import this module


def __dir__():
    return sorted({*globals(), *__all__})
