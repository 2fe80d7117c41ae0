"""Elementwise unary operators."""

import math

from mxcy.ops.activation.definitions import sigmoid
from mxcy.ops.core.infer import Spec, back_data
from mxcy.ops.core.params import SCALAR
from mxcy.ops.core.record import native, register, sample
from mxcy.ops.core.stypes import rule
from mxcy.ops.sparse import compose
from mxcy.ops.sparse.rules import BOTH, KEPT

__all__ = ["by_element", "half_away", "infer_same", "unary"]

_FLOATS = ("float32", "float64", "float16", "bfloat16")
_ALL = (*_FLOATS, "int32", "int64", "int8", "uint8")


def infer_same(a, data):
    """Infer an output like the only input."""
    return Spec(data.shape, data.dtype)


def unary(
    name,
    doc,
    define,
    grad=None,
    domain=(-1.0, 1.0),
    aliases=(),
    ints=False,
    tol=1.0,
    zero=False,
    ends=False,
    sparse=True,
    complexes=False,
    amp=None,
):
    """Register an elementwise unary operator.

    Parameters
    ----------
    name, aliases
        Operator names; the kernel has the operator's name.
    define : str or callable
        Function of the array module that defines the operator, or ``f(xp, x)``.
    grad : callable, optional
        ``grad(a, F, g, ...)``: the gradient from the output's gradient `g`; may also take the input
        ``x`` and the output ``y``.
    domain : (float, float)
        Range of test inputs.
    ints : bool
        Whether integers are supported.
    tol : float
        Factor on the test tolerances.
    zero : bool
        Whether zero is mapped to zero, so that sparse arrays stay sparse.
    ends : bool
        Whether fused layers support it as activation; see `mxcy.ops.fused.layer`.
    sparse : bool
        Whether it is in `mx.nd.sparse` and `mx.sym.sparse`, as in MXNet, under the alias
        ``_sparse_<name>``.
    complexes : bool
        Whether complex arrays are supported, as gradients of `mx.np` need.
    amp : str, optional
        Mixed precision category.
    """
    if sparse:
        aliases = (*aliases, f"_sparse_{name}")
    function = define if callable(define) else lambda xp, x: getattr(xp, define)(x)
    return register(
        name,
        aliases=aliases,
        infer=infer_same,
        infer_back=back_data,
        grad=grad,
        names={"x": ("in", 0), "y": ("out", 0)},
        ref=lambda a, xp, data: function(xp, data).astype(data.dtype, copy=False),
        kernels=(native(name, inplace=True, pointwise=True),),
        samples=(sample((3, 4), tol=tol), sample((2, 3, 19), tol=tol, grad=False)),
        dtypes=_ALL if ints else _FLOATS,
        amp=amp,
        domain=domain,
        doc=doc,
        complexes=complexes,
        stypes=KEPT if zero else (),
        epilogue=(lambda a: (name, 0.0, 0.0)) if ends else None,
    )


def by_element(function):
    """Return a reference from a scalar function, for functions that array modules lack."""
    return lambda xp, x: xp.vectorize(function, otypes=[xp.float64])(x)


def _zero(a, F, g):
    return F.zeros_like(g)


def half_away(xp, x):
    """Round to the nearest integer, halves away from zero."""
    return xp.trunc(x + xp.copysign(0.5, x)) if x.dtype.kind == "f" else x


# --- arithmetic ---
unary(
    "abs",
    "Absolute value.",
    "abs",
    lambda a, F, g, x: g * F.sign(x),
    (-2, 2),
    ints=True,
    zero=True,
    ends=True,
    amp="either/either",
)
unary(
    "negative",
    "Negative: -x.",
    "negative",
    lambda a, F, g: -g,
    (-2, 2),
    ints=True,
    zero=True,
    complexes=True,
)
unary("sign", "Sign: -1, 0 or 1.", "sign", _zero, (-2, 2), ints=True, zero=True)
unary(
    "square",
    "Square: x^2.",
    "square",
    lambda a, F, g, x: g * x * 2,
    (-2, 2),
    ints=True,
    zero=True,
    ends=True,
    complexes=True,
    amp="fp32/either",
)
unary(
    "reciprocal",
    "Reciprocal: 1 / x.",
    lambda xp, x: 1 / x,
    lambda a, F, g, y: -g * y * y,
    (0.5, 2),
    sparse=False,
    complexes=True,
    amp="fp32",
)
unary(
    "sqrt",
    "Square root.",
    "sqrt",
    lambda a, F, g, y: g * 0.5 / y,
    (0.1, 4),
    zero=True,
    ends=True,
    complexes=True,
    amp="either/either",
)
unary(
    "rsqrt",
    "Reciprocal square root: 1 / sqrt(x).",
    lambda xp, x: 1 / xp.sqrt(x),
    lambda a, F, g, x, y: g * y / x * -0.5,
    (0.1, 4),
    complexes=True,
    amp="fp32",
)
unary("cbrt", "Cube root.", "cbrt", lambda a, F, g, y: g / (y * y * 3), (0.1, 4), zero=True)
unary(
    "rcbrt",
    "Reciprocal cube root: 1 / cbrt(x).",
    lambda xp, x: 1 / xp.cbrt(x),
    lambda a, F, g, x, y: g * y / x * (-1 / 3),
    (0.1, 4),
    sparse=False,
    amp="fp32",
)
unary(
    "degrees",
    "Convert radians to degrees.",
    "degrees",
    lambda a, F, g: g * (180 / math.pi),
    zero=True,
)
unary(
    "radians",
    "Convert degrees to radians.",
    "radians",
    lambda a, F, g: g * (math.pi / 180),
    zero=True,
)

# --- rounding ---
unary("floor", "Round down to the largest integer not above x.", "floor", _zero, (-3, 3), zero=True)
unary("ceil", "Round up to the smallest integer not below x.", "ceil", _zero, (-3, 3), zero=True)
unary("trunc", "Round towards zero.", "trunc", _zero, (-3, 3), zero=True)
unary("fix", "Round towards zero.", "trunc", _zero, (-3, 3), zero=True)
unary(
    "round",
    "Round to the nearest integer, halves away from zero.",
    half_away,
    _zero,
    (-3, 3),
    zero=True,
)
unary(
    "rint",
    "Round to the nearest integer, halves down.",
    lambda xp, x: xp.where(x - xp.floor(x) <= xp.ceil(x) - x, xp.floor(x), xp.ceil(x)),
    _zero,
    (-3, 3),
    zero=True,
)

# --- activations ---
unary(
    "relu",
    "The rectified linear unit max(x, 0).",
    lambda xp, x: xp.maximum(x, 0),
    lambda a, F, g, y: F._activation_grad(g, y, act_type="relu"),
    (-2, 2),
    ints=True,
    zero=True,
    ends=True,
    amp="either/either",
)
unary(
    "sigmoid",
    "The sigmoid function 1 / (1 + exp(-x)).",
    sigmoid,
    lambda a, F, g, y: F._activation_grad(g, y, act_type="sigmoid"),
    (-4, 4),
    ends=True,
)
unary(
    "log_sigmoid",
    "The log-sigmoid function log(1 / (1 + exp(-x))).",
    lambda xp, x: xp.minimum(x, 0) - xp.log1p(xp.exp(-xp.abs(x))),
    lambda a, F, g, y: g * (1 - F.exp(y)),
    (-4, 4),
)
unary(
    "softsign",
    "The softsign function x / (1 + abs(x)).",
    lambda xp, x: x / (1 + xp.abs(x)),
    lambda a, F, g, x: g / F.square(F.abs(x) + 1),
    (-3, 3),
    ("_npx_softsign",),
    sparse=False,
)


def _mish_grad(a, F, g, x):
    squashed, gate = F.tanh(F.Activation(x, act_type="softrelu")), F.sigmoid(x)
    return g * (squashed + x * gate * (1 - squashed * squashed))


unary(
    "mish",
    "The mish function x * tanh(log(1 + exp(x))).",
    lambda xp, x: x * xp.tanh(xp.maximum(x, 0) + xp.log1p(xp.exp(-xp.abs(x)))),
    _mish_grad,
    (-3, 3),
)

register(
    "logical_not",
    infer=infer_same,
    infer_back=back_data,
    grad=_zero,
    ref=lambda a, xp, data: (data == 0).astype(data.dtype),
    kernels=(native("logical_not", inplace=True, pointwise=True),),
    samples=(sample((3, 4)),),
    dtypes=_ALL,
    domain=(-1, 1),
    doc="Logical NOT: 1 where x is zero, 0 elsewhere.",
)

_EMPTIED = tuple(rule(f"{s} -> {s}", lambda a, F, x: compose.empty_like(F, x)) for s in BOTH)

for _name, _value in (("zeros_like", 0), ("ones_like", 1)):
    register(
        _name,
        aliases=("_sparse_zeros_like",) if _value == 0 else (),
        stypes=_EMPTIED if _value == 0 else (),
        infer=infer_same,
        infer_back=back_data,
        grad=_zero,
        ref=lambda a, xp, data, _value=_value: xp.full(data.shape, _value, data.dtype),
        ignores=("data",),
        kernels=(
            native(
                "fill",
                struct=SCALAR,
                params=lambda a, i, o, v=_value: {"scalar": v},
                inplace=True,
                pointwise=True,
            ),
        ),
        samples=(sample((3, 4)),),
        dtypes=_ALL,
        complexes=True,
        doc=f"Return an array of {_name[:-5]} with the shape and dtype of the input.",
    )
