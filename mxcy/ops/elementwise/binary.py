"""Elementwise binary operators, in all forms that `binary` registers."""

import math

import numpy as np

from mxcy.ops.core.infer import back_inputs
from mxcy.ops.core.quantized import Quantized
from mxcy.ops.core.record import native, register, sample
from mxcy.ops.core.stypes import densely, on_stored, refuse, rule
from mxcy.ops.elementwise.broadcast import (
    ALL,
    binary,
    both_grads,
    infer_equal,
    refuse_unequal,
    scalar_form,
)
from mxcy.ops.sparse.rules import BOTH, KEPT, MIXED, MULTIPLIED, csr_by_dense, divided, united

__all__ = ["QUANTIZED_ADD", "QUANTIZED_MUL", "log_or_limit"]


def _divide(xp, x, y):
    if x.dtype.kind in "fc":
        return x / y
    quotient = xp.trunc(xp.divide(x, xp.where(y == 0, 1, y)))
    return xp.where(y == 0, 0, quotient)


def _modulo(xp, x, y):
    return xp.where(y == 0, 0, xp.mod(x, xp.where(y == 0, 1, y)))


def log_or_limit(value):
    """Return the natural logarithm, with IEEE results for zero and negative values."""
    return math.log(value) if value > 0 else (-math.inf if value == 0 else math.nan)


def _power(xp, x, y):
    if x.dtype.kind in "fc":
        return xp.power(x, y)
    return xp.power(x.astype("float64"), y)


#: the quantized counterparts of sums and products
QUANTIZED_ADD, QUANTIZED_MUL = (
    Quantized(f"_contrib_quantized_elemwise_{kind}", wide=True, calibrates=True)
    for kind in ("add", "mul")
)
#: adding a nonzero scalar makes all elements nonzero
_SHIFTED = (*on_stored(*BOTH, when=lambda a, data: a.scalar == 0), *densely(*BOTH))
_CSR_TO_DENSE = densely("csr default", "default csr")


def _one_shape(a, lhs, rhs):
    return lhs.shape == rhs.shape


def _keeping_zero(define):
    """Return the storage rules of a comparison with a scalar: sparse if zero compares false."""
    zero = np.zeros(())
    return on_stored(*BOTH, when=lambda a, data: not define(np, zero, a.scalar))


binary(
    "add",
    "plus",
    "Plus",
    lambda xp, x, y: x + y,
    lambda F, g: (g, g),
    lambda a, F, g: g,
    equal_shapes=("elemwise_add", ("_Plus", "_add", "_grad_add", "_plus", "_sparse_elemwise_add")),
    aliases=("_sparse_broadcast_add", "_sparse_broadcast_plus", "broadcast_plus"),
    doc="Elementwise sum.",
    stypes=(*united("add"), *MIXED),
    broadcast_stypes=_CSR_TO_DENSE,
    scalar_stypes=_SHIFTED,
    complexes=True,
    quantized=QUANTIZED_ADD,
)
binary(
    "sub",
    "minus",
    "Minus",
    lambda xp, x, y: x - y,
    lambda F, g: (g, -g),
    lambda a, F, g: g,
    lambda a, F, g: -g,
    equal_shapes=("elemwise_sub", ("_Minus", "_minus", "_sparse_elemwise_sub", "_sub")),
    aliases=("_sparse_broadcast_minus", "_sparse_broadcast_sub", "broadcast_minus"),
    doc="Elementwise difference.",
    stypes=(*united("sub"), *MIXED),
    broadcast_stypes=_CSR_TO_DENSE,
    scalar_stypes=_SHIFTED,
    complexes=True,
)
binary(
    "mul",
    "mul",
    "Mul",
    lambda xp, x, y: x * y,
    lambda F, g, lhs, rhs: (F.broadcast_mul(g, rhs), F.broadcast_mul(g, lhs)),
    lambda a, F, g: g * a.scalar,
    equal_shapes=("elemwise_mul", ("_Mul", "_mul", "_sparse_elemwise_mul")),
    aliases=("_sparse_broadcast_mul",),
    doc="Elementwise product.",
    stypes=MULTIPLIED,
    broadcast_stypes=(csr_by_dense("elemwise_mul"),),
    scalar_stypes=KEPT,
    factor=lambda a: a.scalar,
    equal_partial=lambda F, g, lhs, rhs: (F.elemwise_mul(g, rhs), F.elemwise_mul(g, lhs)),
    complexes=True,
    quantized=QUANTIZED_MUL,
    amp=("widest", "widest/fp32", None, None),
)
binary(
    "div",
    "div",
    "Div",
    _divide,
    lambda F, g, lhs, rhs: (F.broadcast_div(g, rhs), -(g * lhs) / (rhs * rhs)),
    lambda a, F, g: g / a.scalar,
    lambda a, F, g, x: g * (-a.scalar) / (x * x),
    domain=(0.5, 2),
    equal_shapes=("elemwise_div", ("_Div", "_div", "_sparse_elemwise_div")),
    aliases=("_sparse_broadcast_div",),
    doc="Elementwise quotient; integers are truncated towards zero.",
    stypes=(*MIXED, *densely("row_sparse row_sparse")),
    broadcast_stypes=(
        csr_by_dense("elemwise_div", lambda a, lhs, rhs: lhs.shape != rhs.shape),
        refuse("csr default", "lhs and rhs have one shape: use elemwise_div", _one_shape),
    ),
    scalar_stypes=KEPT,
    factor=lambda a: 1 / a.scalar if a.scalar else None,
    complexes=True,
    amp=("widest", "widest", None, "fp32"),
)
binary(
    "mod",
    "mod",
    "Mod",
    _modulo,
    lambda F, g, lhs, rhs: (g + 0, -g * F.floor(lhs / rhs)),
    lambda a, F, g: g,
    lambda a, F, g, x: -g * F.floor(a.scalar / x),
    domain=(0.6, 1.9),
    number=0.7,
    equal_shapes=("_mod", ("_Mod",)),
    doc="Elementwise remainder with the sign of the divisor; 0 for divisor 0.",
)
binary(
    "power",
    "power",
    "Power",
    _power,
    lambda F, g, lhs, rhs: (g * rhs * lhs ** (rhs - 1), g * lhs**rhs * F.log(lhs)),
    lambda a, F, g, x: g * a.scalar * x ** (a.scalar - 1.0),
    lambda a, F, g, y: g * y * log_or_limit(a.scalar),
    domain=(0.5, 2),
    equal_shapes=("_power", ("_Power",)),
    doc="Elementwise power.",
    stypes=(*MIXED, *densely("row_sparse row_sparse")),
    complexes=True,
    amp=("fp32",) * 4,
)
binary(
    "maximum",
    "maximum",
    "Maximum",
    lambda xp, x, y: xp.maximum(x, y),
    lambda F, g, lhs, rhs: (
        g * F.broadcast_greater_equal(lhs, rhs),
        g * F.broadcast_lesser(lhs, rhs),
    ),
    lambda a, F, g, x: g * (x >= a.scalar),
    equal_shapes=("_maximum", ("_Maximum",)),
    number=0.3,
    doc="Elementwise maximum.",
    stypes=united("maximum"),
)
binary(
    "minimum",
    "minimum",
    "Minimum",
    lambda xp, x, y: xp.minimum(x, y),
    lambda F, g, lhs, rhs: (
        g * F.broadcast_lesser_equal(lhs, rhs),
        g * F.broadcast_greater(lhs, rhs),
    ),
    lambda a, F, g, x: g * (x <= a.scalar),
    equal_shapes=("_minimum", ("_Minimum",)),
    number=0.3,
    doc="Elementwise minimum.",
    stypes=united("minimum"),
)
binary(
    "hypot",
    "hypot",
    "Hypot",
    lambda xp, x, y: xp.hypot(x, y),
    lambda F, g, lhs, rhs: (
        g * lhs / F.broadcast_hypot(lhs, rhs),
        g * rhs / F.broadcast_hypot(lhs, rhs),
    ),
    lambda a, F, g, x, y: g * x / y,
    equal_shapes=("_hypot", ("_Hypot",)),
    doc="Elementwise hypotenuse sqrt(x^2 + y^2).",
    stypes=united("hypot"),
    amp=("widest/fp32", "widest/fp32", None, None),
)
# --- on stored elements only ---
register(
    "_scatter_elemwise_div",
    inputs="lhs rhs",
    infer=infer_equal,
    infer_back=back_inputs,
    grad=both_grads(lambda F, g, lhs, rhs: (F.broadcast_div(g, rhs), -(g * lhs) / (rhs * rhs))),
    ref=lambda a, xp, lhs, rhs: _divide(xp, lhs, rhs).astype(lhs.dtype),
    kernels=(native("div", when=refuse_unequal, inplace=True, pointwise=True),),
    samples=(sample((3, 4), (3, 4)),),
    domain=(0.5, 2),
    dtypes=ALL,
    doc="Quotient of arrays of equal shape; only the stored rows of a row_sparse lhs are divided.",
    stypes=tuple(
        rule(f"row_sparse {s} -> row_sparse", divided) for s in ("default", "row_sparse", "csr")
    ),
    amp="widest",
)
for _word, _stem, _define in (
    ("plus", "add", lambda xp, x, s: x + s),
    ("minus", "sub", lambda xp, x, s: x - s),
):
    scalar_form(
        f"_scatter_{_word}_scalar",
        (),
        _define,
        lambda a, F, g: g,
        f"{_stem}_scalar",
        (-2, 2),
        1.5,
        f"The array {_word} a scalar; for a sparse array, only the stored elements.",
        KEPT,
    )
for _stem, _camel, _define, _old, _when in (
    ("equal", "Equal", lambda xp, x, y: x == y, "_Equal", "lhs == rhs"),
    ("not_equal", "NotEqual", lambda xp, x, y: x != y, "_Not_Equal", "lhs != rhs"),
    ("greater", "Greater", lambda xp, x, y: x > y, "_Greater", "lhs > rhs"),
    ("greater_equal", "GreaterEqual", lambda xp, x, y: x >= y, "_Greater_Equal", "lhs >= rhs"),
    ("lesser", "Lesser", lambda xp, x, y: x < y, "_Lesser", "lhs < rhs"),
    ("lesser_equal", "LesserEqual", lambda xp, x, y: x <= y, "_Lesser_Equal", "lhs <= rhs"),
    (
        "logical_and",
        "LogicalAnd",
        lambda xp, x, y: (x != 0) & (y != 0),
        "_Logical_And",
        "both operands are nonzero",
    ),
    (
        "logical_or",
        "LogicalOr",
        lambda xp, x, y: (x != 0) | (y != 0),
        "_Logical_Or",
        "an operand is nonzero",
    ),
    (
        "logical_xor",
        "LogicalXor",
        lambda xp, x, y: (x != 0) ^ (y != 0),
        "_Logical_Xor",
        "exactly one operand is nonzero",
    ),
):
    binary(
        _stem,
        _stem,
        _camel,
        _define,
        aliases=("_npx_broadcast_greater",) if _stem == "greater" else (),
        scalar_stypes=() if _stem.startswith("logical") else _keeping_zero(_define),
        equal_shapes=(f"_{_stem}", (_old,)),
        number=0.0,
        complexes=_stem in ("equal", "not_equal"),
        doc=f"1 where {_when}, else 0, in the operands' dtype.",
    )
