"""Elementwise operators of one array."""

import math

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.activation.definitions import sigmoid
from mxcy.ops.core.attrs import Bool, Double, Dynamic, Float, Unstated
from mxcy.ops.core.infer import Spec, back_data, require
from mxcy.ops.core.params import SCALAR, SCALAR2
from mxcy.ops.core.record import native, op, register, sample
from mxcy.ops.core.stypes import on_stored, rule
from mxcy.ops.sparse import compose
from mxcy.ops.sparse.rules import BOTH, KEPT

__all__ = ["unary", "infer_same"]

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
        domain=domain,
        doc=doc,
        stypes=KEPT if zero else (),
        epilogue=(lambda a: (name, 0.0, 0.0)) if ends else None,
    )


def by_element(function):
    """A reference made of a function of one float, for what array modules lack."""
    return lambda xp, x: xp.vectorize(function, otypes=[xp.float64])(x)


def _zero(a, F, g):
    return F.zeros_like(g)


def _gamma(x):
    try:
        return math.gamma(x)
    except (ValueError, OverflowError):
        return math.nan if x < 0 or math.isnan(x) else math.inf


def _lgamma(x):
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return math.inf


def _digamma(x):
    """digamma: the recurrence, reflection and the asymptotic series."""
    if x <= 0 and (math.isinf(x) or x == math.floor(x)):
        return math.inf
    if x < 0:
        return _digamma(1 - x) - math.pi / math.tan(math.pi * x)
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
    """The inverse of the error function, by Newton steps on erf from Winitzki's approximation."""
    if abs(y) >= 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    log = math.log1p(-y * y)
    first = 2 / (math.pi * 0.147) + log / 2
    x = math.copysign(math.sqrt(math.sqrt(first * first - log / 0.147) - first), y)
    for _ in range(4):
        x -= (math.erf(x) - y) / (2 / math.sqrt(math.pi) * math.exp(-x * x))
    return x


def _half_away(xp, x):
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
)
unary("negative", "Negation.", "negative", lambda a, F, g: -g, (-2, 2), ints=True, zero=True)
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
)
unary(
    "reciprocal",
    "One divided by the value.",
    lambda xp, x: 1 / x,
    lambda a, F, g, y: -g * y * y,
    (0.5, 2),
    sparse=False,
)
unary(
    "sqrt", "Square root.", "sqrt", lambda a, F, g, y: g * 0.5 / y, (0.1, 4), zero=True, ends=True
)
unary(
    "rsqrt",
    "Reciprocal of the square root.",
    lambda xp, x: 1 / xp.sqrt(x),
    lambda a, F, g, x, y: g * y / x * -0.5,
    (0.1, 4),
)
unary("cbrt", "Cube root.", "cbrt", lambda a, F, g, y: g / (y * y * 3), (0.1, 4), zero=True)
unary(
    "rcbrt",
    "Reciprocal of the cube root.",
    lambda xp, x: 1 / xp.cbrt(x),
    lambda a, F, g, x, y: g * y / x * (-1 / 3),
    (0.1, 4),
    sparse=False,
)
unary("degrees", "Radians as degrees.", "degrees", lambda a, F, g: g * (180 / math.pi), zero=True)
unary("radians", "Degrees as radians.", "radians", lambda a, F, g: g * (math.pi / 180), zero=True)

# --- rounding ---
unary("floor", "The largest integer not above the value.", "floor", _zero, (-3, 3), zero=True)
unary("ceil", "The smallest integer not below the value.", "ceil", _zero, (-3, 3), zero=True)
unary("trunc", "The integer nearest towards zero.", "trunc", _zero, (-3, 3), zero=True)
unary("fix", "The integer nearest towards zero.", "trunc", _zero, (-3, 3), zero=True)
unary("round", "The nearest integer; halves away from zero.", _half_away, _zero, (-3, 3), zero=True)
unary(
    "rint",
    "The nearest integer; halves towards the smaller one.",
    lambda xp, x: xp.where(x - xp.floor(x) <= xp.ceil(x) - x, xp.floor(x), xp.ceil(x)),
    _zero,
    (-3, 3),
    zero=True,
)

# --- exponentials and logarithms ---
unary("exp", "Exponential.", "exp", lambda a, F, g, y: g * y, (-4, 4), ends=True)
unary(
    "expm1",
    "exp(x) - 1, accurate for small x.",
    "expm1",
    lambda a, F, g, y: g * (y + 1),
    (-2, 2),
    zero=True,
)
unary("log", "Natural logarithm.", "log", lambda a, F, g, x: g / x, (0.1, 4))
unary(
    "log1p",
    "log(1 + x), accurate for small x.",
    "log1p",
    lambda a, F, g, x: g / (x + 1),
    (-0.5, 2),
    zero=True,
)
unary("log2", "Logarithm to base 2.", "log2", lambda a, F, g, x: g / (x * math.log(2)), (0.1, 4))
unary(
    "log10", "Logarithm to base 10.", "log10", lambda a, F, g, x: g / (x * math.log(10)), (0.1, 4)
)

# --- trigonometry ---
unary("sin", "Sine.", "sin", lambda a, F, g, x: g * F.cos(x), (-4, 4), zero=True)
unary("cos", "Cosine.", "cos", lambda a, F, g, x: -g * F.sin(x), (-4, 4))
unary("tan", "Tangent.", "tan", lambda a, F, g, y: g * (y * y + 1), zero=True)
unary(
    "arcsin",
    "Inverse sine.",
    "arcsin",
    lambda a, F, g, x: g * F.rsqrt(1 - x * x),
    (-0.9, 0.9),
    zero=True,
)
unary(
    "arccos", "Inverse cosine.", "arccos", lambda a, F, g, x: -g * F.rsqrt(1 - x * x), (-0.9, 0.9)
)
unary("arctan", "Inverse tangent.", "arctan", lambda a, F, g, x: g / (x * x + 1), zero=True)
unary("sinh", "Hyperbolic sine.", "sinh", lambda a, F, g, x: g * F.cosh(x), (-2, 2), zero=True)
unary("cosh", "Hyperbolic cosine.", "cosh", lambda a, F, g, x: g * F.sinh(x), (-2, 2))
unary(
    "tanh",
    "Hyperbolic tangent.",
    "tanh",
    lambda a, F, g, y: F._activation_grad(g, y, act_type="tanh"),
    (-3, 3),
    zero=True,
    ends=True,
)
unary(
    "arcsinh",
    "Inverse hyperbolic sine.",
    "arcsinh",
    lambda a, F, g, x: g * F.rsqrt(x * x + 1),
    (-2, 2),
    zero=True,
)
unary(
    "arccosh",
    "Inverse hyperbolic cosine.",
    "arccosh",
    lambda a, F, g, x: g * F.rsqrt(x * x - 1),
    (1.1, 3),
)
unary(
    "arctanh",
    "Inverse hyperbolic tangent.",
    "arctanh",
    lambda a, F, g, x: g / (1 - x * x),
    (-0.8, 0.8),
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

# --- special functions ---
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
    "The inverse of the error function.",
    by_element(_erfinv),
    lambda a, F, g, y: g * F.exp(y * y) * (math.sqrt(math.pi) / 2),
    (-0.9, 0.9),
    ("_npx_erfinv",),
    tol=4,
    sparse=False,
)
unary(
    "gamma",
    "The gamma function.",
    by_element(_gamma),
    lambda a, F, g, x, y: g * y * F.digamma(x),
    (0.5, 4),
    ("_npx_gamma",),
    tol=4,
)
unary(
    "gammaln",
    "The logarithm of the gamma function's absolute value.",
    by_element(_lgamma),
    lambda a, F, g, x: g * F.digamma(x),
    (0.5, 5),
    ("_npx_gammaln",),
    tol=4,
)
unary(
    "digamma",
    "The logarithmic derivative of the gamma function.",
    by_element(_digamma),
    lambda a, F, g, x: g * F._trigamma(x),
    (0.5, 5),
    ("_npx_digamma",),
    tol=4,
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
        doc=f"An array of {_name[:-5]} like the input.",
    )


def _clip_params(a, ins, outs):
    """The bounds; those of an integer array within its type's range."""
    if dtypes.is_float(ins[0].dtype):
        return {"p": a.a_min, "q": a.a_max}
    info = np.iinfo(dtypes.dtype_of(ins[0].dtype))
    return {
        name: min(max(bound, float(info.min)), float(info.max))
        for name, bound in (("p", a.a_min), ("q", a.a_max))
    }


@op("clip", aliases=("_npi_clip", "_sparse_clip"))
class Clip:
    """Limit every element to [a_min, a_max]; the gradient is zero beyond."""

    a_min: Float
    a_max: Float

    dtypes = _ALL
    domain = (-3, 3)
    kernels = (native("clip", SCALAR2, _clip_params, inplace=True, pointwise=True),)

    def epilogue(a):
        return "clip", a.a_min, a.a_max

    samples = (sample((3, 4), a_min=-1.0, a_max=1.5), sample((5,), a_min=0.0, a_max=2.0))
    stypes = on_stored(*BOTH, when=lambda a, data: a.a_min <= 0 <= a.a_max)

    infer = infer_same
    infer_back = back_data

    def grad(a, F, g, data):
        return g * (1 - (data < a.a_min)) * (1 - (data > a.a_max))  # NaN passes

    def ref(a, xp, data):
        low = xp.where(data < a.a_min, a.a_min, data)
        return xp.where(data > a.a_max, a.a_max, low).astype(data.dtype)


@op("smooth_l1", aliases=("_npx_smooth_l1",))
class SmoothL1:
    """The loss of bounding boxes: quadratic for small values, linear for large ones.

    ``0.5 * (scalar * x)^2`` where ``abs(x) < 1 / scalar^2``, else ``abs(x) - 0.5 / scalar^2``.
    """

    scalar: Unstated(Float) = 1.0

    domain = (-2, 2)
    kernels = (
        native(
            "smooth_l1",
            SCALAR2,
            lambda a, i, o: {"p": a.scalar, "q": 0},
            inplace=True,
            pointwise=True,
        ),
    )
    samples = (sample((3, 4)), sample((3, 4), scalar=2.0), sample((3, 4), scalar=0.6))

    infer = infer_same
    infer_back = back_data

    def grad(a, F, g, data):
        square = a.scalar * a.scalar
        bound = 1 / square if square else math.inf
        return g * F.where(F.abs(data) > bound, F.sign(data), data * square)  # NaN stays

    def ref(a, xp, data):
        square, size = a.scalar * a.scalar, xp.abs(data)
        bound = 1 / square if square else math.inf
        loss = xp.where(size > bound, size - 0.5 * bound, 0.5 * square * data * data)
        return loss.astype(data.dtype)


@op("hard_sigmoid")
class HardSigmoid:
    """``alpha * x + beta`` limited to [0, 1]."""

    alpha: Float = 0.2
    beta: Float = 0.5

    dtypes = _FLOATS
    domain = (-4, 4)
    kernels = (
        native(
            "hard_sigmoid",
            SCALAR2,
            lambda a, i, o: {"p": a.alpha, "q": a.beta},
            inplace=True,
            pointwise=True,
        ),
    )
    samples = (sample((3, 4)), sample((3, 4), alpha=0.3, beta=0.1))

    def infer(a, data):
        require(
            data.dtype is None or dtypes.is_float(data.dtype),
            f"data: only floating dtypes are supported, got {data}",
        )
        return infer_same(a, data)

    infer_back = back_data

    def grad(a, F, g, out):
        return g * (out > 0) * (out < 1) * a.alpha

    def ref(a, xp, data):
        return xp.clip(a.alpha * data + a.beta, 0, 1).astype(data.dtype)


@op("_contrib_div_sqrt_dim")
class DivSqrtDim:
    """Divide by the square root of the last extent, as attention does."""

    samples = (sample((3, 4)), sample((2, 3, 5)))

    infer = infer_same
    infer_back = back_data

    def grad(a, F, g):
        return F._contrib_div_sqrt_dim(g)

    def ref(a, xp, data):
        return data / math.sqrt(data.shape[-1])


@op("_contrib_quadratic")
class Quadratic:
    """``a x^2 + b x + c``, the operator of the original's tutorial."""

    a: Float = 0.0
    b: Float = 0.0
    c: Float = 0.0

    samples = (sample((3, 4), a=2.0, b=-1.0, c=0.5),)
    stypes = on_stored("csr", when=lambda a, data: a.c == 0)

    infer = infer_same
    infer_back = back_data

    def grad(a, F, g, data):
        return g * (data * (2 * a.a) + a.b)

    def ref(a, xp, data):
        return a.a * data * data + a.b * data + a.c


@op("_contrib_gradientmultiplier", identity=True)
class GradientMultiplier:
    """The data itself, whose gradient is multiplied by `scalar` (negative values reverse it)."""

    scalar: Dynamic(Double) = 1.0
    is_int: Bool = True

    samples = (sample((3, 4), scalar=1.0), sample((3, 4), scalar=-0.5, grad=False))
    stypes = KEPT

    infer = infer_same
    infer_back = back_data

    def grad(a, F, g):
        return g * a.scalar

    def ref(a, xp, data):
        return data


for _name, _define in (("round", _half_away), ("sign", lambda xp, x: xp.sign(x))):
    register(
        f"_contrib_{_name}_ste",
        aliases=(f"_sparse__contrib_{_name}_ste",),
        infer=infer_same,
        infer_back=back_data,
        grad=lambda a, F, g: g,
        ref=lambda a, xp, data, _define=_define: _define(xp, data),
        kernels=(native(_name, inplace=True),),
        stypes=KEPT,
        samples=(sample((3, 4), grad=False),),
        domain=(-3, 3),
        doc=f"`{_name}` whose gradient passes straight through.",
    )
