"""Derivative of gamma samples with respect to the shape parameter."""

import numpy as np

from mxcy.ops.core.infer import back_inputs, same_specs
from mxcy.ops.core.record import no_rule, register, sample, values
from mxcy.ops.elementwise.special import digamma_of
from mxcy.ops.elementwise.unary import by_element

__all__ = []

_LARGE = 1000.0  # from here on the cubic normal approximation has six digits


def _by_normal(alpha, x):
    """Return the derivative at fixed quantiles of the Wilson-Hilferty approximation."""
    root = np.cbrt(x / alpha)
    quantile = 3 * np.sqrt(alpha) * (root - 1 + 1 / (9 * alpha))
    slope = 1 / (9 * alpha**2) - quantile / (6 * alpha * np.sqrt(alpha))
    return root**3 + 3 * alpha * root**2 * slope


def _by_series(alpha, x):
    """Return the derivative by series of the incomplete gamma function and its derivative."""
    term, steps = 1 / alpha, 1 / alpha
    total, slope = term.copy(), -term * steps
    place = alpha.copy()
    while term.size and np.any(term > 1e-17 * total):
        place += 1
        term = term * (x / place)
        steps = steps + 1 / place
        total += term
        slope -= term * steps
    psi = by_element(digamma_of)(np, alpha)
    return -x * (total * (np.log(x) - psi) + slope)


def _slope(alpha, x):
    """Return -(dF/d alpha) / (dF/dx) for the distribution function F."""
    alpha, x = np.broadcast_arrays(alpha.astype("float64"), x.astype("float64"))
    slope = np.where(np.isfinite(x * alpha) & (alpha >= 0), 0.0, np.nan)
    sound = (x > 0) & (alpha > 0) & np.isfinite(x) & np.isfinite(alpha)
    for rule, chosen in (
        (_by_series, sound & (alpha < _LARGE)),
        (_by_normal, sound & (alpha >= _LARGE)),
    ):
        slope[chosen] = rule(alpha[chosen], x[chosen])
    return slope


register(
    "_gamma_slope",
    inputs="alpha x",
    grad=no_rule,
    infer=lambda a, alpha, x: same_specs((alpha, x), ("alpha", "x")),
    infer_back=back_inputs,
    ref=lambda a, xp, alpha, x: xp.asarray(_slope(np.asarray(alpha), np.asarray(x)), x.dtype),
    samples=(sample(values(0.2, 8, (3, 4)), values(0.1, 9, (3, 4))), sample((0,), (0,))),
    dtypes=("float32", "float64", "float16"),
    domain=(0.5, 5),
    doc="Compute the derivative of standard gamma samples `x` with respect to the shape `alpha`.",
)
