"""Elementwise functions of two arrays, or of an array and a number."""

import numpy as np

from mxcy.onnx.mx2onnx.converters.elementwise import computed
from mxcy.onnx.mx2onnx.registry import convert
from mxcy.ops.core.record import REGISTRY

__all__ = []


def _enter(rule, *names):
    """Register a rule for those of the names that exist."""
    convert(*(name for name in names if name in REGISTRY and REGISTRY[name].onnx is None))(rule)


def _number(a, G, x):
    """An operator's array and scalar, in their common dtype."""
    if x.dtype == bool or not (G.is_float(x) or a.is_int):
        target = np.int64 if a.is_int else G.out.dtype if G.out.dtype.kind == "f" else np.float64
        x = G.cast(x, target)
    return x, G.like(x, a.scalar)


def _forms(combine, word=None, camel=None, numpy=None, test=False):
    """Register a binary function for all operators that apply it.

    Parameters
    ----------
    combine : callable
        ``combine(G, x, y)`` for operands of the same dtype.
    word : str, optional
        Classic name stem: ``broadcast_<word>``, ``_<word>_scalar``; None if only `mx.np` has it.
    camel : str, optional
        Classic stem of the scalar forms, if different.
    numpy : str, optional
        Stem in `mx.np`, if different; ``""`` for classic operators only.
    test : bool
        Whether the result is boolean, so that the operands' dtype is independent of it.
    """
    number, stem = camel or word, word if numpy is None else numpy

    def arrays(a, G, x, y):
        return combine(G, *(G.meet(x, y) if test else computed(G, x, y)))

    def prepared(a, G, x):
        if test or G.node.op.name.startswith("_npi_") is False:
            return _number(a, G, x)
        (x,) = computed(G, x)
        return x, G.like(x, a.scalar)

    def array_and_number(a, G, x):
        return combine(G, *prepared(a, G, x))

    def number_and_array(a, G, x):
        x, scalar = prepared(a, G, x)
        return combine(G, scalar, x)

    _enter(
        arrays, f"broadcast_{word}", f"elemwise_{word}", f"_{word}", f"_{number}", f"_npi_{stem}"
    )
    _enter(array_and_number, f"_{number}_scalar", f"_npi_{stem}_scalar")
    _enter(number_and_array, f"_r{number}_scalar", f"_npi_r{stem}_scalar")


def _node(op_type):
    return lambda G, x, y: G.op(op_type, x, y)


def _sum(G, x, y):
    return G.op("Or", x, y) if x.dtype == bool else G.op("Add", x, y)


def _product(G, x, y):
    return G.op("And", x, y) if x.dtype == bool else G.op("Mul", x, y)


def _floor_mod(G, x, y):
    """Remainder with the divisor's sign; modulo 0 it is 0 for the classic operators."""
    if not G.is_float(x):  # integers modulo 0 are 0, where runtimes abort
        zero = G.like(y, 0)
        by_zero = G.Equal(y, zero)
        left = G.op("Mod", x, G.Where(by_zero, G.like(y, 1), y))
        return G.Where(by_zero, zero, left)
    left = G.op("Mod", x, y, fmod=1)
    differs = G.And(G.Not(G.Equal(left, G.like(x, 0))), G.Less(G.Mul(left, y), G.like(x, 0)))
    return G.Where(differs, G.Add(left, y), left)


def _classic_mod(G, x, y):
    """MXNet's remainder, which is 0 modulo 0."""
    zero = G.like(x, 0)
    by_zero = G.Equal(y, zero)
    safe = G.Where(by_zero, G.like(x, 1), y)
    return G.Where(by_zero, zero, _floor_mod(G, x, safe))


def _fmod(G, x, y):
    return G.op("Mod", x, y, fmod=1)


def _extreme(op_type):
    def combine(G, x, y):
        if x.dtype == bool:
            return G.op("Or" if op_type == "Max" else "And", x, y)
        return G.op(op_type, x, y)

    return combine


def _ignoring_nan(op_type):
    def combine(G, x, y):
        result = _extreme(op_type)(G, x, y)
        if not G.is_float(x):
            return result
        return G.Where(G.IsNaN(x), y, G.Where(G.IsNaN(y), x, result))

    return combine


def _power(G, x, y):
    return G.op("Pow", x, y)


def _whole_power(G, x, y):
    if G.is_float(x) or x.dtype.kind == "u" or (y.array is not None and y.array.min() >= 0):
        return G.op("Pow", x, y)
    # Negative powers of integers are 0, except for 1 and -1.
    zero, one = G.like(x, 0), G.like(x, 1)
    is_fraction = G.And(G.Less(y, zero), G.Not(G.Equal(G.Abs(x), one)))
    return G.Where(is_fraction, zero, G.op("Pow", x, G.Abs(y)))


def _hypot(G, x, y):
    return G.Sqrt(x * x + y * y)


def _not_equal(G, x, y):
    return G.Not(G.Equal(x, y))


def _logical(op_type):
    return lambda G, x, y: G.op(op_type, G.to_bool(x), G.to_bool(y))


def _bits(logical, bitwise):
    def combine(G, x, y):
        if x.dtype == bool:
            return G.op(logical, x, y)
        if G.opset < 18:
            G.unsupported(f"{bitwise} needs opset 18")
        return G.op(bitwise, x, y)

    return combine


def _floor_divide(G, x, y):
    if G.is_float(x):
        return G.Floor(G.Div(x, y))
    quotient = G.Div(x, y)  # truncates towards zero in ONNX
    if x.dtype.kind == "u":
        return quotient
    zero = G.like(x, 0)
    remainder = G.Sub(x, G.Mul(quotient, y))
    wrong = G.And(
        G.Not(G.Equal(remainder, zero)), G.Less(G.Mul(G.Sign(remainder), G.Sign(y)), zero)
    )
    return G.Sub(quotient, G.cast(wrong, x.dtype))


def _logaddexp(G, x, y):
    return G.Max(x, y) + G.Softplus(G.Neg(G.Abs(G.Sub(x, y))))


def _copysign(G, x, y):
    return G.Where(G.Less(y, G.like(y, 0)), G.Neg(G.Abs(x)), G.Abs(x))


def _ldexp(G, x, y):
    if not G.is_float(x):
        G.unsupported("powers of two of integers, which may be fractions")
    return G.Mul(x, G.Pow(G.like(x, 2), y))


_forms(_sum, "add", "plus")
_forms(_node("Sub"), "sub", "minus", "subtract")
_forms(_product, "mul", "mul", "multiply")
_forms(_node("Div"), "div", "div", "true_divide")
_forms(_classic_mod, "mod", numpy="")
_forms(_floor_mod, numpy="mod")
_forms(_fmod, numpy="fmod")
_forms(_floor_divide, numpy="floor_divide")
_forms(_power, "power", numpy="")
_forms(_whole_power, numpy="power")
_forms(_extreme("Max"), "maximum")
_forms(_extreme("Min"), "minimum")
_forms(_ignoring_nan("Max"), numpy="fmax")
_forms(_ignoring_nan("Min"), numpy="fmin")
_forms(_hypot, "hypot")
_forms(_logaddexp, numpy="logaddexp")
_forms(_copysign, numpy="copysign")
_forms(_ldexp, numpy="ldexp")
_forms(_node("Equal"), "equal", test=True)
_forms(_not_equal, "not_equal", test=True)
_forms(_node("Greater"), "greater", test=True)
_forms(_node("GreaterOrEqual"), "greater_equal", test=True)
_forms(_node("Less"), "lesser", numpy="less", test=True)
_forms(_node("LessOrEqual"), "lesser_equal", numpy="less_equal", test=True)
_forms(_logical("And"), "logical_and", test=True)
_forms(_logical("Or"), "logical_or", test=True)
_forms(_logical("Xor"), "logical_xor", test=True)
_forms(_bits("And", "BitwiseAnd"), numpy="bitwise_and")
_forms(_bits("Or", "BitwiseOr"), numpy="bitwise_or")
_forms(_bits("Xor", "BitwiseXor"), numpy="bitwise_xor")


@convert("_scatter_plus_scalar", "_scatter_minus_scalar")
def scatter_number(a, G, x):
    """For dense arrays the same as without `_scatter`."""
    x, number = _number(a, G, x)
    return G.op("Add" if "plus" in G.node.op.name else "Sub", x, number)


@convert("_scatter_elemwise_div")
def scatter_divide(a, G, x, y):
    """For dense arrays the same as without `_scatter`."""
    return G.op("Div", x, y)


def _arctan2(G, y, x):
    """Arctangent of the quotient, in the quadrant determined by the signs."""
    zero, half = G.like(x, 0), G.like(x, np.pi / 2)
    flat = G.Equal(x, zero)
    result = G.Atan(G.Div(y, G.Where(flat, G.like(x, 1), x)))
    half_turn = G.Where(G.Less(y, zero), G.like(x, -np.pi), G.like(x, np.pi))
    result = G.Where(G.Less(x, zero), G.Add(result, half_turn), result)
    return G.Where(flat, G.Mul(G.Sign(y), half), result)


_forms(_arctan2, numpy="arctan2")


@convert("_contrib_allclose")
def all_close(a, G, x, y):
    """Test whether all differences are within the tolerance."""
    limit = G.Abs(y) * a.rtol + a.atol
    near = G.Or(G.Equal(x, y), G.Not(G.Greater(G.Abs(G.Sub(x, y)), limit)))
    both = G.And(G.IsNaN(x), G.IsNaN(y))
    neither = G.Not(G.Or(G.IsNaN(x), G.IsNaN(y)))
    near = G.And(near, neither)
    near = G.Or(near, both) if a.equal_nan else near
    result = G.reduce("Min", G.cast(near, np.int32))
    return G.reshape(result, G.out.shape)
