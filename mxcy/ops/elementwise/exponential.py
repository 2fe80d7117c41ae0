"""Exponentials and logarithms."""

import math

from mxcy.ops.elementwise.unary import unary

__all__ = []

unary(
    "exp",
    "Exponential exp(x).",
    "exp",
    lambda a, F, g, y: g * y,
    (-4, 4),
    ends=True,
    complexes=True,
    amp="fp32",
)
unary(
    "expm1",
    "exp(x) - 1, accurate for small x.",
    "expm1",
    lambda a, F, g, y: g * (y + 1),
    (-2, 2),
    zero=True,
    complexes=True,
    amp="fp32",
)
unary(
    "log",
    "Natural logarithm.",
    "log",
    lambda a, F, g, x: g / x,
    (0.1, 4),
    complexes=True,
    amp="fp32",
)
unary(
    "log1p",
    "log(1 + x), accurate for small x.",
    "log1p",
    lambda a, F, g, x: g / (x + 1),
    (-0.5, 2),
    zero=True,
    complexes=True,
    amp="fp32",
)
unary(
    "log2",
    "Logarithm to base 2.",
    "log2",
    lambda a, F, g, x: g / (x * math.log(2)),
    (0.1, 4),
    complexes=True,
    amp="fp32",
)
unary(
    "log10",
    "Logarithm to base 10.",
    "log10",
    lambda a, F, g, x: g / (x * math.log(10)),
    (0.1, 4),
    complexes=True,
    amp="fp32",
)
