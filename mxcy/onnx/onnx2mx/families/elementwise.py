"""Elementwise functions: arithmetic, comparison, logic, bits, casts."""

import numpy as np
from onnx import TensorProto

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.onnx.onnx2mx.table import row
from mxcy.onnx.onnx2mx.tensors import code_of

__all__ = []


def _direct(onnx_name, operator):
    def function(F, a, x):
        return F(operator, x)

    row(onnx_name)(function)


for _name, _operator in {
    "Abs": "_npi_absolute",
    "Acos": "arccos",
    "Acosh": "arccosh",
    "Asin": "arcsin",
    "Asinh": "arcsinh",
    "Atan": "arctan",
    "Atanh": "arctanh",
    "BitwiseNot": "_npi_bitwise_not",
    "Ceil": "_npi_ceil",
    "Cos": "cos",
    "Cosh": "cosh",
    "Erf": "erf",
    "Exp": "exp",
    "Floor": "_npi_floor",
    "IsNaN": "_npi_isnan",
    "Log": "log",
    "Neg": "_npi_negative",
    "Not": "_npi_logical_not",
    "Reciprocal": "reciprocal",
    "Round": "_npi_rint",
    "Sign": "_npi_sign",
    "Sin": "sin",
    "Sinh": "sinh",
    "Sqrt": "sqrt",
    "Tan": "tan",
}.items():
    _direct(_name, _operator)


@row("Identity")
def identity(F, a, x):
    return x


@row("IsInf")
def is_inf(F, a, x):
    if a.detect_negative and a.detect_positive:
        return F("_npi_isinf", x)
    if not (a.detect_negative or a.detect_positive):
        return F("_npi_logical_and", F("_npi_isinf", x), F.constant(np.array(False)))
    return F("_npi_isposinf" if a.detect_positive else "_npi_isneginf", x)


# --- two operands --------------------------------------------------------------------------------


def aligned(F, a, x, y):
    """Reshape the second operand so that NumPy broadcasting equals that of opsets before 7."""
    if a.opset >= 7 or not a.broadcast or a.axis is None:
        return y
    behind = x.ndim - a.axis % x.ndim - y.ndim
    return y.reshape(*y.full_shape, *(1,) * behind)


def _reckoned(F, sign, x, y):
    """Apply a function to shapes with open extents; None for other operands."""
    if not x.is_open and not y.is_open or x.array is None or y.array is None:
        return None
    if max(x.array.size, y.array.size) > 64:
        return None
    return F.constant(F.open.arithmetic(sign, x.array, y.array))


_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "maximum": "max", "minimum": "min"}


def _binary(onnx_name, name):
    def function(F, a, x, y):
        y = aligned(F, a, x, y)
        extents = _reckoned(F, _SIGNS[name], x, y) if name in _SIGNS else _decided(F, name, x, y)
        return F.binary(name, x, y) if extents is None else extents

    row(onnx_name)(function)


def _decided(F, name, x, y):
    """Decide comparisons of open extents with negative numbers; None for others."""
    if name not in _ABOVE or not (x.is_open or y.is_open) or x.array is None or y.array is None:
        return None
    shape = np.broadcast_shapes(x.shape, y.shape)
    truths = []
    for left, right in zip(
        F.open.named(np.broadcast_to(x.array, shape)),
        F.open.named(np.broadcast_to(y.array, shape)),
        strict=True,
    ):
        if left == right:
            truths.append(_ABOVE[name][1])
        elif isinstance(left, str) and not isinstance(right, str) and right < 0:
            truths.append(_ABOVE[name][2])
        elif isinstance(right, str) and not isinstance(left, str) and left < 0:
            truths.append(_ABOVE[name][0])
        elif isinstance(left, str) or isinstance(right, str):
            return None
        else:
            truths.append(_ABOVE[name][(left > right) + (left >= right)])
    return F.constant(np.array(truths).reshape(shape))


#: comparison -> results for smaller, equal, larger numbers
_ABOVE = {
    "equal": (False, True, False),
    "greater": (False, False, True),
    "greater_equal": (False, True, True),
    "less": (True, False, False),
    "less_equal": (True, True, False),
}

for _name, _operator in {
    "Add": "add",
    "Sub": "subtract",
    "Mul": "multiply",
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "And": "logical_and",
    "Or": "logical_or",
    "Xor": "logical_xor",
    "Equal": "equal",
    "Greater": "greater",
    "GreaterOrEqual": "greater_equal",
    "Less": "less",
    "LessOrEqual": "less_equal",
}.items():
    _binary(_name, _operator)


@row("Div")
def div(F, a, x, y):
    y = aligned(F, a, x, y)
    if x.kind == "f":
        return F.binary("true_divide", x, y)
    quotient = _reckoned(F, "/", x, y)
    if quotient is not None:
        return quotient
    if x.kind == "u":
        return F("_npi_floor_divide", x, y)
    # truncates towards zero, as in C
    down = F("_npi_floor_divide", x, y)
    remainder = F.binary("subtract", x, F.binary("multiply", down, y))
    opposite = F("_npi_not_equal", F("_npi_sign", x), F("_npi_sign", y))
    inexact = F("_npi_not_equal", remainder, F.like(0, x))
    up = F("_npi_logical_and", inexact, opposite)
    return F.binary("add", down, up.astype(x.dtype))


@row("Mod")
def mod(F, a, x, y):
    remainder = _reckoned(F, "%", x, y)
    return F("_npi_fmod" if a.fmod else "_npi_mod", x, y) if remainder is None else remainder


@row("Pow")
def pow_(F, a, x, y):
    y = aligned(F, a, x, y)
    if x.spec.dtype == y.spec.dtype:
        return F.binary("power", x, y) if x.kind == "f" else F("_npi_power", x, y)
    if x.kind == "f":
        return F.binary("power", x, y.astype(x.dtype))
    if y.kind == "f":
        return F.binary("power", x.astype(y.dtype), y).astype(x.dtype)
    return F("_npi_power", x.astype("int64"), y.astype("int64")).astype(x.dtype)


@row("BitShift")
def bit_shift(F, a, x, y):
    if a.direction not in ("LEFT", "RIGHT"):
        raise MXNetError(f"attribute direction: expected LEFT or RIGHT, got {a.direction!r}")
    return F(f"_npi_bitwise_{a.direction.lower()}_shift", x, y)


def _chain(onnx_name, name):
    def function(F, a, first, *others):
        for value in others:
            extents = _reckoned(F, _SIGNS[name], first, value)
            first = F.binary(name, first, value) if extents is None else extents
        return first

    row(onnx_name)(function)


_chain("Sum", "add")
_chain("Max", "maximum")
_chain("Min", "minimum")


@row("Mean")
def mean(F, a, first, *others):
    for value in others:
        first = first + value
    return first / (1 + len(others))


@row("Where")
def where(F, a, condition, x, y):
    return F.where(condition, x, y)


# --- bounds --------------------------------------------------------------------------------------


@row("Clip")
def clip_by_attributes(F, a, x):
    low = None if a.min is None else F.like(a.min, x)
    high = None if a.max is None else F.like(a.max, x)
    return clip(F, a, x, low, high)


@row("Clip", since=11)
def clip(F, a, x, low=None, high=None):
    known = all(bound is None or bound.array is not None for bound in (low, high))
    if known and x.kind == "f" and not (low is None and high is None):
        ends = np.finfo(np.float32 if x.dtype.kind == "V" else x.dtype)
        return F(
            "clip",
            x,
            a_min=float(ends.min if low is None else low.array.reshape(())),
            a_max=float(ends.max if high is None else high.array.reshape(())),
        )
    if low is not None:
        x = F.binary("maximum", x, low)
    return x if high is None else F.binary("minimum", x, high)


# --- types ---------------------------------------------------------------------------------------

_OLD_NAMES = {name: number for name, number in TensorProto.DataType.items()}


@row("Cast")
def cast(F, a, x):
    to = a.to if not isinstance(a.to, str) else _OLD_NAMES.get(a.to, 0)
    code = code_of(to, "attribute to")
    if x.floats is not None and code == x.floats.spec.dtype:
        return x.floats
    if x.kind == "f" and dtypes.name_of(code) in ("uint8", "int8", "int16", "uint16", "uint32"):
        x = x.astype("int64")  # out-of-range values wrap around on every CPU
    return x.astype(dtypes.name_of(code))


@row("CastLike", since=15)
def cast_like(F, a, x, like):
    return x.astype(dtypes.name_of(like.spec.dtype))


@row("BitCast", since=26)
def bit_cast(F, a, x):
    array = x.numbers("the input of BitCast")
    code = code_of(a.to, "attribute to")
    return F.constant(array.view(dtypes.DTYPES[code]), code)
