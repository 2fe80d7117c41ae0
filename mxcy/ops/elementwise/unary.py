"""Elementwise operators of one array."""

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
    """The output is like the only input."""
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
    """Register an elementwise operator of one array.

    Parameters
    ----------
    name, aliases
        Operator names; the kernel has the operator's name.
    define : str or callable
        The array module's function that defines it, or ``f(xp, x)``.
    grad : callable, optional
        ``grad(a, F, g, ...)``: the gradient from the output's gradient `g`; it may also ask for the
        input ``x`` and the output ``y``.
    domain : (float, float)
        Where the battery samples inputs.
    ints : bool
        Whether it makes sense on integers.
    tol : float
        Factor on the battery's tolerances.
    zero : bool
        Whether it maps zero to zero, so that sparse arrays stay sparse.
    ends : bool
        Whether fused layers can apply it to their results; see `mxcy.ops.fused.layer`.
    sparse : bool
        Whether `mx.nd.sparse` and `mx.sym.sparse` offer it, as MXNet's do, under the alias
        ``_sparse_<name>``.
    complexes : bool
        Whether it takes complex numbers, which gradients are of those in `mx.np`.
    amp : str, optional
        What mixed precision does with it.
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
    """A reference made of a function of one float, for what array modules lack."""
    return lambda xp, x: xp.vectorize(function, otypes=[xp.float64])(x)


def _zero(a, F, g):
    return F.zeros_like(g)


def half_away(xp, x):
    """The nearest integer; halves go away from zero."""
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
    "Negation.",
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
    "Square.",
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
    "One divided by the value.",
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
    "Reciprocal of the square root.",
    lambda xp, x: 1 / xp.sqrt(x),
    lambda a, F, g, x, y: g * y / x * -0.5,
    (0.1, 4),
    complexes=True,
    amp="fp32",
)
unary("cbrt", "Cube root.", "cbrt", lambda a, F, g, y: g / (y * y * 3), (0.1, 4), zero=True)
unary(
    "rcbrt",
    "Reciprocal of the cube root.",
    lambda xp, x: 1 / xp.cbrt(x),
    lambda a, F, g, x, y: g * y / x * (-1 / 3),
    (0.1, 4),
    sparse=False,
    amp="fp32",
)
unary("degrees", "Radians as degrees.", "degrees", lambda a, F, g: g * (180 / math.pi), zero=True)
unary("radians", "Degrees as radians.", "radians", lambda a, F, g: g * (math.pi / 180), zero=True)

# --- rounding ---
unary("floor", "The largest integer not above the value.", "floor", _zero, (-3, 3), zero=True)
unary("ceil", "The smallest integer not below the value.", "ceil", _zero, (-3, 3), zero=True)
unary("trunc", "The integer nearest towards zero.", "trunc", _zero, (-3, 3), zero=True)
unary("fix", "The integer nearest towards zero.", "trunc", _zero, (-3, 3), zero=True)
unary("round", "The nearest integer; halves away from zero.", half_away, _zero, (-3, 3), zero=True)
unary(
    "rint",
    "The nearest integer; halves towards the smaller one.",
    lambda xp, x: xp.where(x - xp.floor(x) <= xp.ceil(x) - x, xp.floor(x), xp.ceil(x)),
    _zero,
    (-3, 3),
    zero=True,
)

# --- activations ---
unary(
    "relu",
    "max(x, 0).",
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
    "1 / (1 + exp(-x)).",
    sigmoid,
    lambda a, F, g, y: F._activation_grad(g, y, act_type="sigmoid"),
    (-4, 4),
    ends=True,
)
unary(
    "log_sigmoid",
    "log(1 / (1 + exp(-x))).",
    lambda xp, x: xp.minimum(x, 0) - xp.log1p(xp.exp(-xp.abs(x))),
    lambda a, F, g, y: g * (1 - F.exp(y)),
    (-4, 4),
    sparse=False,
)
unary(
    "softsign",
    "x / (1 + abs(x)).",
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
    "x * tanh(log(1 + exp(x))).",
    lambda xp, x: x * xp.tanh(xp.maximum(x, 0) + xp.log1p(xp.exp(-xp.abs(x)))),
    _mish_grad,
    (-3, 3),
    sparse=False,
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
    doc="1 where the value is zero, 0 elsewhere.",
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
        doc=f"An array of {_name[:-5]} like the input.",
    )
