"""Elementwise functions of one array."""

import math

import numpy as np

from mxcy.onnx.mx2onnx.registry import convert

__all__ = ["computed"]


def computed(G, *values):
    """Cast inputs to the dtype of the result, as `mx.np` accepts integers."""
    dtype = G.out.dtype
    return [G.cast(x, dtype) for x in values]


def _node(op_type):
    """Create the rule of an operator with a direct counterpart."""

    def rule(a, G, x):
        (x,) = computed(G, x)
        return G.op(op_type, x)

    return rule


for _name, _op_type in (
    ("abs", "Abs"),
    ("negative", "Neg"),
    ("reciprocal", "Reciprocal"),
    ("sqrt", "Sqrt"),
    ("exp", "Exp"),
    ("log", "Log"),
    ("sin", "Sin"),
    ("cos", "Cos"),
    ("tan", "Tan"),
    ("arcsin", "Asin"),
    ("arccos", "Acos"),
    ("arctan", "Atan"),
    ("sinh", "Sinh"),
    ("cosh", "Cosh"),
    ("tanh", "Tanh"),
    ("arcsinh", "Asinh"),
    ("arccosh", "Acosh"),
    ("arctanh", "Atanh"),
    ("sign", "Sign"),
):
    _rule = _node(_op_type)
    convert(_name, f"_npi_{'absolute' if _name == 'abs' else _name}")(_rule)

convert("softsign")(_node("Softsign"))
convert("erf")(_node("Erf"))
convert("relu", "_npx_relu")(_node("Relu"))
convert("sigmoid", "_npx_sigmoid")(_node("Sigmoid"))


@convert("floor", "ceil", "_npi_floor", "_npi_ceil")
def rounded(a, G, x):
    """Leave integers unchanged."""
    name = G.node.op.name
    return G.op("Floor" if name.endswith("floor") else "Ceil", x) if G.is_float(x) else x


@convert("trunc", "fix", "_npi_trunc", "_npi_fix")
def truncated(a, G, x):
    """Round towards zero."""
    return G.Sign(x) * G.Floor(G.Abs(x)) if G.is_float(x) else x


@convert("round")
def round_half_away(a, G, x):
    """Round halves away from zero."""
    return G.Sign(x) * G.Floor(G.Abs(x) + 0.5)


@convert("rint")
def round_half_down(a, G, x):
    """Round halves down."""
    return G.Ceil(x - 0.5)


@convert("_npi_rint")
def round_half_even(a, G, x):
    """Convert to Round, which rounds halves to even."""
    return G.Round(x) if G.is_float(x) else x


@convert("_npi_around")
def around(a, G, x):
    """Round to decimals."""
    if not G.is_float(x):
        return x if a.decimals >= 0 else G.unsupported("negative decimals of integers")
    if a.decimals == 0:
        return G.Round(x)
    scale = 10.0**a.decimals
    return G.Round(x * scale) / scale


@convert("square", "_npi_square")
def square(a, G, x):
    """Convert to a product, which is exact for integers."""
    (x,) = computed(G, x)
    return x * x


@convert("rsqrt")
def rsqrt(a, G, x):
    """Convert to two nodes, which runtimes fuse."""
    return G.Reciprocal(G.Sqrt(x))


@convert("cbrt", "_npi_cbrt")
def cbrt(a, G, x):
    """Power of the magnitude, times the sign."""
    (x,) = computed(G, x)
    return G.Sign(x) * G.Pow(G.Abs(x), G.like(x, 1 / 3))


@convert("rcbrt")
def rcbrt(a, G, x):
    """Reciprocal of the cube root."""
    return G.Sign(x) * G.Pow(G.Abs(x), G.like(x, -1 / 3))


@convert("degrees", "_npi_degrees")
def degrees(a, G, x):
    """Multiply by a constant."""
    (x,) = computed(G, x)
    return x * (180 / math.pi)


@convert("radians", "_npi_radians")
def radians(a, G, x):
    """Multiply by a constant."""
    (x,) = computed(G, x)
    return x * (math.pi / 180)


@convert("log2", "_npi_log2")
def log2(a, G, x):
    """Scale the natural logarithm."""
    (x,) = computed(G, x)
    return G.Log(x) / math.log(2)


@convert("log10", "_npi_log10")
def log10(a, G, x):
    """Scale the natural logarithm."""
    (x,) = computed(G, x)
    return G.Log(x) / math.log(10)


def _small(G, x):
    """Whether a value is so close to 0 that adding 1 loses precision."""
    return G.Less(G.Abs(x), G.like(x, 1e-2))


@convert("log1p", "_npi_log1p")
def log1p(a, G, x):
    """Use a series near 0, where 1 + x loses precision."""
    (x,) = computed(G, x)
    series = x * (1 + x * (-1 / 2 + x * (1 / 3 + x * (-1 / 4 + x * (1 / 5)))))
    return G.Where(_small(G, x), series, G.Log(x + 1))


@convert("expm1", "_npi_expm1")
def expm1(a, G, x):
    """Use a series near 0, where exp(x) - 1 loses precision."""
    (x,) = computed(G, x)
    series = x * (1 + x * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120)))))
    return G.Where(_small(G, x), series, G.Exp(x) - 1)


def _log_gamma(G, x):
    """log |gamma(x)| in float64: Stirling's series for x >= 8, reached by the recurrence."""
    below = G.Less(x, G.like(x, 0.5))
    up = G.Where(below, 1 - x, x)  # reflected
    small, product = G.Less(up, G.like(x, 8)), up
    for step in range(1, 8):
        product = product * (up + step)
    y = G.Where(small, up + 8, up)
    inverse = G.Reciprocal(y)
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680))))
    value = (y - 0.5) * (G.Log(y) - 1) + (math.log(2 * math.pi) / 2 - 0.5) + series
    value = value - G.Where(small, G.Log(product), G.like(x, 0))
    sine = G.Sin((x - G.Floor(x)) * math.pi)
    return G.Where(below, math.log(math.pi) - G.Log(sine) - value, value)


@convert("gammaln")
def gammaln(a, G, x):
    """In float64."""
    (x,) = computed(G, x)
    return G.cast(_log_gamma(G, G.cast(x, np.float64)), x.dtype)


@convert("gamma")
def gamma(a, G, x):
    """Exponential of gammaln, in float64; the sign alternates between intervals below 0."""
    (x,) = computed(G, x)
    double = G.cast(x, np.float64)
    size, floor = G.Exp(_log_gamma(G, double)), G.Floor(double)
    half = floor * 0.5
    odd = G.Not(G.Equal(half, G.Floor(half)))
    negative = G.Less(double, G.like(double, 0))
    result = G.Where(G.And(negative, odd), G.Neg(size), size)
    pole = G.And(negative, G.Equal(floor, double))
    return G.cast(G.Where(pole, G.like(double, math.nan), result), x.dtype)


@convert("log_sigmoid")
def log_sigmoid(a, G, x):
    """Negated softplus of the negation."""
    return G.Neg(G.Softplus(G.Neg(x)))


@convert("mish")
def mish(a, G, x):
    """Convert to a product for opsets without Mish."""
    return G.op("Mish", x) if G.opset >= 18 else x * G.Tanh(G.Softplus(x))


@convert("logical_not", "_npi_logical_not")
def logical_not(a, G, x):
    """Test for 0."""
    return G.Not(G.to_bool(x))


@convert("_npi_isnan")
def isnan(a, G, x):
    """Always False for integers."""
    return G.IsNaN(x) if G.is_float(x) else G.full(G.dims(x), False, bool)


def _infinite(G, x, **signs):
    if not G.is_float(x):
        return G.full(G.dims(x), False, bool)
    return G.op("IsInf", x, **signs)


@convert("_npi_isinf")
def isinf(a, G, x):
    """Test for infinity of either sign."""
    return _infinite(G, x)


@convert("_npi_isposinf")
def isposinf(a, G, x):
    """Test for positive infinity."""
    return _infinite(G, x, detect_negative=0)


@convert("_npi_isneginf")
def isneginf(a, G, x):
    """Test for negative infinity."""
    return _infinite(G, x, detect_positive=0)


@convert("_npi_isfinite")
def isfinite(a, G, x):
    """Test for neither infinity nor nan."""
    if not G.is_float(x):
        return G.full(G.dims(x), True, bool)
    return G.Not(G.Or(G.IsNaN(x), G.IsInf(x)))


@convert("_npi_bitwise_not")
def bitwise_not(a, G, x):
    """-1 - x, or for unsigned integers maximum - x."""
    if x.dtype == bool:
        return G.Not(x)
    if G.opset >= 18:
        return G.BitwiseNot(x)
    return np.iinfo(x.dtype).max - x if x.dtype.kind == "u" else -1 - x


@convert("_npi_nan_to_num")
def nan_to_num(a, G, x):
    """Replace nan and infinities by numbers."""
    if not G.is_float(x):
        return x
    limits = np.finfo(x.dtype)
    high = limits.max if a.posinf is None else a.posinf
    low = limits.min if a.neginf is None else a.neginf
    numbers = G.Where(G.IsNaN(x), G.like(x, a.nan), x)
    numbers = G.Where(G.op("IsInf", x, detect_negative=0), G.like(x, high), numbers)
    return G.Where(G.op("IsInf", x, detect_positive=0), G.like(x, low), numbers)


@convert(
    "_copy",
    "BlockGrad",
    "make_loss",
    "MakeLoss",
    "_npi_copy",
    "_contrib_gradientmultiplier",
    "cast_storage",
)
def identity(a, G, x):
    """The identity; at most the gradient differs."""
    return x


@convert("Dropout")
def dropout(a, G, x):
    """The identity, for prediction."""
    if a.mode == "always":
        G.unsupported("mode='always' also applies to prediction")
    return [x, None]


@convert("IdentityAttachKLSparseReg")
def identity_of_several(a, G, x, *states):
    """Return the first input."""
    return x


@convert("_identity_with_attr_like_rhs")
def identity_like(a, G, x, like):
    """Return the first input."""
    return x


@convert("Cast", "amp_cast", "_mx_astype")
def cast(a, G, x):
    """Cast to the result's dtype, truncating fractions."""
    return G.cast(x, G.out.dtype)


@convert("amp_multicast")
def multicast(a, G, *values):
    """Cast each input to its result's dtype."""
    return [G.cast(x, out.dtype) for x, out in zip(values, G.outs, strict=True)]


@convert("clip")
def clip(a, G, x):
    """None means no bound."""
    return G.clip(x, a.a_min, a.a_max)


@convert("smooth_l1")
def smooth_l1(a, G, x):
    """Quadratic near 0, linear with slope 1 beyond."""
    bound = 1 / a.scalar**2
    inner = x * x * (0.5 * a.scalar**2)
    return G.Where(G.Less(G.Abs(x), G.like(x, bound)), inner, G.Abs(x) - 0.5 * bound)


@convert("hard_sigmoid")
def hard_sigmoid(a, G, x):
    """Convert to HardSigmoid."""
    return G.HardSigmoid(x, alpha=a.alpha, beta=a.beta)


@convert("_contrib_div_sqrt_dim")
def div_sqrt_dim(a, G, x):
    """Divide by the square root of the last extent."""
    if x.shape[-1] != -1:
        return x / math.sqrt(x.shape[-1])
    return G.Div(x, G.Sqrt(G.cast(G.dim(x, -1), x.dtype)))


@convert("_contrib_quadratic")
def quadratic(a, G, x):
    """Use Horner's rule."""
    return (x * a.a + a.b) * x + a.c


@convert("_contrib_round_ste")
def round_ste(a, G, x):
    """Same as `round`."""
    return round_half_away(a, G, x)


@convert("_contrib_sign_ste")
def sign_ste(a, G, x):
    """Same as `sign`."""
    return G.Sign(x)


@convert("add_n")
def add_n(a, G, *values):
    """Sum any number of arrays."""
    return G.op("Sum", *values) if G.is_float(values[0]) else _chain(G, "Add", values)


def _chain(G, op_type, values):
    extents = values[0]
    for value in values[1:]:
        extents = G.op(op_type, extents, value)
    return extents
