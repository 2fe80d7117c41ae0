"""Polygamma functions, for higher-order gradients of digamma."""

import math

from mxcy.ops.core.attrs import Int
from mxcy.ops.core.infer import back_data, require
from mxcy.ops.core.record import op, sample
from mxcy.ops.elementwise.unary import by_element, infer_same

__all__ = []

#: B(2k) / (2k)! with the Bernoulli numbers B
_BERNOULLI = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000)
_LARGEST = 100  # highest order computed without logarithms


def _zeta(s, x):
    """Return sum((x + k) ** -s) over k for positive x: direct terms, then Euler-Maclaurin."""
    total = 0.0
    while x < 10 + s:
        total += x**-s
        x += 1
    total += x ** (1 - s) / (s - 1) + x**-s / 2
    factor, power = s, x ** (-s - 1)
    for k, bernoulli in enumerate(_BERNOULLI):
        total += bernoulli * factor * power
        factor *= (s + 2 * k + 1) * (s + 2 * k + 2)
        power /= x * x
    return total


def _cotangent(n, x):
    """Return the n-th derivative of pi cot(pi x), a polynomial of the cotangent."""
    cotangent = 1 / math.tan(math.pi * x)
    polynomial = [0.0, 1.0]
    for _ in range(n):
        slope = [k * c for k, c in enumerate(polynomial)][1:]
        polynomial = [0.0] * (len(slope) + 2)
        for k, c in enumerate(slope):
            polynomial[k] -= c
            polynomial[k + 2] -= c
    return math.pi ** (n + 1) * sum(c * cotangent**k for k, c in enumerate(polynomial))


def _log_zeta(s, x):
    """Return the logarithm of `_zeta` for s >= 100, where the sum may overflow or underflow."""
    if x < 10 + s:
        total, k, term = 0.0, 0, 1.0
        while term > 1e-18:
            total += term
            k += 1
            term = (x / (x + k)) ** s
    else:
        total, factor = x / (s - 1) + 0.5, s / x
        for k, bernoulli in enumerate(_BERNOULLI):
            total += bernoulli * factor
            factor *= (s + 2 * k + 1) / x * ((s + 2 * k + 2) / x)
    return math.log(total) - s * math.log(x)


def _beyond(n, x):
    """Return the infinity between the poles below zero, with the sign at the nearer pole."""
    sign = 1.0 if n % 2 else -1.0
    return sign * math.inf if n % 2 or x - math.floor(x) < 0.5 else -sign * math.inf


def _polygamma(n, x):
    sign = 1.0 if n % 2 else -1.0
    if math.isnan(x):
        return math.nan
    if x <= 0 and (math.isinf(x) or x == math.floor(x)):
        return sign * math.inf
    if math.isinf(x):
        return 0.0
    if x < 0:
        if n % 2 == 0 and x - math.floor(x) == 0.5:  # the cotangent's derivative vanishes
            return _polygamma(n, 1 - x)
        try:
            value = math.nan if n > _LARGEST else _cotangent(n, x)
        except OverflowError:
            value = math.nan
        return -sign * _polygamma(n, 1 - x) - value if math.isfinite(value) else _beyond(n, x)
    try:
        if n > _LARGEST:
            return sign * math.exp(math.lgamma(n + 1) + _log_zeta(n + 1, x))
        return sign * math.factorial(n) * _zeta(n + 1, x)
    except OverflowError:
        return sign * math.inf


@op("_polygamma")
class Polygamma:
    """Compute the n-th derivative of digamma, for n >= 1."""

    n: Int

    dtypes = ("float32", "float64", "float16")
    domain = (0.5, 5)
    samples = (sample((3, 4), n=1, tol=4), sample((2, 3), n=2, tol=4), sample((5,), n=3, tol=4))

    infer_back = back_data

    def infer(a, data):
        require(a.n >= 1, f"n: must be positive, got {a.n}")
        return infer_same(a, data)

    def grad(a, F, g, data):
        return g * F._polygamma(data, n=a.n + 1)

    def ref(a, xp, data):
        return by_element(lambda x: _polygamma(a.n, x))(xp, data).astype(data.dtype)
