"""Special functions: error and gamma functions, which array modules lack."""

import math

from mxcy.ops.elementwise.unary import by_element, unary

__all__ = []


def _gamma(x):
    try:
        return math.gamma(x)
    except (ValueError, OverflowError):
        return math.nan if x < 0 or math.isnan(x) else math.inf


def lgamma_of(x):
    """Return log |gamma(x)| of a float."""
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


def digamma_of(x):
    """Return digamma of a float by recurrence, reflection and the asymptotic series."""
    if x <= 0 and (math.isinf(x) or x == math.floor(x)):
        return math.inf
    if x < 0:
        return digamma_of(1 - x) - math.pi / math.tan(math.pi * x)
    total = 0.0
    while x < 10:
        total -= 1 / x
        x += 1
    square = 1 / (x * x)
    series = square * (
        1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132)))
    )
    return total + math.log(x) - 0.5 / x - series


def _erfinv(y):
    """Return the inverse error function by Newton steps from Winitzki's approximation."""
    if abs(y) >= 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    log = math.log1p(-y * y)
    first = 2 / (math.pi * 0.147) + log / 2
    x = math.copysign(math.sqrt(math.sqrt(first * first - log / 0.147) - first), y)
    for _ in range(4):
        x -= (math.erf(x) - y) / (2 / math.sqrt(math.pi) * math.exp(-x * x))
    return x


unary(
    "erf",
    "The error function.",
    by_element(math.erf),
    lambda a, F, g, x: g * F.exp(-x * x) * (2 / math.sqrt(math.pi)),
    (-2, 2),
    ("_npx_erf",),
    sparse=False,
)
unary(
    "erfinv",
    "The inverse error function.",
    by_element(_erfinv),
    lambda a, F, g, y: g * F.exp(y * y) * (math.sqrt(math.pi) / 2),
    (-0.9, 0.9),
    ("_npx_erfinv",),
    tol=4,
    sparse=False,
    amp="fp32",
)
unary(
    "gamma",
    "The gamma function.",
    by_element(_gamma),
    lambda a, F, g, x, y: g * y * F.digamma(x),
    (0.5, 4),
    ("_npx_gamma",),
    tol=4,
    amp="fp32",
)
unary(
    "gammaln",
    "The logarithm of the absolute value of the gamma function.",
    by_element(lgamma_of),
    lambda a, F, g, x: g * F.digamma(x),
    (0.5, 5),
    ("_npx_gammaln",),
    tol=4,
    amp="fp32",
)
unary(
    "digamma",
    "The digamma function, the logarithmic derivative of the gamma function.",
    by_element(digamma_of),
    lambda a, F, g, x: g * F._polygamma(x, n=1),
    (0.5, 5),
    ("_npx_digamma",),
    tol=4,
    amp="fp32",
)
