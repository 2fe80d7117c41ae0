"""Elementwise unary functions of `mx.np`."""

from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import register, sample
from mxcy.ops.core.result_types import BITS, FIX, KEEP, MAGNITUDE, NUMBERS, REAL, TEST, WHOLE
from mxcy.ops.elementwise.numpy_forms import numpy_unary

__all__ = []

_FLOATS = ("float32", "float64", "float16", "bfloat16")
_INTEGERS = ("int32", "int64", "int8", "uint8")
_NUMBERS = (*_FLOATS, *_INTEGERS)


def _whole(xp, x, name):
    """Apply a rounding function; integers are unchanged."""
    return getattr(xp, name)(x) if x.dtype.kind == "f" else x


def _arccosh_grad(F, g, x):
    """Compute the gradient with two roots: the root of the product has the wrong branch."""
    return g * F.rsqrt(x - 1) * F.rsqrt(x + 1)


def _expm1(xp, x):
    """Compute NumPy's expm1, but by exp at complex 0 and infinities, as in the array API."""
    result = xp.expm1(x)
    if x.dtype.kind != "c":
        return result
    return xp.where(xp.isfinite(x) & (x != 0), result, xp.exp(x) - 1)


def _tanh(xp, x):
    """Compute NumPy's tanh, but keep the imaginary sign at infinity, as in the array API."""
    result = xp.tanh(x)
    if x.dtype.kind != "c":
        return result
    limit = xp.empty_like(result)
    limit.real, limit.imag = xp.copysign(1, x.real), xp.copysign(0, x.imag)
    return xp.where(xp.isinf(x.real) & xp.isfinite(x.imag), limit, result)


def _sign(xp, x):
    """Compute NumPy's sign, but NaN for NaN with infinity, as in the array API."""
    result = xp.sign(x)
    if x.dtype.kind != "c":
        return result
    return xp.where(xp.isnan(x), x.dtype.type(complex(xp.nan, xp.nan)), result)


_DEFINED = {"expm1": _expm1, "tanh": _tanh}

for _names in (
    "sqrt",
    "cbrt",
    "exp",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "arcsin asin",
    "arccos acos",
    "arctan atan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh asinh",
    "arccosh acosh",
    "arctanh atanh",
    "degrees rad2deg",
    "radians deg2rad",
):
    numpy_unary(
        _names,
        REAL,
        define=_DEFINED.get(_names),
        complexes=_names not in ("cbrt", "degrees rad2deg", "radians deg2rad"),
        complex_grad=_arccosh_grad if _names == "arccosh acosh" else None,
    )


def _magnitude_grad(F, g, x):
    return F._npi_multiply(g, F._mx_conj(F._npi_sign(x)))


def _direction_grad(F, g, x):
    """Return the gradient component orthogonal to the element, divided by its magnitude."""
    opposite, size = F._npi_sign(x), F._npi_absolute(x)
    along = F._mx_real(F._npi_multiply(g, opposite))
    across = F._npi_subtract(g, F._npi_multiply(F._mx_conj(opposite), along))
    return F._npi_true_divide(across, size + (size == 0))


numpy_unary(
    "absolute abs fabs", MAGNITUDE, like="abs", complexes=True, complex_grad=_magnitude_grad
)
numpy_unary("negative", NUMBERS, test_dtypes=_NUMBERS, complexes=True)
numpy_unary("square", NUMBERS, test_dtypes=_NUMBERS, complexes=True)
numpy_unary(
    "reciprocal",
    NUMBERS,
    define=lambda xp, x: 1 / x if x.dtype.kind in "fc" else (x == 1) * 1 - (x == -1) * 1,
    test_dtypes=_NUMBERS,
    complexes=True,
)
numpy_unary(
    "sign",
    NUMBERS,
    kernel="signum",
    define=_sign,
    domain=(-2, 2),
    doc="Sign: -1, 0 or 1, NaN for NaN; x / abs(x) for complex x.",
    test_dtypes=_NUMBERS,
    complexes=True,
    complex_grad=_direction_grad,
)
for _names, _own, _rule in (
    ("floor", "floor", WHOLE),
    ("ceil", "ceil", WHOLE),
    ("trunc", "trunc", WHOLE),
    ("fix", "trunc", FIX),
):
    numpy_unary(
        _names, _rule, define=lambda xp, x, _own=_own: _whole(xp, x, _own), test_dtypes=_NUMBERS
    )
numpy_unary(
    "rint",
    REAL,
    kernel="around",
    domain=(-3, 3),
    doc="Round to the nearest integer, halves to even.",
    complexes=True,
)


for _name, _doc in (
    ("isnan", "True where elements are NaN."),
    ("isinf", "True where elements are infinite."),
    ("isfinite", "True where elements are finite: neither infinite nor NaN."),
    ("isposinf", "True where elements are positive infinity."),
    ("isneginf", "True where elements are negative infinity."),
    ("signbit", "True where the sign bit is set."),
):
    numpy_unary(
        _name,
        TEST,
        kernel=_name,
        doc=_doc,
        test_dtypes=_FLOATS if _name == "signbit" else _NUMBERS,
        complexes=_name in ("isnan", "isinf", "isfinite"),
    )
numpy_unary(
    "logical_not",
    TEST,
    kernel="logical_not",
    doc="Logical NOT: True where elements are zero.",
    complexes=True,
)
numpy_unary(
    "bitwise_not invert bitwise_invert",
    BITS,
    kernel="bit_not",
    doc="Bitwise NOT; logical NOT for booleans.",
    define=lambda xp, x: xp.invert(x),
    test_dtypes=(*_INTEGERS, "uint64", "bool"),
    boolean_kernel="logical_not",
)

numpy_unary(
    "relu", KEEP, define=lambda xp, x: xp.maximum(x, 0), operator="_npx_relu", test_dtypes=_NUMBERS
)
numpy_unary(
    "sigmoid",
    REAL,
    define=lambda xp, x: 1 / (1 + xp.exp(-x)),
    operator="_npx_sigmoid",
    test_dtypes=_FLOATS,
)

register(
    "_npi_copy",
    inputs="x",
    infer=lambda a, x: Spec(x.shape, x.dtype),
    grad=lambda a, F, g: g,
    identity=True,
    ref=lambda a, xp, x: x,
    samples=(sample((3, 4)), sample(()), sample((2, 0), grad=False)),
    dtypes=_NUMBERS,
    complexes=True,
    doc="Return a copy: +x.",
    numpy="positive(x, out=None, **kwargs)",
)
