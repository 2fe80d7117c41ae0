"""Elementwise binary functions of `mx.np`."""

import math

from mxcy.ops.core.result_types import (
    BITS,
    COMPARE,
    DIVIDE,
    FLOATING,
    PROMOTE,
    SCALE,
    SHIFT,
    SIGNED,
    SUBTRACT,
)
from mxcy.ops.elementwise.binary import QUANTIZED_ADD, QUANTIZED_MUL, log_or_limit
from mxcy.ops.elementwise.numpy_forms import numpy_binary

__all__ = []

_FLOATS = ("float32", "float64", "float16", "bfloat16")
_INTEGERS = ("int32", "int64", "int8", "uint8")
_NUMBERS = (*_FLOATS, *_INTEGERS)


def _quietly_by_zero(name):
    """Return a NumPy division that gives 0 for integers divided by zero."""

    def define(xp, x, y):
        if x.dtype.kind == "f":
            return getattr(xp, name)(x, y)
        return xp.where(y == 0, 0, getattr(xp, name)(x, xp.where(y == 0, 1, y)))

    return define


def _floor_divide(xp, x, y):
    """Return the floored quotient as NumPy rounds it, infinite if the quotient is."""
    if x.dtype.kind != "f":
        return _quietly_by_zero("floor_divide")(xp, x, y)
    quotient = xp.floor_divide(x, y)
    unusual = (y == 0) | xp.isinf(x)
    return xp.where(unusual, x / y, quotient)


def _power(xp, x, y):
    """Return powers; negative integer exponents give 0 except for bases 1 and -1."""
    if x.dtype.kind in "fc":
        return xp.power(x, y)
    if x.dtype.kind == "b":
        return x | ~y
    power = xp.power(x, xp.where(y < 0, 0, y))
    odd = xp.where(y % 2 == 0, 1, x)
    return xp.where(y < 0, xp.where(x == 1, 1, xp.where(x == -1, odd, 0)), power)


numpy_binary(
    "add",
    PROMOTE,
    "add",
    "Elementwise sum.",
    partial=lambda F, g: (g, g),
    by_number=lambda a, F, g: g,
    mirrored="add",
    complexes=True,
    quantized=QUANTIZED_ADD,
)
numpy_binary(
    "subtract",
    SUBTRACT,
    "sub",
    "Elementwise difference.",
    partial=lambda F, g: (g, -g),
    by_number=lambda a, F, g: g,
    by_number_first=lambda a, F, g: -g,
    test_dtypes=_NUMBERS,
    complexes=True,
)
numpy_binary(
    "multiply",
    PROMOTE,
    "mul",
    "Elementwise product.",
    partial=lambda F, g, lhs, rhs: (F.broadcast_mul(g, rhs), F.broadcast_mul(g, lhs)),
    by_number=lambda a, F, g: g * a.scalar,
    mirrored="multiply",
    complexes=True,
    quantized=QUANTIZED_MUL,
    factor=lambda a: a.scalar,
)
numpy_binary(
    "true_divide divide",
    DIVIDE,
    "div",
    "Elementwise true quotient, a floating-point number.",
    partial=lambda F, g, lhs, rhs: (
        F.broadcast_div(g, rhs),
        -F.broadcast_div(F.broadcast_mul(g, lhs), F.square(rhs)),
    ),
    by_number=lambda a, F, g: g / a.scalar,
    by_number_first=lambda a, F, g, x: g * (-a.scalar) / (x * x),
    domain=(0.5, 2),
    complexes=True,
    factor=lambda a: 1 / a.scalar if a.scalar else None,
)
numpy_binary(
    "floor_divide",
    SUBTRACT,
    "floor_divide",
    "Floored quotient; integers divided by zero give 0.",
    define=_floor_divide,
    test_dtypes=_NUMBERS,
    domain=(0.6, 1.9),
    number=0.7,
)


def _mod_partials(F, g, lhs, rhs):
    return g, -F.broadcast_mul(g, F.floor(F.broadcast_div(lhs, rhs)))


numpy_binary(
    "mod remainder",
    SUBTRACT,
    "floor_mod",
    "Remainder with the sign of the divisor; integers divided by zero give 0.",
    define=_quietly_by_zero("mod"),
    partial=_mod_partials,
    of_integers=False,
    by_number=lambda a, F, g: g,
    by_number_first=lambda a, F, g, x: -g * F.floor(a.scalar / x),
    test_dtypes=_NUMBERS,
    domain=(0.6, 1.9),
    number=0.7,
)
numpy_binary(
    "fmod",
    SUBTRACT,
    "fmod",
    "Remainder with the sign of the dividend; integers divided by zero give 0.",
    define=_quietly_by_zero("fmod"),
    partial=lambda F, g, lhs, rhs: (g, -F.broadcast_mul(g, F.trunc(F.broadcast_div(lhs, rhs)))),
    of_integers=False,
    by_number=lambda a, F, g: g,
    by_number_first=lambda a, F, g, x: -g * F.trunc(a.scalar / x),
    test_dtypes=_NUMBERS,
    domain=(0.6, 1.9),
    number=0.7,
    amp="widest",
)


def _power_partials(F, g, lhs, rhs):
    slope = F.broadcast_mul(rhs, F.broadcast_power(lhs, rhs - 1))
    log = F.log(lhs + (lhs == 0))  # none for zero, so that 0 ** 2 has a gradient
    value = F.broadcast_mul(F.broadcast_power(lhs, rhs), log)
    return F.broadcast_mul(g, slope), F.broadcast_mul(g, value)


numpy_binary(
    "power pow",
    PROMOTE,
    "power",
    "Power; negative integer powers are 0, except for bases 1 and -1.",
    define=_power,
    partial=_power_partials,
    by_number=lambda a, F, g, x: g * a.scalar * x ** (a.scalar - 1.0),
    by_number_first=lambda a, F, g, y: g * y * (log_or_limit(a.scalar) if a.scalar else 0.0),
    integer_kernel="integer_power",
    domain=(0.5, 2),
    complexes=True,
    amp="fp32",
)
numpy_binary(
    "arctan2 atan2",
    FLOATING,
    "arctan2",
    "The arc tangent of x1 / x2 in the correct quadrant: the angle of the point (x2, x1).",
    partial=lambda F, g, lhs, rhs: (
        F.broadcast_div(F.broadcast_mul(g, rhs), F.broadcast_add(F.square(lhs), F.square(rhs))),
        -F.broadcast_div(F.broadcast_mul(g, lhs), F.broadcast_add(F.square(lhs), F.square(rhs))),
    ),
    by_number=lambda a, F, g, x: g * a.scalar / (x * x + a.scalar * a.scalar),
    by_number_first=lambda a, F, g, x: -g * a.scalar / (x * x + a.scalar * a.scalar),
)
numpy_binary(
    "hypot",
    FLOATING,
    "hypot",
    "The hypotenuse sqrt(x1^2 + x2^2).",
    partial=lambda F, g, lhs, rhs: (
        F.broadcast_div(F.broadcast_mul(g, lhs), F.broadcast_hypot(lhs, rhs)),
        F.broadcast_div(F.broadcast_mul(g, rhs), F.broadcast_hypot(lhs, rhs)),
    ),
    by_number=lambda a, F, g, x, y: g * x / y,
    mirrored="hypot",
    amp="widest",
)
numpy_binary(
    "copysign",
    SIGNED,
    "copysign",
    "The magnitude of x1 with the sign of x2.",
    partial=lambda F, g, lhs, rhs: (
        F.broadcast_mul(
            g, F.broadcast_mul(F.sign(lhs), F.broadcast_greater_equal(rhs, rhs * 0) * 2 - 1)
        ),
        None,
    ),
    by_number=lambda a, F, g, x: g * F.sign(x) * math.copysign(1, a.scalar),
    by_number_first=lambda a, F, g: None,
    amp="widest",
)
numpy_binary(
    "nextafter",
    FLOATING,
    "nextafter",
    "The next floating-point value after x1 towards x2.",
    test_dtypes=("float32", "float64", "float16"),
)
numpy_binary(
    "logaddexp",
    FLOATING,
    "logaddexp",
    "log(exp(x1) + exp(x2)), without overflow.",
    partial=lambda F, g, lhs, rhs: (
        F.broadcast_mul(g, F.sigmoid(F.broadcast_sub(lhs, rhs))),
        F.broadcast_mul(g, F.sigmoid(F.broadcast_sub(rhs, lhs))),
    ),
    by_number=lambda a, F, g, x: g * F.sigmoid(x - a.scalar),
    mirrored="logaddexp",
    amp="fp32",
)
numpy_binary(
    "ldexp",
    SCALE,
    "ldexp",
    "x1 * 2 ** x2.",
    define=lambda xp, x, y: x * xp.exp2(y),
    partial=lambda F, g, lhs, rhs: (
        F.broadcast_mul(g, 2.0**rhs),
        F.broadcast_mul(g, F.broadcast_mul(lhs, 2.0**rhs) * math.log(2)),
    ),
    by_number=lambda a, F, g: g * 2.0**a.scalar,
    by_number_first=lambda a, F, g, y: g * y * math.log(2),
    amp="fp32",
)


def _chosen(keeps):
    """Return the partials of a choice: the chosen operand gets the gradient, on ties the first."""

    def partial(F, g, lhs, rhs):
        first = getattr(F, f"broadcast_{keeps}_equal")(lhs, rhs)
        second = getattr(F, f"broadcast_{keeps}")(rhs, lhs)
        return F.broadcast_mul(g, first), F.broadcast_mul(g, second)

    return partial


def _chosen_by_number(keeps):
    if keeps == "greater":
        return lambda a, F, g, x: g * (x >= a.scalar)
    return lambda a, F, g, x: g * (x <= a.scalar)


for _name, _kernel, _keeps in (
    ("maximum", "maximum", "greater"),
    ("minimum", "minimum", "lesser"),
    ("fmax", "fmax", "greater"),
    ("fmin", "fmin", "lesser"),
):
    numpy_binary(
        _name,
        PROMOTE,
        _kernel,
        f"Elementwise {'maximum' if _keeps == 'greater' else 'minimum'}; NaN is "
        f"{'ignored' if _name[0] == 'f' else 'propagated'}.",
        partial=_chosen(_keeps),
        by_number=_chosen_by_number(_keeps),
        mirrored=_name,
        number=0.3,
        amp="widest" if _name[0] == "f" else None,
    )

# --- comparisons and logic -----------------------------------------------------------------------

for _name, _kernel, _mirrored, _doc in (
    ("equal", "equal", "equal", "True where x1 == x2."),
    ("not_equal", "not_equal", "not_equal", "True where x1 != x2."),
    ("less", "lesser", "greater", "True where x1 < x2."),
    ("less_equal", "lesser_equal", "greater_equal", "True where x1 <= x2."),
    ("greater", "greater", "less", "True where x1 > x2."),
    ("greater_equal", "greater_equal", "less_equal", "True where x1 >= x2."),
    (
        "logical_and",
        "logical_and",
        "logical_and",
        "Logical AND: True where both operands are nonzero.",
    ),
    ("logical_or", "logical_or", "logical_or", "Logical OR: True where an operand is nonzero."),
    (
        "logical_xor",
        "logical_xor",
        "logical_xor",
        "Logical XOR: True where exactly one operand is nonzero.",
    ),
):
    numpy_binary(
        _name,
        COMPARE,
        _kernel,
        _doc,
        mirrored=_mirrored,
        keywords=_name.startswith("logical"),
        number=0.0,
        complexes=_name in ("equal", "not_equal") or _name.startswith("logical"),
        amp="widest",
    )

# --- integers ------------------------------------------------------------------------------------

for _names, _rule, _kernel, _doc in (
    ("bitwise_and", BITS, "bit_and", "Bitwise AND."),
    ("bitwise_or", BITS, "bit_or", "Bitwise OR."),
    ("bitwise_xor", BITS, "bit_xor", "Bitwise XOR."),
    ("gcd", SHIFT, "gcd", "The greatest common divisor."),
    ("lcm", SHIFT, "lcm", "The least common multiple."),
):
    numpy_binary(
        _names,
        _rule,
        _kernel,
        _doc,
        mirrored=_names,
        test_dtypes=(*_INTEGERS, "uint64") if _rule is SHIFT else (*_INTEGERS, "uint64", "bool"),
        domain=(0, 20),
        number=3,
    )


def _shift(name):
    def define(xp, x, y):
        width = 8 * x.dtype.itemsize
        beyond = (y < 0) | (y >= width)
        result = getattr(xp, name)(x, xp.where(beyond, 0, y).astype(x.dtype))
        empty = -(x < 0).astype(x.dtype) if name == "right_shift" else 0
        return xp.where(beyond, empty, result)

    return define


for _names, _kernel, _numpy in (
    ("bitwise_left_shift left_shift", "shift_left", "left_shift"),
    ("bitwise_right_shift right_shift", "shift_right", "right_shift"),
):
    numpy_binary(
        _names,
        SHIFT,
        _kernel,
        f"Shift the bits of x1 {_kernel[6:]} by x2 places.",
        define=_shift(_numpy),
        keywords=False,
        test_dtypes=(*_INTEGERS, "uint64"),
        domain=(0, 6),
        number=3,
    )
