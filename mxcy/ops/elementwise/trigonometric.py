"""Trigonometric and hyperbolic functions, and their inverses."""

from mxcy.ops.elementwise.unary import unary

__all__ = []

unary("sin", "Sine.", "sin", lambda a, F, g, x: g * F.cos(x), (-4, 4), zero=True, complexes=True)
unary("cos", "Cosine.", "cos", lambda a, F, g, x: -g * F.sin(x), (-4, 4), complexes=True)
unary(
    "tan",
    "Tangent.",
    "tan",
    lambda a, F, g, y: g * (y * y + 1),
    zero=True,
    complexes=True,
    amp="fp32",
)
unary(
    "arcsin",
    "Inverse sine.",
    "arcsin",
    lambda a, F, g, x: g * F.rsqrt(1 - x * x),
    (-0.9, 0.9),
    zero=True,
    complexes=True,
    amp="fp32",
)
unary(
    "arccos",
    "Inverse cosine.",
    "arccos",
    lambda a, F, g, x: -g * F.rsqrt(1 - x * x),
    (-0.9, 0.9),
    complexes=True,
    amp="fp32",
)
unary(
    "arctan",
    "Inverse tangent.",
    "arctan",
    lambda a, F, g, x: g / (x * x + 1),
    zero=True,
    complexes=True,
)
unary(
    "sinh",
    "Hyperbolic sine.",
    "sinh",
    lambda a, F, g, x: g * F.cosh(x),
    (-2, 2),
    zero=True,
    complexes=True,
    amp="fp32",
)
unary(
    "cosh",
    "Hyperbolic cosine.",
    "cosh",
    lambda a, F, g, x: g * F.sinh(x),
    (-2, 2),
    complexes=True,
    amp="fp32",
)
unary(
    "tanh",
    "Hyperbolic tangent.",
    "tanh",
    lambda a, F, g, y: F._activation_grad(g, y, act_type="tanh"),
    (-3, 3),
    zero=True,
    ends=True,
    complexes=True,
    amp="either/either",
)
unary(
    "arcsinh",
    "Inverse hyperbolic sine.",
    "arcsinh",
    lambda a, F, g, x: g * F.rsqrt(x * x + 1),
    (-2, 2),
    zero=True,
    complexes=True,
)
unary(
    "arccosh",
    "Inverse hyperbolic cosine.",
    "arccosh",
    lambda a, F, g, x: g * F.rsqrt(x * x - 1),
    (1.1, 3),
    complexes=True,
)
unary(
    "arctanh",
    "Inverse hyperbolic tangent.",
    "arctanh",
    lambda a, F, g, x: g / (1 - x * x),
    (-0.8, 0.8),
    zero=True,
    complexes=True,
    amp="fp32",
)
